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

#include "client/lib/session/copyset_call.h"

/* The requesting user, if it is not the one of the session: see WIRE_F_AS. */
struct cred {
	uint32_t uid, gid;
	uint32_t ngroups; /* at most WIRE_GROUPS_MAX, or they name a list */
	uint32_t groups[WIRE_GROUPS_MAX];
	/* not 0: the groups are unknown, and requests of the user fail with rc */
	int rc;
};

/* Bytes of the longest message: header, largest body, two paths, and the requesting user. */
#define SERVER_CALL_MSG_MAX                                                    \
	(sizeof(struct wire_hdr) + 64 + 2 * (WIRE_PATH_MAX + 1) +              \
	 WIRE_NAME_MAX + 1 + sizeof(struct wire_as) +                          \
	 WIRE_GROUPS_MAX * sizeof(le32))

/*
 * Reads the result from a reply with status 0, which is valid only during this function.
 * Returns 0 or -errno, which becomes the result of the request.
 */
typedef int (*server_call_take)(void *arg, const struct wire_msg *reply);

struct server_call {
	struct drive_op op;
	struct copyset_call call;
	struct session *s;
	struct rpc_peer *peer;
	/* the request is for the objects of server k of this layout, and peer is the iod that
	 * served them at the begin, or the manager if the client knows none; NULL: for peer */
	const struct dist *dist;
	uint32_t k;
	bool once; /* the request is a change: see server_call_run() */
	bool keep; /* for server_call_post(): resend until it is answered */
	bool late; /* for server_call_post(): the server may get it later */
	bool caps; /* a struct wire_caps ends the message */
	bool patient; /* the answer may take long: see rpc_call.h */
	/* NULL, or called on the driving thread before the request is sent: requests that are
	 * posted later are sent after it.  If it returns false, the request fails with -EINTR. */
	bool (*begins)(void *arg);
	/* the request failed, and the cause may be another server that this one needed */
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
/*
 * The same for a request to the iod that serves the objects of server k of the layout, which
 * outlives the request.
 */
void server_call_begin_object(struct server_call *c, struct session *s,
			      const struct dist *dist, uint32_t k);
/* Appends to the message.  server_call_run() reports an overflow as -ENAMETOOLONG. */
void server_call_put(struct server_call *c, const void *item, size_t len);
/*
 * Sends the request and waits for the reply.  Returns 0, WIRE_REDIRECT (the target path is in
 * c->redirect), or -errno.  take may be NULL.
 *
 * If the session ends while a change (c->once) is in flight, it is unknown whether the change
 * was made, and the call fails with -ECONNABORTED.  -ESTALE means that nothing was changed.
 * After a client has been suspended, its session has often ended.  So if no server has answered
 * for SERVER_CALL_QUIET_MS, the call first sends a PING, which cannot leave this doubt.
 */
#define SERVER_CALL_QUIET_MS 5000u
int server_call_run(struct server_call *c, enum wire_op wire_op,
		    server_call_take take, void *arg);

/*
 * Sends the list of groups number to the manager (gid_lists.h); 0: the session's own groups.
 * Returns 0 or -errno; -EAGAIN: the table no longer has the list.
 */
int server_call_send_groups(struct session *s, uint64_t number);

/*
 * Sends a copy of c's message without waiting for the reply.  Logs errors as "what: ...".  With
 * c->keep, the message is repeated until it is answered or the session ends; a repeated one may
 * be answered with -EBADF, which is no error.  If many messages are in flight, or there is no
 * memory, the function waits for the reply instead and does not repeat the message.
 */
void server_call_post(struct server_call *c, enum wire_op wire_op,
		      const char *what);
/*
 * A posted message with c->late is delayed and sent with the next request to any server, so that
 * the server wakes up once for both.  It is also sent when sixteen messages are delayed, by
 * late_calls_send(), and when the keeper sees that no thread drives.  late_calls_wait() does
 * not block.  It returns true if submitted operations are not started yet, delayed messages among
 * them.
 */
bool late_calls_wait(struct session *s);
void late_calls_send(struct session *s);

#endif
