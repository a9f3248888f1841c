/* SPDX-License-Identifier: BSD-2-Clause */
/* manager_call.h - a MANAGERS request from one manager to another (wire.h). */
#ifndef MANAGER_CALL_H
#define MANAGER_CALL_H

#include "mgr/peers/peers.h"

/* The answer: the state of the other manager's group, as that manager knows it. */
struct managers_view {
	uint64_t group; /* 0: that manager is in no group */
	uint64_t leader; /* id of a member; 0: unknown */
	enum wire_managers_role role;
	unsigned int n;
	struct managers_view_member {
		uint64_t id;
		unsigned int flags; /* WIRE_MM_* */
		char uri[WIRE_LEADER_URI_MAX + 1];
	} member[WIRE_MEMBERS_MAX];
};

/* Memory of the caller.  All zeros before the first call. */
struct manager_call {
	bool busy;
	/* private */
	struct rpc_peer *rpc;
	struct rpc_call call;
	void (*done)(void *arg, int rc, const struct managers_view *view);
	void *arg;
	uint64_t msg[(sizeof(struct wire_hdr) + sizeof(struct wire_managers) +
		      WIRE_LEADER_URI_MAX + 8) /
		     8];
};

struct manager_call_attr {
	const struct peers_attr *peers; /* see peers_connect() */
	const struct addr *to;
	enum wire_managers_cmd cmd;
	uint64_t id;
	const char *uri; /* JOIN: of this manager; NULL: none */
	unsigned int timeout_ms;
	/* rc: 0, and view is valid during done(); or the -errno of the connection or the answer */
	void (*done)(void *arg, int rc, const struct managers_view *view);
	void *arg;
};

/* Sends the request.  The call must not be busy.  -ENOMEM. */
int manager_call_start(struct manager_call *call,
		       const struct manager_call_attr *attr);
/* Calls done() of a busy call with -ECANCELED.  Must not be called from done(). */
void manager_call_close(struct manager_call *call);

/* NULL: the group has no such member. */
const struct managers_view_member *
managers_view_find(const struct managers_view *view, uint64_t id);

#endif
