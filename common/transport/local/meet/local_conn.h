/* SPDX-License-Identifier: BSD-2-Clause */
/* local_conn.h - sockets, and connections that wait to be accepted. */
#ifndef LOCAL_CONN_H
#define LOCAL_CONN_H

#include <sys/socket.h>
#include <sys/un.h>

#include "common/transport/local/memory/local_dev.h"
#include "common/transport/sock.h"

/* The descriptors that a hello may carry, in this order. */
enum local_fd {
	LOCAL_FD_SHM, /* ACCEPT, both required: the shared memory, and */
	LOCAL_FD_BELL, /* the eventfd that wakes the acceptor */
	LOCAL_FD_TABLE, /* the sender's table, if the peer may access its memory */
	LOCAL_FD_WAKEUP, /* CONNECT, both or neither: local_group.h */
	LOCAL_FD_PAGE,
	LOCAL_FDS
};
#define LOCAL_HAS(kind) (1u << (kind))
#define LOCAL_ACCEPT_FDS (LOCAL_HAS(LOCAL_FD_SHM) | LOCAL_HAS(LOCAL_FD_BELL))
#define LOCAL_GROUP_FDS (LOCAL_HAS(LOCAL_FD_WAKEUP) | LOCAL_HAS(LOCAL_FD_PAGE))

struct local_fds {
	int fd[LOCAL_FDS]; /* -1: none */
};
#define LOCAL_NO_FDS ((struct local_fds){ { -1, -1, -1, -1, -1 } })

enum local_hello_type {
	LOCAL_CONNECT = 1, /* carries the connector's table, or none */
	LOCAL_ACCEPT, /* carries shared memory and bell, and the table or none */
	LOCAL_REJECT,
};

/* The message on the socket before the bells, sent and received as a whole. */
struct local_hello {
	uint32_t magic;
	uint16_t version;
	uint16_t type;
	uint32_t priv_len;
	uint32_t has; /* LOCAL_HAS() of the descriptors in this message */
	uint8_t priv[TP_PRIVATE_MAX];
};

/* ---- sockets (local_sock.c) ---- */

/*
 * Fills in the abstract socket names under which a server at addr may listen, best first. Returns
 * their number, or -EHOSTUNREACH: the host has no address.
 */
#define LOCAL_NAMES 8
struct local_name {
	struct sockaddr_un sun;
	socklen_t len;
};
int local_names(const struct addr *addr, bool listen, struct local_name *name);
/* Appends the port to a name without one. */
void local_name_port(struct local_name *name, uint16_t port);

/*
 * Sends a hello with len bytes of private data and the descriptors fds (NULL: none), which the
 * caller still owns. Returns 0; -EAGAIN: the socket is full; or -errno.
 */
int local_hello_send(int fd, enum local_hello_type type, const void *priv,
		     unsigned int len, const struct local_fds *fds);
/*
 * Receives a hello. Returns 0: *hello is valid, and the caller owns the descriptors in fds;
 * -EAGAIN: it has not arrived; -ECONNRESET: the peer closed the socket; -EPROTO: it is invalid, for
 * the reason *why.
 */
int local_hello_recv(const struct local_giver *from, int fd,
		     struct local_hello *hello, struct local_fds *fds,
		     const char **why);
/*
 * Sends n descriptors from the acceptor to the connector, with a byte that also wakes it. Returns
 * 0; -EAGAIN: the socket is full, because the connector has not read enough; or -errno.
 */
int local_fds_send(int fd, const int *fds, unsigned int n);
/*
 * Reads bells up to the next descriptors, and appends these to fds, which has *n of at most max.
 * Returns 1: some arrived; 0: there is nothing more to read; -EPROTO: fds has no room, and they
 * were closed.
 */
int local_fds_recv(const struct local_giver *from, int fd, int *fds,
		   unsigned int max, unsigned int *n);
/* Removes the descriptor of that kind from fds and returns it to the caller; -1: there is none. */
int local_fds_take(struct local_fds *fds, enum local_fd kind);
/* Closes the descriptors that were not taken. */
void local_fds_close(const struct local_giver *from, struct local_fds *fds);
/* local_sock_close() for a listening socket, with all connections that wait there. */
void local_sock_unlisten(struct tp_dev *dev, int fd);
/* Sets *id to the process at the other end of fd, without its groups. Returns 0 or -errno. */
int local_sock_peer(int fd, struct tp_identity *id);
/* Gets the n groups of that process; the caller frees *groups. Returns 0 or -errno. */
int local_sock_groups(int fd, uint32_t **groups, uint32_t *n);

/* ---- the accepting side (local_listen.c) ---- */

struct local_req {
	struct sock_req sock;
	struct local_fds fds; /* table and group of the peer */
	struct tp_identity id;
	uint32_t *groups; /* id.groups, until an endpoint takes them */
};

static inline struct local_req *local_req(const struct sock_req *req)
{
	return container_of(req, struct local_req, sock);
}

int local_listen(struct tp_cq *cq, const struct addr *addr, int backlog,
		 struct tp_listener **listener);
int local_req_identity(const struct tp_conn_req *req, struct tp_identity *id);

#endif
