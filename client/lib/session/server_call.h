/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server_call.h - one request to one server, and waiting for its reply.
 *
 * 	struct server_call c;
 *
 * 	server_call_begin(&c, session, session->mgr);
 * 	server_call_put(&c, &body, sizeof(body));
 * 	rc = server_call_run(&c, WIRE_GETATTR, take, &attr);
 */
#ifndef SERVER_CALL_H
#define SERVER_CALL_H

#include "client/lib/session/client_session.h"

/* The requesting user, if it is not the one of the session: see WIRE_F_AS. */
struct cred {
	uint32_t uid, gid;
	uint32_t ngroups; /* at most WIRE_GROUPS_MAX, or they name a list */
	uint32_t groups[WIRE_GROUPS_MAX];
	/* not 0: the groups are unknown, and requests of the user fail with rc */
	int rc;
};

/*
 * The header, the largest body, two paths (or a path, a name and a value), and the
 * requesting user.
 */
#define SERVER_CALL_MSG_MAX                                                    \
	(sizeof(struct wire_hdr) + 64 + 2 * (WIRE_PATH_MAX + 1) +              \
	 WIRE_NAME_MAX + 1 + sizeof(struct wire_as) +                          \
	 WIRE_GROUPS_MAX * sizeof(le32))

/*
 * Reads the result from a reply with status 0.  The reply is valid only during this call.
 * Returns 0, or -errno with which the request fails.
 */
typedef int (*server_call_take)(void *arg, const struct wire_msg *reply);

struct server_call {
	struct drive_op op;
	struct rpc_call rpc;
	struct session *s;
	struct rpc_peer *peer;
	bool once; /* the request is a change: see server_call_run() */
	bool keep; /* for server_call_post(): resend until it is answered */
	bool late; /* for server_call_post(): the server may get it later */
	bool caps; /* a struct wire_caps ends the message */
	bool patient; /* the answer may take long: see rpc_call.h */
	/* Called on the driving thread when the request begins: requests posted from here on
	 * follow it.  False: fail with -EINTR.  May be NULL. */
	bool (*begins)(void *arg);
	/* it failed, possibly because of a server that this one needed */
	bool look;
	const struct cred *as; /* NULL: the user of the session */
	/* PATH_MAX bytes, or NULL: a reply with WIRE_REDIRECT is a protocol error */
	char *redirect;
	/* set to the path, of two, that is redirected; or NULL */
	unsigned int *which;
	struct rail_mem *mem; /* memory that the message names, or NULL */
	unsigned int mem_at; /* byte of the message that names it */
	server_call_take take;
	void *arg;
	struct wire_out out;
	uint8_t buf[SERVER_CALL_MSG_MAX] __attribute__((aligned(8)));
};

void server_call_begin(struct server_call *c, struct session *s,
		       struct rpc_peer *peer);
/* Appends to the message.  server_call_run() reports an overflow as -ENAMETOOLONG. */
void server_call_put(struct server_call *c, const void *item, size_t len);
/*
 * Sends the request and waits.  Returns 0, WIRE_REDIRECT (c->redirect is the target), or
 * -errno.  take may be NULL.
 *
 * If the session ends after a change (c->once) was sent and before it is answered, the
 * change may have been made.  The call then fails with -ECONNABORTED, while -ESTALE means
 * that nothing was done.  A client that slept would often meet this case.  So if a
 * session was quiet for SERVER_CALL_QUIET_MS, the call first sends a PING.
 */
#define SERVER_CALL_QUIET_MS 5000u
int server_call_run(struct server_call *c, enum wire_op wire_op,
		    server_call_take take, void *arg);

/*
 * Sends a list of groups to the manager (gid_lists.h); number 0: the session's own.
 * -EAGAIN: the list is no longer stored.
 */
int server_call_send_groups(struct session *s, uint64_t number);

/*
 * Sends a copy of c's message without waiting.  Errors are logged as "what: ...".  A
 * message with c->keep that is not answered in time is sent again until the session ends;
 * then -EBADF is no error.  If many messages are in flight, or without memory, the call
 * waits and sends only once.
 */
void server_call_post(struct server_call *c, enum wire_op wire_op,
		      const char *what);
/*
 * A message with c->late is sent before the next request to any server, so that the
 * server wakes up once for both.  At the latest it is sent with the next one when sixteen
 * wait, by late_calls_send(), or when the keeper sees that no thread drives.
 */
bool late_calls_wait(struct session *s);
void late_calls_send(struct session *s);

#endif
