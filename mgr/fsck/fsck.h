/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fsck.h - compares the name space with the objects on the iods, while all servers run.
 *
 * A pass lists the objects first and the names after them, and asks the manager about each object
 * without a name.  Handles are never given out twice, so an object whose file is unknown
 * afterwards has none.  Removals in progress and concurrent changes look like damage for a moment.
 * So only problems that two passes find are reported.
 *
 * One thread; no locks.  All functions return 0 or -errno.  The files call each other only
 * downwards: main, check_passes, object_list, name_walk, server_calls; problem_list stands alone.
 */
#ifndef FSCK_H
#define FSCK_H

#include "common/comm/rpc.h"
#include "common/dist/copyset.h"
#include "common/trust/keyring.h"
#include "common/util/hash_table.h"
#include "mgr/fsck/problem_list.h"
#include "mgr/state/mgr_conf.h"

#define FSCK_ARENA 65536u

/* A file that has a name. */
struct walk_file {
	UT_hash_handle hh; /* by handle */
	uint64_t handle;
	int64_t ctime;
	uint32_t links; /* names that the walk found */
	uint32_t nlink; /* stored link count */
	struct dist dist; /* regular files */
	bool dir;
};

struct fsck {
	struct mgr_conf conf;
	const struct log *log;
	unsigned int timeout_ms; /* of one call */

	/* server_calls.c */
	struct keyring *ring; /* NULL: no key is configured */
	struct fabric fabric;
	struct rpc_ctx *ctx;
	struct rpc_peer *mgr;
	struct rpc_peer **iod; /* conf.niods */
	uint8_t *arena; /* FSCK_ARENA bytes, for READDIR */
	struct rail_mem mem; /* of the arena */
	struct rail_mem *area; /* points to mem; NULL: not set up yet */

	/* one pass */
	int64_t start_time; /* ns since the epoch */
	struct walk_file *walk_files;
	uint64_t *pending; /* directories to be read */
	size_t npending, pending_room;
	struct problem_list problems;
	uint64_t files, dirs, objects; /* counts */
};

/* ---- server_calls.c: blocking calls ---- */

/* Connects to all servers.  Call fsck_close_servers() also after an error. */
int fsck_open_servers(struct fsck *f);
void fsck_close_servers(struct fsck *f);

struct fsck_bytes {
	const void *ptr;
	size_t len;
};
struct fsck_reply {
	_Alignas(8) uint8_t body[128];
	uint8_t tail[WIRE_HANDLE_MAX * 8];
};
/*
 * Sends a request and waits for its reply.  tail and reply may be NULL.  Returns 0 or the status of
 * the reply; -EPROTO: the reply is too long.  A call without a reply is logged.
 */
int fsck_call(struct fsck *f, struct rpc_peer *peer, unsigned int op,
	      const struct fsck_bytes *body, const struct fsck_bytes *tail,
	      struct fsck_reply *reply);
/* The layout in the attributes of a regular file. */
static inline struct dist fsck_dist(const struct wire_attr *attr)
{
	return (struct dist){ le32toh(attr->dist.base),
			      le32toh(attr->dist.pcount),
			      le32toh(attr->dist.ssize) };
}
/* The attributes of a file.  -ESTALE: no such file. */
int fsck_get_attr(struct fsck *f, uint64_t handle, struct wire_attr *attr);
/* The same; -ENXIO: the handle was never given out by this manager. */
int fsck_get_attr_or_unissued(struct fsck *f, uint64_t handle,
			      struct wire_attr *attr);

/* ---- name_walk.c ---- */

/* Reads the whole tree into walk_files; adds dangling names to the problems. */
int name_walk_run(struct fsck *f);
/* Adds files with a wrong link count to the problems. */
int name_walk_check_links(struct fsck *f);
/* NULL: the walk found no name of this file. */
struct walk_file *name_walk_find(struct fsck *f, uint64_t handle);
void name_walk_free(struct fsck *f);

/* ---- object_list.c ---- */

struct stored_object {
	uint64_t handle;
	uint32_t iod;
};
struct object_list {
	struct stored_object *o; /* for free() */
	size_t n, room;
};
/* Reads the handles of all objects from all iods; an error is logged. */
int object_list_read(struct fsck *f, struct object_list *list);
/* Adds objects without a file, and files without a name, to the problems.  After the walk. */
int object_list_check(struct fsck *f, const struct object_list *list);

/* ---- check_passes.c ---- */

/* Runs two passes, settle_ms apart.  The caller owns *all: the problems that both found. */
int fsck_run_passes(struct fsck *f, unsigned int settle_ms,
		    struct problem_list *all);

/* ---- orphan_removal.c ---- */

/* Removes orphans and strays, and sets their repaired; an error is logged. */
int fsck_remove_orphans(struct fsck *f, struct problem_list *all);

/* ---- report.c ---- */

/* Prints to standard output.  -EIO: it could not be written, which is logged. */
int fsck_print_report(const struct fsck *f, const struct problem_list *all,
		      bool json);

#endif
