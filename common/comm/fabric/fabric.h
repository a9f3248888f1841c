/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric.h - which transports a process uses, and in which order.
 *
 * pvfs://host:port names a server on the best transport that both ends have: local (same host),
 * then verbs, then tcp.  A process opens the available transports that its `fabric` option
 * allows:
 *
 *	auto		local, verbs, tcp, whichever are available
 *	verbs:tcp	these, in this order
 *	strict:verbs	only this one; otherwise an error that names the fix
 *
 * An address with another scheme names its one transport.
 */
#ifndef FABRIC_H
#define FABRIC_H

#include <stdbool.h>

#include "common/util/addr.h"
#include "common/buffer/rail.h"
#include "common/util/resolver.h"

#define FABRIC_ANY "pvfs"
#define FABRIC_TEXT_MAX 64u /* bytes of an option, with its NUL */
#define FABRIC_LINE 320u /* bytes for fabric_text() */

struct fabric {
	struct rails rails; /* best first */
	char option[FABRIC_TEXT_MAX];
	char missing[256]; /* "verbs: no device on this host; ", or "" */
};

/* Whether option is valid.  NULL and "" are "auto". */
bool fabric_option_ok(const char *option);
/*
 * Opens the devices for addresses with this scheme.  attr: as for tp_dev_open().  Returns -EINVAL
 * if option is invalid or forbids the scheme.  Returns -EPROTONOSUPPORT, -ENODEV or the error of
 * the last device if no allowed transport is available.  Logs the error with the fix.
 */
int fabric_open(struct fabric *fabric, const char *scheme, const char *option,
		const struct tp_dev_attr *attr);
/* The caller closes all that was made on the devices first.  A zeroed fabric is allowed. */
void fabric_close(struct fabric *fabric);
/* "local, tcp; verbs: no device on this host"; returns buf. */
const char *fabric_text(const struct fabric *fabric, char *buf, size_t len);

/* The only transport that option allows, as a scheme; NULL: several. */
const char *fabric_only(const char *option);
/* Whether server addresses may have this scheme. */
bool fabric_scheme_ok(const char *scheme);
/* Whether addr leaves the choice of the transport open. */
bool fabric_any(const struct addr *addr);
/* The rail with that name, or -1. */
int fabric_rail(const struct rails *rails, const char *scheme);
/* The address on one rail: another scheme, the same host and port. */
void fabric_addr(const struct addr *addr, const struct rails *rails,
		 unsigned int rail, struct addr *out);
/* Whether the transport reaches only peers on the same host. */
bool fabric_is_local(const char *name);
/* fabric_here.c: whether one of the addresses belongs to this host. */
bool fabric_here(const struct host_addrs *hosts);

#endif
