/* SPDX-License-Identifier: BSD-2-Clause */
/* exports.c - see exports.h. */
#include "mgr/exports/exports.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/wire/wire.h"

#define NOBODY 65534u
#define CHANGES (WIRE_O_WRITE | WIRE_O_CREAT | WIRE_O_TRUNC)

void exports_default(struct exports *exports)
{
	*exports = (struct exports){ .uid = NOBODY, .gid = NOBODY };
}

static int conf_squash(const struct conf_section *in, enum squash *squash)
{
	static const char *const names[] = { "none", "root", "all" };
	const char *text = conf_get(in, "squash");

	if (!text)
		return 0;
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i])) {
			*squash = (enum squash)i;
			return 0;
		}
	}
	return conf_complain(in, "squash", "write none, root or all");
}

/* Squashing to root would defeat the purpose, so 0 is not allowed. */
int exports_conf(const struct conf_section *in, struct exports *exports)
{
	int rc = conf_squash(in, &exports->squash);

	if (!rc)
		rc = conf_uint(in, "squash_uid", 1, UINT32_MAX - 1,
			       &exports->uid);
	if (!rc)
		rc = conf_uint(in, "squash_gid", 1, UINT32_MAX - 1,
			       &exports->gid);
	if (!rc)
		rc = networks_conf(in, "read_only", &exports->read_only);
	return rc ? rc : networks_conf(in, "speakers", &exports->speakers);
}

struct client_place exports_place(const struct exports *exports,
				  const char *peer)
{
	bool here = peer_is_here(peer);

	return (struct client_place){
		.here = here,
		.reads_only = !here && networks_have(&exports->read_only, peer),
		.speaks = here || !exports->speakers.n ||
			  networks_have(&exports->speakers, peer),
	};
}

static bool is_squashed(const struct exports *exports,
			const struct client_place *place,
			const struct ns_cred *cred)
{
	switch (exports->squash) {
	case SQUASH_ROOT:
		return !place->here && !cred->uid;
	case SQUASH_ALL:
		return !place->here || cred->uid;
	default:
		return false;
	}
}

void exports_squash(const struct exports *exports,
		    const struct client_place *place, struct ns_cred *cred)
{
	if (is_squashed(exports, place, cred)) {
		*cred = (struct ns_cred){ .uid = exports->uid,
					  .gid = exports->gid };
	} else if (exports->squash == SQUASH_ROOT && !place->here) {
		/* root there may become any user, also one with root's group */
		cred->gid = cred->gid ?: exports->gid;
		cred->root_gid = exports->gid;
	}
}

/* Requests that never change the visible state of the file system. */
static bool only_looks(unsigned int op)
{
	switch (op) {
	case WIRE_PING:
	case WIRE_STATFS:
	case WIRE_MOUNT:
	case WIRE_COPYSETS:
	case WIRE_GETATTR:
	case WIRE_RELEASE:
	case WIRE_READLINK:
	case WIRE_READDIR:
	case WIRE_READDIRPLUS:
	case WIRE_LOCK:
	case WIRE_LOCK_ANY:
	case WIRE_GETXATTR:
	case WIRE_LISTXATTR:
	case WIRE_DECLARE:
	case WIRE_ADOPT:
	case WIRE_ADOPTED:
	case WIRE_RENEW: /* checks this itself */
	case WIRE_SESSIONS:
		return true;
	default:
		return false;
	}
}

static bool may_change(unsigned int op, const struct wire_msg *msg)
{
	switch (op) {
	case WIRE_OPEN:
		return le32toh(((const struct wire_open *)msg->body)->flags) &
		       CHANGES;
	case WIRE_ACCESS:
		return le32toh(((const struct wire_access *)msg->body)->mask) &
		       W_OK;
	case WIRE_GRANT:
		return le32toh(((const struct wire_grant *)msg->body)->flags) &
		       WIRE_O_WRITE;
	case WIRE_REDEEM:
		return le32toh(((const struct wire_redeem *)msg->body)->flags) &
		       WIRE_O_WRITE;
	default:
		return !only_looks(op);
	}
}

int exports_check(const struct client_place *place, unsigned int op,
		  const struct wire_msg *msg)
{
	return place->reads_only && may_change(op, msg) ? -EROFS : 0;
}
