/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exports.h - what a client may do for where it is: as /etc/exports says it of NFS.
 * A program on the manager's own host, over local, is not asked where it is: the kernel
 * tells who it is.
 */
#ifndef EXPORTS_H
#define EXPORTS_H

#include "common/util/networks.h"
#include "mgr/ns/ns.h"

struct wire_msg;

enum squash { SQUASH_NONE, SQUASH_ROOT, SQUASH_ALL };

struct exports {
	enum squash squash;
	uint32_t uid, gid; /* whom the squashed count as */
	struct networks read_only; /* these change nothing */
	struct networks
		speakers; /* root there may speak for users; none: everywhere */
};

/* What holds for a client as long as its connection lasts. */
struct place {
	bool here; /* over local */
	bool reads_only;
	bool speaks; /* its root may say for whom a request counts */
};

void exports_default(struct exports *exports);
/* Of section [mgr].  As the other conf_*(). */
int exports_conf(const struct conf_section *in, struct exports *exports);

/* peer: as of tp_req_peer(). */
struct place exports_place(const struct exports *exports, const char *peer);
/* Who cred counts as, from there. */
void exports_squash(const struct exports *exports, const struct place *place,
		    struct ns_cred *cred);
/* -EROFS: the request, checked, would change something, or asks whether it might. */
int exports_check(const struct place *place, unsigned int op,
		  const struct wire_msg *msg);

#endif
