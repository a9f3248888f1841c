/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_conn.h - sockets, and connections that wait to be accepted. */
#ifndef TCP_CONN_H
#define TCP_CONN_H

#include <stdbool.h>
#include <sys/socket.h>

#include "common/transport/tcp/tcp_cq.h"
#include "common/transport/tcp/tcp_frame.h"
#include "common/transport/tcp/tcp_mem.h"

/* ---- sockets (tcp_sock.c) ---- */

struct addrinfo;
/* Tries a numeric address first; a name may block in the resolver. -EHOSTUNREACH. */
int tcp_resolve(const struct log *log, const struct addr *addr, bool passive,
		struct addrinfo **list);
void tcp_sock_tune(const struct tcp_dev *dev, int fd);
void tcp_sock_name(const struct sockaddr *sa, char *buf, size_t len);
/*
 * Makes a later close() reset the connection, so the peer sees an error instead of an orderly end.
 */
void tcp_sock_reset_on_close(int fd);
/* Sends one frame with a hello, best effort. */
void tcp_sock_hello(int fd, enum tcp_op op, const void *priv, unsigned int len);

/* ---- congestion control (tcp_pace.c) ---- */

void tcp_pace_init(struct tcp_dev *dev);
/* Call it before fd connects or listens. */
void tcp_pace_begin(struct tcp_dev *dev, int fd);
void tcp_pace_connected(struct tcp_dev *dev, int fd);

/* ---- the accepting side (tcp_listen.c, tcp_req.c) ---- */

struct tcp_req {
	struct sock_req sock;
	unsigned int have;
	uint8_t buf[TCP_HEAD_LEN + TCP_SMALL_MAX];
};

int tcp_listen(struct tp_cq *cq, const struct addr *addr, int backlog,
	       struct tp_listener **listener);

/* Operations for struct sock_accept_ops. */
struct sock_req *tcp_req_new(const struct sock_listener *l, int fd,
			     const struct sockaddr *sa);
int tcp_req_read(struct sock_req *req, const char **why);
void tcp_req_free(struct sock_req *req);

#endif
