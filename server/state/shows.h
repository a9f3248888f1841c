/* SPDX-License-Identifier: BSD-2-Clause */
/* shows.h - tells clients where sizes are shown (shown.h), over devices that support it. */
#ifndef SHOWS_H
#define SHOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "server/state/worker.h"

/* A device supports it; otherwise no table is made. */
bool shows_wanted(const struct iod *iod);
/* Registers the table, if there is one.  Devices where that fails are logged and show nothing. */
void shows_open(struct iod *iod);
/* Call it before the devices are closed, when no client is connected. */
void shows_close(struct iod *iod);
/* The place of the object for the client of req.  False: the client has to send requests. */
bool shows_place(struct iod *iod, const struct rpc_req *req, uint64_t handle,
		 struct wire_end_place *place);

#endif
