/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ask.h - one request to one server, and waiting for its reply.
 *
 *	struct ask c;
 *
 *	ask_begin(&c, session, session->mgr);
 *	ask_put(&c, &body, sizeof(body));
 *	rc = ask_run(&c, WIRE_GETATTR, take, &attr);
 */
#ifndef ASK_H
#define ASK_H

#include "client/lib/session/session.h"

/* Who asks, if that is not whom the session serves: see WIRE_F_AS. */
struct cred {
	uint32_t uid, gid;
	uint32_t ngroups; /* at most WIRE_GROUPS_MAX, or they name a list */
	uint32_t groups[WIRE_GROUPS_MAX];
	int rc; /* not 0: nobody knows his groups, and his requests fail with it */
};

/* Header, the largest body, two paths (or one, a name and a value), who asks. */
#define ASK_MSG_MAX                                                            \
	(sizeof(struct wire_hdr) + 64 + 2 * (WIRE_PATH_MAX + 1) +              \
	 WIRE_NAME_MAX + 1 + sizeof(struct wire_as) +                          \
	 WIRE_GROUPS_MAX * sizeof(le32))

/* Takes what the caller wants out of a reply with status 0, which does not
 * live longer than this.  0, or -errno that the call fails with. */
typedef int (*ask_take)(void *arg, const struct wire_msg *reply);

struct ask {
	struct op op;
	struct rpc_call rpc;
	struct session *s;
	struct rpc_peer *peer;
	bool once; /* a change: see ask_run() */
	bool keep; /* of ask_post(): sent again until it is answered */
	bool late; /* of ask_post(): nobody need hear of it at once */
	bool caps; /* a struct wire_caps ends the message */
	bool patient; /* it is answered late: see rpc_call.h */
	bool (*begins)(void *arg); /* what is posted from here on comes behind
				    * it; false: it does not, -EINTR; on the
				    * driving thread; or NULL */
	bool look; /* it failed for a server that this one needed, perhaps */
	const struct cred *as; /* NULL: as the session */
	char *redirect; /* PATH_MAX bytes, or NULL: a reply with
					 * WIRE_REDIRECT is a protocol error */
	unsigned int *which; /* of two paths, or NULL */
	struct rail_mem *mem; /* that the message names, or NULL */
	unsigned int mem_at; /* where: byte of the message */
	ask_take take;
	void *arg;
	struct wire_out out;
	uint8_t buf[ASK_MSG_MAX] __attribute__((aligned(8)));
};

void ask_begin(struct ask *c, struct session *s, struct rpc_peer *peer);
/* An overflow comes out of ask_run() as -ENAMETOOLONG. */
void ask_put(struct ask *c, const void *item, size_t len);
/*
 * 0, WIRE_REDIRECT (c->redirect is where to), or -errno.  take may be NULL.
 *
 * A change (c->once) that was sent and not answered before its session ended
 * may have been made: it fails with -ECONNABORTED, and -ESTALE means that
 * nothing was done.  So that this does not meet every client that slept, a
 * session that was quiet for ASK_QUIET_MS is tried with a PING first.
 */
#define ASK_QUIET_MS 5000u
int ask_run(struct ask *c, enum wire_op wire_op, ask_take take, void *arg);

/*
 * Sends a copy of c's message and does not wait: errors are logged as
 * "what: ...".  One with c->keep that is not answered in time is sent again until
 * the session ends, and -EBADF is no error then.  Waits after all, and only once, when many
 * are under way, or without memory.
 */
void ask_post(struct ask *c, enum wire_op wire_op, const char *what);
/*
 * One with c->late goes in front of the next request to whatever server, so that two do
 * not wake it where one does; or with the sixteenth such, or ask_late_send(); or when
 * the keeper has seen nobody drive.
 */
bool ask_late_waits(struct session *s);
void ask_late_send(struct session *s);

#endif
