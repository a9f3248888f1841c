/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_addresses.h - recognises a manager without keys.  Any program can say that it is the
 * manager when it connects.  So iods, and managers of a group, check the address of the peer, as
 * the transport reports it.
 */
#ifndef MGR_ADDRESSES_H
#define MGR_ADDRESSES_H

#include <stdbool.h>

#include "common/util/log.h"

struct mgr_addresses;

/*
 * hosts: names or numeric addresses that the manager connects from, separated by commas or
 * blanks; empty: none.  Names are resolved once, here.  -EINVAL: a name stands for any host, or
 * there are more than 64 addresses.  -EHOSTUNREACH: a name cannot be resolved.  -ENOMEM.
 * Errors are logged with cause and remedy.
 */
int mgr_addresses_open(const char *hosts, const struct log *log,
		       struct mgr_addresses **addresses);
void mgr_addresses_close(struct mgr_addresses *addresses);

/*
 * peer: the text of tp_ep_peer(), for example "tcp 10.0.0.1:700" or "tcp [fe80::1]:700".  On
 * the same host it is "local pid 5 uid 0 ...", and the user must be root or the server's own.  All
 * loopback addresses are equal.  If one of the manager's addresses belongs to this host,
 * loopback addresses count as the manager's.
 */
bool mgr_addresses_match(const struct mgr_addresses *addresses,
			 const char *peer);

#endif
