/* SPDX-License-Identifier: BSD-2-Clause */
/* local_req.c - reads the hello of a connector. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/transport/local/meet/local_conn.h"

static struct local_giver giver(const struct local_req *req)
{
	return local_giver(req->sock.req.dev, req->id.uid);
}

void local_req_free(struct sock_req *base)
{
	struct local_req *req = local_req(base);
	const struct local_giver from = giver(req);

	if (base->fd >= 0)
		local_sock_close(&from, base->fd);
	local_fds_close(&from, &req->fds);
	free(req->groups);
	free(req);
}

void local_say_reject(int fd, const void *priv, unsigned int len)
{
	local_hello_send(fd, LOCAL_REJECT, priv, len, NULL);
}

static bool is_connect(const struct local_hello *hello)
{
	uint32_t group = hello->has & LOCAL_GROUP_FDS;

	return hello->type == LOCAL_CONNECT &&
	       !(hello->has & LOCAL_ACCEPT_FDS) &&
	       (!group || group == LOCAL_GROUP_FDS);
}

int local_req_read(struct sock_req *base, const char **why)
{
	struct local_fds *fds = &local_req(base)->fds;
	const struct local_giver from = giver(local_req(base));
	struct local_hello hello;
	int rc;

	if (local_drops_full(&from)) {
		*why = "too many descriptors that its user gave do not close; "
		       "end this user's processes whose sockets linger, or "
		       "that serve FUSE and hang";
		return -EBUSY;
	}
	*why = "it closed before its hello";
	rc = local_hello_recv(&from, base->fd, &hello, fds, why);
	if (rc == -EAGAIN)
		return 0;
	if (rc == 0 && !is_connect(&hello)) {
		*why = "it does not begin with a connect";
		rc = -EPROTO;
	}
	if (rc == -EPROTO) /* the REJECT tells the peer our version */
		local_say_reject(base->fd, NULL, 0);
	if (rc)
		return rc;
	tp_private_set(&base->priv, hello.priv, hello.priv_len);
	*why = NULL; /* the connector may have left already */
	rc = sock_req_look(base);
	return rc ? rc : 1;
}

struct sock_req *local_req_new(const struct sock_listener *l, int fd,
			       const struct sockaddr *sa)
{
	struct tp_identity id = { 0 };
	int rc = local_sock_peer(fd, &id);
	const struct local_giver from = local_giver(l->listener.dev, id.uid);
	struct local_req *req = rc ? NULL : calloc(1, sizeof(*req));

	if (!req || local_sock_groups(fd, &req->groups, &id.ngroups)) {
		free(req);
		local_sock_close(&from, fd);
		return NULL;
	}
	id.groups = req->groups;
	req->id = id;
	req->sock.req.dev = l->listener.dev;
	req->fds = LOCAL_NO_FDS;
	snprintf(req->sock.peer, sizeof(req->sock.peer),
		 "local pid %d uid %u at %s:%u", req->id.pid, req->id.uid,
		 l->addr.host, l->addr.port);
	return &req->sock;
}

int local_req_identity(const struct tp_conn_req *base, struct tp_identity *id)
{
	*id = local_req(container_of(base, struct sock_req, req))->id;
	return 0;
}
