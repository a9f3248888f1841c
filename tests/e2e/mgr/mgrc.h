/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgrc.h - a minimal client of one manager, for tests: blocking calls over the real rpc and
 * transport. Unexpected errors end the test.
 */
#ifndef MGRC_H
#define MGRC_H

#include <stdbool.h>

#include "common/util/clock.h"
#include "common/comm/rpc.h"

#define MGRC_ARENA (1u << 20)

/*
 * Returns a file system id of this process. Servers of concurrent tests may get a port that this
 * test has used, and must reject its clients.
 */
uint64_t mgrc_fsid(void);

/* As Check's assertions, for any thread: ends the program. */
#define must(x)                                                                \
	do {                                                                   \
		if (!(x))                                                      \
			must_failed(#x, __FILE__, __LINE__);                   \
	} while (0)
void must_failed(const char *what, const char *file, int line)
	__attribute__((noreturn));

struct mgrc {
	struct tp_dev *dev;
	struct rpc_ctx *ctx;
	struct rpc_peer *peer;
	struct rpc_cred cred;
	/* set before mgrc_open() */
	uint32_t features; /* WIRE_FT_* */
	uint64_t fsid; /* 0 means mgrc_fsid() */
	enum wire_role role; /* 0 means WIRE_ROLE_CLIENT */
	const struct rpc_caps_source *caps;
	const struct prover *prover;
	enum wire_role server; /* for prover: the role of the server */
	struct log_file out;
	struct log log;
	uint64_t session;
	struct tp_mr *mr;
	uint8_t *arena; /* MGRC_ARENA bytes */
	unsigned int timeout_ms; /* time-out of a call, initially 20000 */
	const struct wire_as *as; /* if not NULL, requests are for this user */
	bool shows; /* each request ends with a struct wire_caps */
	uint64_t boot; /* of the manager's process that replied last */
	unsigned int fresh; /* how often the session was new to the manager */
	/* the last reply */
	uint64_t body[16];
	char tail[WIRE_BODY_MAX];
	size_t tail_len;
	bool capped; /* whether the reply had a capability */
	uint8_t cap[WIRE_CAP_LEN];
};

/* Connects as uid 0.  session 0 means a random number. */
void mgrc_open(struct mgrc *c, const struct addr *addr, uint64_t session);
/* Disconnects.  If bye is false, as if the client had died. */
void mgrc_close(struct mgrc *c, bool bye);

struct mgrc_item {
	const void *ptr;
	size_t len;
};
/* Builds a message in buf (WIRE_BODY_MAX + 48 bytes, aligned).  Returns its length. */
size_t mgrc_build(void *buf, unsigned int op, const void *body, size_t len,
		  const struct mgrc_item *tail, unsigned int ntail);
/* Returns the status of the reply.  Its body and tail are in *c. */
int mgrc_call(struct mgrc *c, unsigned int op, const void *body, size_t len,
	      const struct mgrc_item *tail, unsigned int ntail);

/* These return the status of the reply.  Paths start at the root. */
int mgrc_stat(struct mgrc *c, const char *path, struct wire_attr *attr);
struct wire_attr mgrc_stat_ok(struct mgrc *c, const char *path);
int mgrc_stat_handle(struct mgrc *c, uint64_t handle, struct wire_attr *attr);
int mgrc_mkdir(struct mgrc *c, const char *path);
int mgrc_rmdir(struct mgrc *c, const char *path);
int mgrc_unlink(struct mgrc *c, const char *path);
int mgrc_rename(struct mgrc *c, const char *from, const char *to);
int mgrc_symlink(struct mgrc *c, const char *target, const char *path);
/* the target is in c->tail */
int mgrc_readlink(struct mgrc *c, const char *path);
struct mgrc_file {
	uint64_t handle, open;
	struct wire_attr attr;
};
int mgrc_open_file(struct mgrc *c, const char *path, uint32_t flags,
		   struct mgrc_file *f);
int mgrc_release(struct mgrc *c, const struct mgrc_file *f, uint32_t flags,
		 uint64_t end);
/* Sends DECLARE to the process of the manager that replied last. */
int mgrc_declare(struct mgrc *c, const struct mgrc_file *f, unsigned int n,
		 bool all);
/* Creates a file, and closes it with a size of `end` bytes. */
int mgrc_make(struct mgrc *c, const char *path, uint64_t end);
int mgrc_truncate(struct mgrc *c, const char *path, uint64_t size);
int mgrc_append(struct mgrc *c, const struct mgrc_file *f, uint64_t len,
		uint64_t *offset);
/* Reads entries into c->arena. */
int mgrc_readdir(struct mgrc *c, uint64_t dir, uint64_t cookie, uint32_t len,
		 struct wire_readdir_rep *rep);

#endif
