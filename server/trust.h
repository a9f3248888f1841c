/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trust.h - who may be the manager.  Any program can say in its connect that
 * it is; what counts is the address of its end, as the transport sees it.
 */
#ifndef TRUST_H
#define TRUST_H

#include <stdbool.h>

#include "common/util/log.h"

struct trust;

/*
 * hosts: names or numeric addresses, separated by commas or blanks, that the
 * manager connects from; empty: it has none.  Names are resolved once, here.
 * -EINVAL: one stands for any host, or there are more than 64 addresses;
 * -EHOSTUNREACH, -ENOMEM; the log has the cause and the fix.
 */
int trust_open(const char *hosts, const struct log *log, struct trust **trust);
void trust_close(struct trust *trust);

/*
 * peer: as tp_ep_peer() tells it, "tcp 10.0.0.1:700", "tcp [fe80::1]:700", or,
 * on the same host, "local pid 5 uid 0 ...": then the user must be root or
 * ours.  Loopback addresses count as one, and as any address of this host.
 */
bool trust_mgr(const struct trust *trust, const char *peer);

#endif
