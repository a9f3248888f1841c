/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_conn.h - sockets, and connections waiting to be accepted. */
#ifndef TCP_CONN_H
#define TCP_CONN_H

#include <stdbool.h>
#include <sys/socket.h>

#include "tcp_cq.h"
#include "tcp_frame.h"
#include "tcp_mem.h"

#define TCP_HALF_OPEN 128u /* handshakes under way, per listener */
#define TCP_PEER_LEN 80

/* ---- sockets (tcp_sock.c) ---- */

struct addrinfo;
/* Numeric first; a name may block in the resolver.  -EHOSTUNREACH. */
int tcp_resolve(const struct tp_dev *dev, const struct addr *addr, bool passive,
		struct addrinfo **list);
void tcp_sock_tune(const struct tcp_dev *dev, int fd);
void tcp_sock_name(const struct sockaddr *sa, char *buf, size_t len);
/* Its close() will be an error for the peer, not an orderly end. */
void tcp_sock_reset_on_close(int fd);
/* Sends one frame with a hello, best effort. */
void tcp_sock_hello(int fd, enum tcp_op op, const void *priv, unsigned int len);

/* ---- the accepting side (tcp_listen.c, tcp_req.c) ---- */

TAILQ_HEAD(tcp_reqs, tcp_req);

struct tcp_listener {
	struct tp_listener listener;
	struct tcp_src src;
	struct tcp_cq *cq;
	int fd;
	struct addr addr;
	bool more; /* on cq->listeners */
	bool starved; /* of descriptors; said so once */
	TAILQ_ENTRY(tcp_listener) more_link;
	struct tcp_timer retry;
	unsigned int nhalf, nqueued;
	struct tcp_reqs half; /* hello awaited; oldest first */
	struct tcp_reqs queued; /* events not yet taken */
};

struct tcp_req {
	struct tp_conn_req req;
	struct tcp_src src;
	struct tcp_listener *listener; /* NULL once the event was taken */
	TAILQ_ENTRY(tcp_req) link;
	struct tcp_timer timer;
	struct tcp_event ev;
	int fd;
	unsigned int have;
	uint8_t buf[TCP_HEAD_LEN + TCP_SMALL_MAX];
	struct tcp_hello hello;
	char peer[TCP_PEER_LEN];
};

int tcp_listen(struct tp_cq *cq, const struct addr *addr, int backlog,
	       struct tp_listener **listener);
void tcp_listener_addr(const struct tp_listener *listener, struct addr *addr);
void tcp_unlisten(struct tp_listener *listener);
/* One turn of accepting. */
void tcp_listener_more(struct tcp_listener *l);
void tcp_listener_wait(struct tcp_listener *l);
void tcp_listener_resume(struct tcp_listener *l);

/* Takes fd over. */
void tcp_req_new(struct tcp_listener *l, int fd, const struct sockaddr *sa);
/* From half open, with nothing said to the peer. */
void tcp_req_drop(struct tcp_req *req);
/* The event was taken: the listener forgets req. */
void tcp_req_taken(struct tcp_req *req);
void tcp_req_free(struct tcp_req *req);
const void *tcp_req_private(const struct tp_conn_req *req, unsigned int *len);
const char *tcp_req_peer(const struct tp_conn_req *req);
void tcp_reject(struct tp_conn_req *req, const void *priv, unsigned int len);

#endif
