/* SPDX-License-Identifier: BSD-2-Clause */
/* local_conn.h - sockets, and connections waiting to be accepted. */
#ifndef LOCAL_CONN_H
#define LOCAL_CONN_H

#include <sys/socket.h>
#include <sys/un.h>

#include "local_cq.h"

#define LOCAL_HALF_OPEN 128u /* handshakes under way, per listener */
#define LOCAL_PEER_LEN 320
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

TAILQ_HEAD(local_reqs, local_req);

struct local_listener {
	struct tp_listener listener;
	struct local_src src;
	struct local_cq *cq;
	int fd;
	struct addr addr;
	bool more; /* on cq->listeners */
	bool starved; /* of descriptors; said so once */
	TAILQ_ENTRY(local_listener) more_link;
	struct local_timer retry;
	unsigned int nhalf, nqueued;
	struct local_reqs half; /* hello awaited; oldest first */
	struct local_reqs queued; /* events not yet taken */
};

struct local_req {
	struct tp_conn_req req;
	struct local_src src;
	struct local_listener *listener; /* NULL once the event was taken */
	TAILQ_ENTRY(local_req) link;
	struct local_timer timer;
	struct local_event ev;
	int fd;
	int table; /* the peer's; -1: none */
	struct tp_identity id;
	struct local_hello hello;
	char peer[LOCAL_PEER_LEN];
};

int local_listen(struct tp_cq *cq, const struct addr *addr, int backlog,
		 struct tp_listener **listener);
void local_listener_addr(const struct tp_listener *listener, struct addr *addr);
void local_unlisten(struct tp_listener *listener);
/* One turn of accepting. */
void local_listener_more(struct local_listener *l);
void local_listener_wait(struct local_listener *l);
void local_listener_resume(struct local_listener *l);

/* Takes fd over. */
void local_req_new(struct local_listener *l, int fd);
/* From half open, with nothing said to the peer. */
void local_req_drop(struct local_req *req);
/* 0 if the connector still waits; else why not. */
int local_req_look(const struct local_req *req);
/* The event was taken: the listener forgets req. */
void local_req_taken(struct local_req *req);
void local_req_free(struct local_req *req);
const void *local_req_private(const struct tp_conn_req *req, unsigned int *len);
const char *local_req_peer(const struct tp_conn_req *req);
int local_req_identity(const struct tp_conn_req *req, struct tp_identity *id);
void local_reject(struct tp_conn_req *req, const void *priv, unsigned int len);

#endif
