/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call.h - one request of the kernel: the requesting process, the target and the reply.
 */
#ifndef CALL_H
#define CALL_H

#include "client/fuse/cache/thread_hints.h"
#include "client/fuse/fuse_daemon.h"

/* A request.  The requester is the process whose system call caused it. */
struct call {
	struct fuse_daemon *d;
	fuse_req_t req;
	/* the requester's credentials; set once a target needed them */
	struct cred cred;
	uint64_t begun; /* clock_now() */
	uint64_t changes; /* thread_hints_changes() at the start */
	uint64_t name_key; /* inode_cache_name() of the last call_entry(); 0: none */
	uint64_t dir; /* handle of the name's directory */
	const char *name; /* valid as long as the request */
	/* thread_hints_request(), if the kernel would repeat it after ETIMEDOUT; else 0 */
	uint64_t request;
	/* what the thread's previous request left for this one */
	struct thread_hint hint;
};

/* Starts a request and its deadline.  c lives until its reply. */
void call_begin(struct call *c, fuse_req_t req);
/*
 * If c repeats a request of the same thread that was answered with ETIMEDOUT, answers c with
 * ETIMEDOUT, too, and returns true.  request: thread_hints_request().
 */
bool call_repeats_timeout(struct call *c, uint64_t request);
/*
 * Returns the target for the kernel's object n, or for name below the directory dir.
 * The target uses c and name.
 */
struct target call_target(struct call *c, fuse_ino_t n);
struct target call_entry(struct call *c, fuse_ino_t dir, const char *name);
/* Returns WIRE_MODE() of mode with the requester's umask. */
uint32_t call_mode(const struct call *c, mode_t mode);
/*
 * Returns true if a change by this requester removes set-id bits and file capabilities, and the
 * kernel leaves that to the daemon.
 */
bool call_kills_setid(const struct call *c);
/* Runs op in the present session (fs_run()).  Returns 0 or -errno. */
int call_run(const struct call *c, const struct target *t, target_op op,
	     void *arg);

/* ---- replies: nothing uses the request after one of these ---- */

/*
 * Called when the manager returned ESTALE for an object that the kernel still has.  If a host
 * has removed the object, sets *st to its last attributes and returns true.
 */
bool call_is_removed(const struct call *c, uint64_t handle, struct stat *st);
/*
 * Called when the object n has no name any more.  Returns true if the caller must answer ESTALE.
 * After ESTALE, a kernel that has used a name that it keeps looks the name up again and repeats the
 * request.  Returns false if the thread has just got ESTALE, so that this is the repeated request.
 */
bool call_retry_stale(const struct call *c, uint64_t n);
/*
 * Returns the reply to a change or lookup of t, for which the manager returned rc.  If rc means
 * that the directory was removed (ESTALE), the reply is ESTALE the first time
 * (call_retry_stale()), and ENOENT after that.
 */
int call_removed_dir_error(const struct call *c, const struct target *t,
			   int rc);

/* Replies with rc: 0 or -errno. */
void call_end(const struct call *c, int rc);
/* Replies with st.  attr: the manager's attributes of st; NULL: they are not new. */
void call_end_attr(const struct call *c, const struct attr *attr,
		   const struct stat *st);
/* Replies with the object of the last call_entry(). */
void call_end_entry(const struct call *c, const struct attr *attr,
		    const struct stat *st);
/* Fills *e for the kernel, as call_end_entry() does, for a reply of another kind. */
void call_fill_entry(const struct call *c, const struct attr *attr,
		     const struct stat *st, struct fuse_entry_param *e);
/*
 * Returns the seconds for which the kernel may keep the name in dir.  st has the attributes of
 * its object; NULL: the name is absent.
 */
double call_entry_timeout(const struct call *c, uint64_t dir, const char *name,
			  const struct stat *st);
/* Records attr in the inode_cache.  Called if no call_end function gets attr. */
void call_record_attr(const struct call *c, const struct attr *attr);

#endif
