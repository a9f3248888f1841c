/* SPDX-License-Identifier: BSD-2-Clause */
/* shows.h - tells clients where sizes are shown (shown.h), over devices that serve that. */
#ifndef SHOWS_H
#define SHOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "server/state/worker.h"

/* A device serves that: else no table is kept. */
bool shows_wanted(const struct iod *iod);
/* Registers the table, if there is one; with a device where that fails, nothing is shown over it. */
void shows_open(struct iod *iod);
/* Before the devices are closed; nobody is connected. */
void shows_close(struct iod *iod);
/* For the client of req.  False: it is to ask. */
bool shows_place(struct iod *iod, const struct rpc_req *req, uint64_t handle,
		 struct wire_end_place *place);

#endif
