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
 * downwards: main, check_passes, object_list, name_walk, copyset_list, server_calls; problem_list
 * stands alone.
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
	UT_hash_handle hh; /* the key is the handle */
	uint64_t handle;
	int64_t ctime;
	uint32_t links; /* number of names that the walk found */
	uint32_t nlink; /* link count in the attributes of the file */
	struct dist dist; /* only of regular files */
	bool dir;
};

/* The rows of the manager. */
struct copyset_list {
	struct ring ring[WIRE_RINGS_MAX];
	uint32_t nrings;
	struct copyset *set; /* in ascending order of their ids */
	size_t n, room;
};

struct fsck {
	struct mgr_conf conf;
	const struct log *log;
	unsigned int timeout_ms; /* time limit of a call */

	/* fields of server_calls.c: */
	struct keyring *ring; /* NULL if no key is configured */
	struct fabric fabric;
	struct rpc_ctx *ctx;
	struct rpc_peer *mgr;
	struct rpc_peer **iod; /* conf.niods of them */
	uint8_t *arena; /* FSCK_ARENA bytes, for READDIR */
	struct rail_mem mem; /* registration of the arena */
	struct rail_mem *area; /* points to mem; NULL if it is not set up yet */

	/* fields of the present pass: */
	int64_t start_time; /* ns since the epoch */
	struct walk_file *walk_files;
	uint64_t *pending; /* directories to be read */
	size_t npending, pending_room;
	struct problem_list problems;
	struct copyset_list copysets;
	/* numbers of files, directories and objects */
	uint64_t files, dirs, objects;
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
	_Alignas(8)
		uint8_t tail[WIRE_RINGS_MAX * sizeof(struct wire_ring) +
			     WIRE_COPYSETS_MAX * sizeof(struct wire_copyset)];
};
/*
 * Sends a request and waits for its reply, whose tail items follow each other. body, tail and reply
 * may be NULL. Returns 0, the status of the reply, or -EPROTO if the reply is too long. A call
 * without a reply is logged.
 */
int fsck_call(struct fsck *f, struct rpc_peer *peer, unsigned int op,
	      const struct fsck_bytes *body, const struct fsck_bytes *tail,
	      struct fsck_reply *reply);
/* Returns the layout in the attributes of a regular file. */
static inline struct dist fsck_dist(const struct wire_attr *attr)
{
	return (struct dist){ .base = le32toh(attr->dist.base),
			      .pcount = le32toh(attr->dist.pcount),
			      .ssize = le32toh(attr->dist.ssize),
			      .ring = le32toh(attr->dist.ring) };
}
/* Reads the attributes of a file. Returns -ESTALE if there is no such file. */
int fsck_get_attr(struct fsck *f, uint64_t handle, struct wire_attr *attr);
/* As fsck_get_attr(), but returns -ENXIO if this manager has never given out the handle. */
int fsck_get_attr_or_unissued(struct fsck *f, uint64_t handle,
			      struct wire_attr *attr);

/* ---- copyset_list.c ---- */

/* An object at an iod. */
struct stored_object {
	uint64_t handle;
	uint32_t copyset; /* 0: the own one of the iod */
	uint32_t iod;
};

/*
 * Whether the manager may have other rings than ring 0. Without it, the iods list handles only, and
 * report an error if they have an object of another copyset. Call it after a call to the manager.
 */
bool copyset_list_is_needed(const struct fsck *f);
/* Reads all rings and copysets, if they are needed. An error is logged. */
int copyset_list_read(struct fsck *f);
void copyset_list_free(struct fsck *f);
/*
 * Whether a file with this layout has such an object. True if its ring is newer than the list.
 */
bool copyset_list_has(const struct fsck *f, const struct dist *dist,
		      const struct stored_object *o);

/* ---- name_walk.c ---- */

/* Reads the whole tree into walk_files. Adds dangling names to the problems. */
int name_walk_run(struct fsck *f);
/* Adds files with a wrong link count to the problems. */
int name_walk_check_links(struct fsck *f);
/* Returns NULL if the walk found no name of this file. */
struct walk_file *name_walk_find(struct fsck *f, uint64_t handle);
void name_walk_free(struct fsck *f);

/* ---- object_list.c ---- */

struct object_list {
	struct stored_object *o; /* the caller frees it with free() */
	size_t n, room;
};
/* Reads the names of all objects from all iods. An error is logged. */
int object_list_read(struct fsck *f, struct object_list *list);
/*
 * Adds objects without a file, and files without a name, to the problems. Call it after the walk.
 */
int object_list_check(struct fsck *f, const struct object_list *list);

/* ---- check_passes.c ---- */

/* Runs two passes, settle_ms apart. The caller owns *all, the problems that both passes found. */
int fsck_run_passes(struct fsck *f, unsigned int settle_ms,
		    struct problem_list *all);

/* ---- orphan_removal.c ---- */

/* Removes orphans and strays, and sets `repaired` of these problems. An error is logged. */
int fsck_remove_orphans(struct fsck *f, struct problem_list *all);

/* ---- report.c ---- */

/*
 * Prints the report to standard output. Returns -EIO if it could not be written, which is logged.
 */
int fsck_print_report(const struct fsck *f, const struct problem_list *all,
		      bool json);

#endif
