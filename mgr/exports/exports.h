/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exports.h - what a client may do, depending on its network address, similar to
 * /etc/exports of NFS.  A program on the manager's own host, over local, has no address
 * to check: the kernel identifies its user.
 */
#ifndef EXPORTS_H
#define EXPORTS_H

#include "common/util/networks.h"
#include "mgr/ns/ns.h"

struct wire_msg;

enum squash { SQUASH_NONE, SQUASH_ROOT, SQUASH_ALL };

struct exports {
	enum squash squash;
	uint32_t uid, gid; /* the user that squashed users become */
	struct networks read_only; /* clients here may not change anything */
	struct networks
		speakers; /* root here may act for users; none: everywhere */
};

/* The rights of a client by its address; valid as long as its connection. */
struct client_place {
	bool here; /* over local */
	bool reads_only;
	bool speaks; /* its root may say which user a request is for */
};

void exports_default(struct exports *exports);
/* Reads them from section [mgr].  Errors as for the other conf_*(). */
int exports_conf(const struct conf_section *in, struct exports *exports);

/* peer: as returned by tp_req_peer(). */
struct client_place exports_place(const struct exports *exports,
				  const char *peer);
/*
 * Applies the setting squash to cred, the user of a client at *place: a user who is squashed
 * becomes squash_uid and squash_gid.  With squash = root, other users of other hosts lose group 0.
 */
void exports_squash(const struct exports *exports,
		    const struct client_place *place, struct ns_cred *cred);
/* -EROFS: the checked request would change something, or asks whether it could. */
int exports_check(const struct client_place *place, unsigned int op,
		  const struct wire_msg *msg);

#endif
