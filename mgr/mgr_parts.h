/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_parts.h - the parts of a manager.
 *
 *	base      the network without a server, the keys, the database
 *	service   all that requests of clients need, and the server
 */
#ifndef MGR_PARTS_H
#define MGR_PARTS_H

#include "mgr/state/mgr_state.h"

/* Both return -errno, logged.  Call parts_close() also after an error. */
int parts_open_base(struct mgr *mgr);
/* As after a restart of the manager. */
int parts_open_service(struct mgr *mgr);
/* Closes what is open, and frees mgr. */
void parts_close(struct mgr *mgr);

#endif
