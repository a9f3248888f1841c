/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fsck.h - compares what the name space says with what the iods keep, while
 * all of them run.
 *
 * A pass lists the objects first and the names behind it, and asks the manager
 * for each object without a name: handles are never given twice, so an object
 * whose file is unknown afterwards has none.  Removals under way and changes
 * meanwhile look like damage for a moment; what a second pass does not find
 * again is forgotten.
 */
#ifndef FSCK_H
#define FSCK_H

#include "common/util/hash_table.h"
#include "common/trust/keyring.h"
#include "mgr/state/mgr_conf.h"
#include "common/comm/rpc.h"

#define FSCK_ARENA 65536u

enum problem_kind {
	ORPHAN, /* an object whose file does not exist */
	STRAY, /* an object outside of its file's stripes */
	DANGLING, /* a name whose file does not exist */
	NAMELESS, /* a file with links, and no name */
	LINKS, /* a file whose link count is wrong */
};

struct problem {
	enum problem_kind kind;
	uint64_t handle;
	uint64_t dir; /* DANGLING: where the name is */
	char name[256]; /* DANGLING */
	uint32_t iod; /* ORPHAN, STRAY */
	uint32_t found, stored; /* LINKS */
	bool repaired;
};
struct problems {
	struct problem *p;
	size_t n, room;
};

/* A file that has a name. */
struct known {
	UT_hash_handle hh; /* by handle */
	uint64_t handle;
	int64_t ctime;
	uint32_t links, nlink; /* found, stored */
	uint32_t base, pcount; /* regular files */
	bool dir;
};

struct fsck {
	struct mgr_conf conf;
	const struct log *log;
	unsigned int timeout_ms; /* of one call */
	struct keyring *ring; /* NULL: no key is configured */
	struct fabric fabric;
	struct rpc_ctx *ctx;
	struct rpc_peer *mgr;
	struct rpc_peer **iod; /* conf.niods */
	uint8_t *arena; /* FSCK_ARENA bytes, for READDIR */
	struct rail_mem mem; /* of the arena */
	struct rail_mem *area; /* NULL: there is none yet */
	int64_t started; /* of the pass, ns since the epoch */
	struct known *known;
	uint64_t *pending; /* directories to be read */
	size_t npending, pending_room;
	struct problems found; /* in this pass */
	uint64_t files, dirs, objects; /* counts */
};

/* ---- ask.c: blocking calls ---- */

int fsck_open(struct fsck *f);
void fsck_close(struct fsck *f);
/* A reply, at most so long. */
struct answer {
	_Alignas(8) uint8_t body[128];
	uint8_t tail[WIRE_HANDLE_MAX * 8];
};
struct piece {
	const void *ptr;
	size_t len;
};
/* 0 or what the server answered; a call without answer is logged. */
int fsck_ask(struct fsck *f, struct rpc_peer *peer, unsigned int op,
	     const struct piece *body, const struct piece *tail,
	     struct answer *answer);
/* -ESTALE: no such file. */
int fsck_attr(struct fsck *f, uint64_t handle, struct wire_attr *attr);
/* The same; -ENXIO: it was never given out, by this data base. */
int fsck_ever(struct fsck *f, uint64_t handle, struct wire_attr *attr);

/* ---- names.c, objects.c, pass.c ---- */

struct known *known_find(struct fsck *f, uint64_t handle);
/* Reads the whole tree. */
int names_read(struct fsck *f);
/* Judges the link counts that were found. */
int names_judge(struct fsck *f);
void names_forget(struct fsck *f);

struct object {
	uint64_t handle;
	uint32_t iod;
};
struct objects {
	struct object *o;
	size_t n, room;
};
int objects_list(struct fsck *f, struct objects *list);
int objects_judge(struct fsck *f, const struct objects *list);

/* Adds a problem to those found. */
int fsck_found(struct fsck *f, const struct problem *p);
/* Two passes, settle_ms apart; the problems that both found. */
int fsck_check(struct fsck *f, unsigned int settle_ms, struct problems *all);
/* Removes orphans and strays, and marks those that are gone. */
int fsck_repair(struct fsck *f, struct problems *all);

/* ---- report.c ---- */

/* To standard output; -EIO: it was not taken, which is logged. */
int report(const struct fsck *f, const struct problems *all, bool json);

/* Room for one more element; -ENOMEM. */
int fsck_grow(void *array, size_t *room, size_t n, size_t size);

#endif
