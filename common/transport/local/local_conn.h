/* SPDX-License-Identifier: BSD-2-Clause */
/* local_conn.h - sockets, and connections waiting to be accepted. */
#ifndef LOCAL_CONN_H
#define LOCAL_CONN_H

#include <sys/socket.h>
#include <sys/un.h>

#include "local_cq.h"

#define LOCAL_FDS 2 /* that a hello may carry */

enum local_hello_type {
	LOCAL_CONNECT = 1, /* carries the connector's table, or nothing */
	LOCAL_ACCEPT, /* carries the shared memory, then a table or nothing */
	LOCAL_REJECT,
};

/* What is said on the socket before the bells: whole and at once. */
struct local_hello {
	uint32_t magic;
	uint16_t version;
	uint16_t type;
	uint32_t priv_len;
	uint32_t nfds;
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

/* 0, -EAGAIN, or why it was not said. */
int local_hello_send(int fd, enum local_hello_type type, const void *priv,
		     unsigned int len, const int *fds, unsigned int nfds);
/*
 * 0: *hello is sound and fds holds hello->nfds descriptors, the caller's now;
 * -EAGAIN: not there yet; -ECONNRESET: end of file; -EPROTO: *why says it.
 */
int local_hello_recv(int fd, struct local_hello *hello, int *fds,
		     const char **why);
void local_fds_close(const int *fds, unsigned int n);
/* The other end's process; -errno. */
int local_sock_peer(int fd, struct tp_identity *id);

/* ---- the accepting side (local_listen.c, local_req.c) ---- */

struct local_req {
	struct sock_req sock;
	int table; /* the peer's; -1: none */
	struct tp_identity id;
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
