/* SPDX-License-Identifier: BSD-2-Clause */
/* local_conn.h - sockets, and connections waiting to be accepted. */
#ifndef LOCAL_CONN_H
#define LOCAL_CONN_H

#include <sys/socket.h>
#include <sys/un.h>

#include "common/transport/local/memory/local_dev.h"
#include "common/transport/sock.h"

/* The descriptors that a hello may carry, in this order. */
enum local_fd {
	LOCAL_FD_SHM, /* accept, both: the shared memory, */
	LOCAL_FD_BELL, /* and the eventfd that wakes the acceptor */
	LOCAL_FD_TABLE, /* of those whom the peer may reach into */
	LOCAL_FD_GONG, /* connect, both or none: local_group.h */
	LOCAL_FD_PAGE,
	LOCAL_FDS
};
#define LOCAL_HAS(kind) (1u << (kind))
#define LOCAL_ACCEPT_FDS (LOCAL_HAS(LOCAL_FD_SHM) | LOCAL_HAS(LOCAL_FD_BELL))
#define LOCAL_GROUP_FDS (LOCAL_HAS(LOCAL_FD_GONG) | LOCAL_HAS(LOCAL_FD_PAGE))

struct local_fds {
	int fd[LOCAL_FDS]; /* -1: none */
};
#define LOCAL_NO_FDS ((struct local_fds){ { -1, -1, -1, -1, -1 } })

enum local_hello_type {
	LOCAL_CONNECT = 1, /* carries the connector's table, or nothing */
	LOCAL_ACCEPT, /* carries shared memory and bell, a table or nothing */
	LOCAL_REJECT,
};

/* What is said on the socket before the bells: whole and at once. */
struct local_hello {
	uint32_t magic;
	uint16_t version;
	uint16_t type;
	uint32_t priv_len;
	uint32_t has; /* LOCAL_HAS() of the descriptors that come along */
	uint8_t priv[TP_PRIVATE_MAX];
};

/* ---- sockets (local_sock.c) ---- */

/*
 * The abstract names under which host:port may listen, best first; the port
 * is that of addr.  How many, or -EHOSTUNREACH.
 */
#define LOCAL_NAMES 8
struct local_name {
	struct sockaddr_un sun;
	socklen_t len;
};
int local_names(const struct addr *addr, bool listen, struct local_name *name);
/* The port follows a name without one. */
void local_name_port(struct local_name *name, uint16_t port);

/* 0, -EAGAIN, or why it was not said.  fds stay the caller's; NULL: none. */
int local_hello_send(int fd, enum local_hello_type type, const void *priv,
		     unsigned int len, const struct local_fds *fds);
/*
 * 0: *hello is sound and fds holds what it has, the caller's now; -EAGAIN: not
 * there yet; -ECONNRESET: end of file; -EPROTO: *why says it.
 */
int local_hello_recv(const struct local_giver *from, int fd,
		     struct local_hello *hello, struct local_fds *fds,
		     const char **why);
/*
 * Behind the hellos: descriptors of an acceptor, with a bell.  0; -EAGAIN: the
 * connector has not read enough; or -errno.
 */
int local_fds_send(int fd, const int *fds, unsigned int n);
/*
 * Reads bells up to the next descriptors, which are put behind the *n of fds that
 * there are.  1: some came; 0: nothing more to read; -EPROTO: there is no room
 * for them, up to max, and they are closed.
 */
int local_fds_recv(const struct local_giver *from, int fd, int *fds,
		   unsigned int max, unsigned int *n);
/* Out of fds: it is the caller's. */
int local_fds_take(struct local_fds *fds, enum local_fd kind);
/* What was not taken. */
void local_fds_close(const struct local_giver *from, struct local_fds *fds);
/* local_sock_close() for one that listens, with all who wait there. */
void local_sock_unlisten(struct tp_dev *dev, int fd);
/* The other end's process, without its groups; -errno. */
int local_sock_peer(int fd, struct tp_identity *id);
/* All of its groups, for free(); NULL if there are none. */
int local_sock_groups(int fd, uint32_t **groups, uint32_t *n);

/* ---- the accepting side (local_listen.c, local_req.c) ---- */

struct local_req {
	struct sock_req sock;
	struct local_fds fds; /* table and group of the peer */
	struct tp_identity id;
	uint32_t *groups; /* id.groups, until an endpoint has them */
};

static inline struct local_req *local_req(const struct sock_req *req)
{
	return container_of(req, struct local_req, sock);
}

int local_listen(struct tp_cq *cq, const struct addr *addr, int backlog,
		 struct tp_listener **listener);
int local_req_identity(const struct tp_conn_req *req, struct tp_identity *id);

/* For struct sock_accept_ops. */
struct sock_req *local_req_new(const struct sock_listener *l, int fd,
			       const struct sockaddr *sa);
int local_req_read(struct sock_req *req, const char **why);
void local_req_free(struct sock_req *req);
void local_say_reject(int fd, const void *priv, unsigned int len);

#endif
