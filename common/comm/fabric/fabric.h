/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric.h - which transports a process uses, and in which order.
 *
 * pvfs://host:port is a server on the best transport that both ends have:
 * local (same host), then verbs, then tcp.  A process opens those that it has
 * and that its `fabric` option allows:
 *
 *	auto		local, verbs, tcp, as far as they are there
 *	verbs:tcp	these, in this order
 *	strict:verbs	this one, or an error that names the fix
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
#define FABRIC_LINE 320u /* of fabric_text() */

struct fabric {
	struct rails rails; /* best first */
	char option[FABRIC_TEXT_MAX];
	char missing[256]; /* "verbs: no device on this host; ", or "" */
};

/* Whether option is one; NULL and "" are "auto". */
bool fabric_option_ok(const char *option);
/*
 * Opens the devices for addresses with this scheme.  attr as of tp_dev_open().
 * -EINVAL: option forbids the scheme, or is none; -EPROTONOSUPPORT, -ENODEV
 * or the last device's error: nothing of what is allowed is there.  Logged,
 * with the fix.
 */
int fabric_open(struct fabric *fabric, const char *scheme, const char *option,
		const struct tp_dev_attr *attr);
/* All that was made on the devices is closed; a zeroed one is left alone. */
void fabric_close(struct fabric *fabric);
/* "local, tcp; verbs: no device on this host"; returns buf. */
const char *fabric_text(const struct fabric *fabric, char *buf, size_t len);

/* The only transport that option allows, as a scheme; NULL: several. */
const char *fabric_only(const char *option);
/* Whether it is the scheme of server addresses. */
bool fabric_scheme_ok(const char *scheme);
/* Whether addr leaves the choice open. */
bool fabric_any(const struct addr *addr);
/* The rail with that name, or -1. */
int fabric_rail(const struct rails *rails, const char *scheme);
/* The address on one rail: other scheme, same host and port. */
void fabric_addr(const struct addr *addr, const struct rails *rails,
		 unsigned int rail, struct addr *out);
/* Whether the transport reaches only peers on the same host. */
bool fabric_is_local(const char *name);
/* fabric_here.c: whether one of the addresses is this host's. */
bool fabric_here(const struct hosts *hosts);

#endif
