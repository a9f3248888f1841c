/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_parts.h - the parts of a manager.
 *
 *	base      the network, the keys, the database
 *	member    with several managers: the member of the group and the server, which opens no
 *	          sessions of clients and iods
 *	service   all that requests of clients need; the server, if it is not open
 *
 * With several managers, the service is opened once this manager leads.
 */
#ifndef MGR_PARTS_H
#define MGR_PARTS_H

#include "mgr/state/mgr_state.h"

/* All return 0, or -errno, which is logged. Call parts_close() also after an error. */
int parts_open_base(struct mgr *mgr);
/*
 * May wait for another manager. Returns -ECANCELED, which is not logged, if mgr->stop is set
 * meanwhile.
 */
int parts_open_member(struct mgr *mgr);
/* Opens the service as after a restart of the manager. */
int parts_open_service(struct mgr *mgr);
/* Closes what is open, and frees mgr. */
void parts_close(struct mgr *mgr);

#endif
