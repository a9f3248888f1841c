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
 * Opens the devices of the transports that option allows for addresses with this scheme.  attr: see
 * tp_dev_open().  Logs an error with the remedy.  Returns 0; -EINVAL: option is invalid, or forbids
 * the scheme; -EPROTONOSUPPORT: this build has none of the transports; -ENODEV: there is no device;
 * or the error of the last device.
 */
int fabric_open(struct fabric *fabric, const char *scheme, const char *option,
		const struct tp_dev_attr *attr);
/* Closes the devices.  The caller has closed all objects on them.  *fabric may be all zero. */
void fabric_close(struct fabric *fabric);
/* "local, tcp; verbs: no device on this host"; returns buf. */
const char *fabric_text(const struct fabric *fabric, char *buf, size_t len);

/* Returns the scheme of the only transport that option allows; NULL: it allows several. */
const char *fabric_only(const char *option);
/* Returns whether the address of a server may have this scheme. */
bool fabric_scheme_ok(const char *scheme);
/* Returns whether addr permits any transport ("pvfs://"). */
bool fabric_any(const struct addr *addr);
/* Returns the index of the rail whose transport is scheme, or -1. */
int fabric_rail(const struct rails *rails, const char *scheme);
/* Sets *out to addr with the scheme of that rail. */
void fabric_addr(const struct addr *addr, const struct rails *rails,
		 unsigned int rail, struct addr *out);
/* Returns whether the transport name reaches only peers on the same host. */
bool fabric_is_local(const char *name);
/* fabric_here.c: returns whether one of the addresses belongs to this host. */
bool fabric_here(const struct host_addrs *hosts);

#endif
