/* SPDX-License-Identifier: BSD-2-Clause */
/* call.c - see call.h. */
#include "client/fuse/call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/fuse/attr_reply.h"
#include "client/fuse/cache/dentry_cache.h"
#include "client/fuse/cache/inode_cache.h"
#include "client/fuse/requester_groups.h"
#include "client/lib/session/call_context.h"
#include "common/util/clock.h"
#include "common/util/log.h"

static void log_refused(const struct call *c, int rc)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(c->req);
	uint64_t now = clock_now(),
		 before = atomic_load(&c->d->groups_warned_at);

	if (before && now - before < LOG_PACE_MS * CLOCK_NS_PER_MS)
		return;
	atomic_store(&c->d->groups_warned_at, now);
	log_error(
		c->d->log,
		"a request of user %u is refused: the groups of process %d are "
		"not known: %s%s",
		ctx->uid, ctx->pid, strerror(-rc),
		ctx->pid ? ""
			 : "; it is in a name space of processes that is not "
			   "below that of this mount: start pvfs-fuse in one "
			   "that is above both");
}

/* Groups can also deny rights, so a request with an incomplete list is refused. */
static int set_groups(struct call *c)
{
	struct requester_groups groups;
	const struct fuse_ctx *ctx = fuse_req_ctx(c->req);
	int n = requester_groups_get(&c->d->long_lists, ctx->uid, ctx->pid,
				     &groups);

	if (!n) {
		n = gid_lists_name(&c->d->gid_lists, groups.gid, groups.n,
				   c->cred.groups);
		requester_groups_free(&groups);
	}
	if (n < 0) {
		log_refused(c, n);
		return n == -ENOMEM || n == -E2BIG ? n : -EACCES;
	}
	c->cred.ngroups = (uint32_t)n;
	return 0;
}

void call_begin(struct call *c, fuse_req_t req)
{
	deadline_begin();
	call_user_set(fuse_req_ctx(req)->uid);
	c->d = fuse_daemon_of(req);
	c->req = req;
	c->begun = clock_now();
	c->changes = thread_hints_changes(c->d->thread_hints);
	c->name_key = c->request = 0;
	thread_hints_take(c->d->thread_hints, fuse_req_ctx(req)->pid, &c->hint);
}

bool call_repeats_timeout(struct call *c, uint64_t request)
{
	c->request = request;
	if (!thread_hints_has_failed(c->d->thread_hints,
				     fuse_req_ctx(c->req)->pid, request))
		return false;
	fuse_reply_err(c->req, ETIMEDOUT);
	return true;
}

/* Reading the groups takes as long as a request.  Root needs none. */
static void set_credentials(struct call *c)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(c->req);

	c->cred.uid = ctx->uid;
	c->cred.gid = ctx->gid;
	c->cred.ngroups = 0;
	c->cred.rc = ctx->uid ? set_groups(c) : 0;
}

struct target call_entry(struct call *c, fuse_ino_t dir, const char *name)
{
	uint64_t handle = fuse_daemon_swap_ino(c->d, dir);

	if (c->d->per_user)
		set_credentials(c);
	c->name_key = *name ? inode_cache_name(handle, name) : 0;
	c->dir = handle;
	c->name = name;
	return (struct target){
		.handle = handle,
		.path = name,
		.flags = WIRE_P_NOFOLLOW,
		.as = c->d->per_user ? &c->cred : NULL,
	};
}

struct target call_target(struct call *c, fuse_ino_t n)
{
	return call_entry(c, n, "");
}

uint32_t call_mode(const struct call *c, mode_t mode)
{
	return WIRE_MODE(mode, fuse_req_ctx(c->req)->umask & 0777);
}

/* For requests in which the kernel does not say whether set-id bits must go. */
bool call_kills_setid(const struct call *c)
{
	return c->d->kernel.kills_setid && fuse_req_ctx(c->req)->uid;
}

int call_run(const struct call *c, const struct target *t, target_op op,
	     void *arg)
{
	return fs_run(&c->d->fs, t, op, arg);
}

bool call_is_removed(const struct call *c, uint64_t handle, struct stat *st)
{
	return inode_cache_get_removed(c->d->inode_cache, handle, st);
}

bool call_retry_stale(const struct call *c, uint64_t n)
{
	const uint64_t request = thread_hints_request(n, "/");
	pid_t thread = fuse_req_ctx(c->req)->pid;

	if (!thread ||
	    thread_hints_has_failed(c->d->thread_hints, thread, request))
		return false;
	thread_hints_set_failed(c->d->thread_hints, thread, request);
	return true;
}

int call_removed_dir_error(const struct call *c, const struct target *t, int rc)
{
	return rc != -ESTALE || call_retry_stale(c, t->handle) ? rc : -ENOENT;
}

void call_end(const struct call *c, int rc)
{
	thread_hints_count_change(c->d->thread_hints);
	if (rc == -ETIMEDOUT && c->request)
		thread_hints_set_failed(c->d->thread_hints,
					fuse_req_ctx(c->req)->pid, c->request);
	fuse_reply_err(c->req, -rc);
}

static void record_reply(const struct call *c, const struct attr *attr,
			 const struct stat *st)
{
	inode_cache_record(c->d->inode_cache,
			   &(struct inode_reply){
				   .st = st,
				   .attr = attr,
				   .asked = c->begun,
				   .until = c->begun +
					    attr_reply_timeout_ns(c->d),
				   .name = st ? c->name_key : 0,
			   });
}

void call_end_attr(const struct call *c, const struct attr *attr,
		   const struct stat *st)
{
	thread_hints_count_change(c->d->thread_hints);
	record_reply(c, attr, st);
	fuse_reply_attr(c->req, st, attr_reply_getattr_timeout(c->d, st));
}

void call_record_attr(const struct call *c, const struct attr *attr)
{
	record_reply(c, attr, NULL);
}

double call_entry_timeout(const struct call *c, uint64_t dir, const char *name,
			  const struct stat *st)
{
	const struct dentry is = {
		.dir = dir,
		.name = name,
		.handle = st ? st->st_ino : 0,
		.is_dir = st && S_ISDIR(st->st_mode),
		.linked = st && st->st_nlink > 1,
		.thread = fuse_req_ctx(c->req)->pid,
	};

	return dentry_cache_add(c->d->dentry_cache, &is, c->begun);
}

void call_fill_entry(const struct call *c, const struct attr *attr,
		     const struct stat *st, struct fuse_entry_param *e)
{
	thread_hints_count_change(c->d->thread_hints);
	record_reply(c, attr, st);
	*e = (struct fuse_entry_param){
		.ino = fuse_daemon_swap_ino(c->d, st->st_ino),
		.attr = *st,
		.generation = 1, /* handles are never reused */
		.attr_timeout = attr_reply_entry_timeout(c->d, st),
		.entry_timeout = c->name_key ? call_entry_timeout(c, c->dir,
								  c->name, st)
					     : 0,
	};
}

void call_end_entry(const struct call *c, const struct attr *attr,
		    const struct stat *st)
{
	struct fuse_entry_param e;

	call_fill_entry(c, attr, st, &e);
	fuse_reply_entry(c->req, &e);
}
