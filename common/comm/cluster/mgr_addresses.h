/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_addresses.h - without keys, any program that connects can claim to be the manager.  So iods,
 * and managers of a group, check the address of the peer, which the transport reports.
 */
#ifndef MGR_ADDRESSES_H
#define MGR_ADDRESSES_H

#include <stdbool.h>

#include "common/util/log.h"

struct mgr_addresses;

/*
 * Creates *addresses from hosts: names or numeric addresses from which the manager connects,
 * separated by commas or blanks; empty: none.  This function resolves the names once.  It logs
 * errors with cause and remedy.  Returns 0; -EINVAL: an address stands for any host, or there are
 * more than 64; -EHOSTUNREACH: a name cannot be resolved; -ENOMEM.
 */
int mgr_addresses_open(const char *hosts, const struct log *log,
		       struct mgr_addresses **addresses);
void mgr_addresses_close(struct mgr_addresses *addresses);

/*
 * Returns whether peer is one of the manager's addresses.  peer is a text of tp_ep_peer(): "tcp
 * 10.0.0.1:700", "tcp [fe80::1]:700"; or, on the same host, "local pid 5 uid 0 ...", where the
 * user must be root or that of this process.  If one of the manager's addresses belongs to this
 * host, every loopback address matches.
 */
bool mgr_addresses_match(const struct mgr_addresses *addresses,
			 const char *peer);

#endif
