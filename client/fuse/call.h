/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call.h - one request of the kernel: the requesting process, the target and the reply.
 */
#ifndef CALL_H
#define CALL_H

#include "client/fuse/cache/cuts.h"
#include "client/fuse/fsd.h"

/* A request.  The requester is the process whose system call caused it. */
struct call {
	struct fsd *d;
	fuse_req_t req;
	/* the requester's credentials; set once a target needed them */
	struct cred as;
	uint64_t begun; /* clock_now() */
	uint64_t changes; /* told_changes() at the start */
	uint64_t name; /* named_of() of the last call_entry(); 0: none */
	uint64_t dir; /* handle of the name's directory */
	const char *text; /* the name; valid as long as the request */
	/* what the kernel would repeat after ETIMEDOUT (again.h); 0: nothing */
	uint64_t again;
	bool told; /* the thread's previous request returned st a moment ago */
	struct stat st;
	struct cut_due due; /* what the previous request left (cuts.h) */
};

/* Starts a request and its deadline. */
void call_begin(struct call *c, fuse_req_t req);
/*
 * True: the kernel repeats a request that was answered with ETIMEDOUT.  The same reply
 * was sent again, so the request is done (again.h).
 */
bool call_repeats_timeout(struct call *c, uint64_t what);
/*
 * Returns the target for the kernel's object n, or for name below the directory dir.
 * The target uses c and name.
 */
struct target call_target(struct call *c, fuse_ino_t n);
struct target call_entry(struct call *c, fuse_ino_t dir, const char *name);
/* Returns WIRE_MODE() of mode with the requester's umask. */
uint32_t call_mode(const struct call *c, mode_t mode);
/*
 * True: the kernel leaves the removal of set-id bits and capabilities to us, and
 * changes by this requester remove them.
 */
bool call_kills_setid(const struct call *c);
/* Runs op with fs_run(). */
int call_run(const struct call *c, const struct target *t, target_op op,
	     void *arg);

/* ---- replies: nothing uses the request after one of these ---- */

/*
 * Called when the manager returned ESTALE for an object that the kernel still has.
 * True: a host removed the object, and *st holds its attributes.
 */
bool call_is_removed(const struct call *c, uint64_t handle, struct stat *st);
/*
 * Returns the result of a change or lookup of t in a directory, where rc is the
 * manager's.  A removed directory (ESTALE) has no names.  The first reply is ESTALE: if
 * the kernel used a name that it keeps, it looks that name up again.  The next reply to
 * the same thread is ENOENT.
 */
int call_removed_dir_error(const struct call *c, const struct target *t,
			   int rc);

/* Replies with rc: 0 or -errno. */
void call_end(const struct call *c, int rc);
void call_end_attr(const struct call *c, const struct stat *st);
void call_end_entry(const struct call *c, const struct attr *attr,
		    const struct stat *st);
/* Fills *e for the kernel from st and the manager's attributes. */
void call_fill_entry(const struct call *c, const struct attr *attr,
		     const struct stat *st, struct fuse_entry_param *e);
/*
 * Returns for how many seconds the kernel may keep that name in dir is st (NULL:
 * absent).
 */
double call_entry_timeout(const struct call *c, uint64_t dir, const char *name,
			  const struct stat *st);
/*
 * Records what the object lacks according to attr.  Called before a reply with
 * attributes alone.
 */
void call_record_attr(const struct call *c, const struct attr *attr);

#endif
