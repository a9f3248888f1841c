/* SPDX-License-Identifier: BSD-2-Clause */
/* main.c - pvfs-fuse: start, serving and end. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <syslog.h>
#include <unistd.h>

#include "client/fuse/bypass_page.h"
#include "client/fuse/cache/dentry_cache.h"
#include "client/fuse/cache/inflight_io.h"
#include "client/fuse/cache/inode_cache.h"
#include "client/fuse/cache/thread_hints.h"
#include "client/fuse/daemon/guard.h"
#include "client/fuse/daemon/mount_point.h"
#include "client/fuse/daemon/stale_sessions.h"
#include "client/fuse/fsync_errors.h"
#include "client/fuse/inval_queue.h"
#include "client/fuse/libfuse_compat.h"
#include "client/fuse/lock_owners.h"
#include "client/fuse/ops.h"
#include "client/fuse/options.h"
#include "client/fuse/threads/listener.h"
#include "client/fuse/waiting_locks.h"
#include "client/lib/file/unsynced.h"
#include "client/lib/names/stat.h"
#include "common/util/sd_notify.h"

#define INVAL_QUEUE_STOP_MS 1000u

/* For the background, where nobody reads standard error. */
static void log_to_syslog(void *arg, enum log_level level, const char *msg)
{
	static const int priority[] = { LOG_ERR, LOG_WARNING, LOG_INFO,
					LOG_DEBUG };

	syslog(priority[level], "%s", msg);
}

static int get_root(struct session *s, const struct target *t, void *arg)
{
	uint64_t *root = arg;

	*root = s->root;
	return 0;
}

/* Finds the root, so that no mount is made of a file system that cannot answer. */
static int find_root(struct fuse_daemon *d)
{
	const struct cred root = { 0 };
	const struct target t = { .path = "",
				  .as = d->per_user ? &root : NULL };
	struct attr attr;
	struct session *s;
	int rc;

	deadline_begin();
	rc = fs_session(&d->fs, &s);
	if (rc)
		return rc;
	rc = mgr_getattr(s, &t, &attr);
	session_put(s);
	if (rc == -EPERM)
		log_error(d->log,
			  "the manager lets no mount of this host speak for "
			  "users; add its network to [mgr] speakers, or mount "
			  "as the one user who shall use it");
	if (!rc)
		rc = fs_run(&d->fs, &t, get_root, &d->root);
	return rc;
}

/* The state of the serving process. */
struct server {
	struct fuse_daemon d;
	const struct options *opt;
	struct log *log;
	struct notify notify;
	int ready;
	/* Shared with the guard: mount_point_minor() of the mount; or NULL */
	atomic_uint *minor;
};

static void log_in_background(struct server *s)
{
	if (s->ready < 0)
		return;
	openlog("pvfs-fuse", LOG_PID, LOG_DAEMON);
	if (s->log->sink)
		s->log->sink = log_to_syslog;
}

/* A thread of the server waits in the kernel for a reply that will never come. */
static void abort_mount(void *arg)
{
	const struct server *s = arg;

	if (s->minor)
		mount_point_abort(atomic_load(s->minor));
}

/* nosymfollow is a flag of the mount that libfuse does not know. */
static int set_flags(const struct server *s)
{
	const struct options *opt = s->opt;
	int rc;

	if (!(opt->flags & NOSYMFOLLOW) ||
	    !mount("", opt->dir, "", MS_REMOUNT | MS_BIND | opt->flags, NULL))
		return 0;
	rc = -errno;
	log_error(s->log, "%s: nosymfollow: %s", opt->dir, strerror(-rc));
	return rc;
}

/* The kernel's first request; if it fails, libfuse prints why. */
static int serve_init(struct fuse_session *se)
{
	struct fuse_buf buf = { 0 };
	int rc;

	do
		rc = fuse_session_receive_buf(se, &buf);
	while (rc == -EINTR && !fuse_session_exited(se));
	if (rc > 0)
		fuse_session_process_buf(se, &buf);
	free(buf.mem);
	return rc > 0 && !fuse_session_exited(se) ? 0 : -EIO;
}

static int serve_mounted(struct server *s)
{
	int rc = set_flags(s);

	if (!rc)
		rc = libfuse_compat_watch(&s->d);
	if (rc)
		return rc;
	s->d.inval_queue = inval_queue_new();
	s->d.waiting_locks = s->d.inval_queue ? waiting_locks_new(&s->d) : NULL;
	if (!s->d.waiting_locks) {
		inval_queue_free(s->d.inval_queue);
		return -ENOMEM;
	}
	s->d.minor = mount_point_minor(s->opt->dir);
	if (s->minor)
		atomic_store(s->minor, s->d.minor);
	s->d.mounts_watch = mount_point_watch();
	s->d.atime = mount_point_updates_atime(s->d.minor, s->d.atime);
	rc = serve_init(s->d.se);
	if (!rc) {
		log_in_background(s);
		guard_ready(s->ready);
		notify_say(&s->notify, "READY=1\nSTATUS=Serves");
		rc = listener_run(s->d.se, &s->d.fs, s->opt->max_threads);
	}
	notify_say(&s->notify, "STOPPING=1\nSTATUS=Stops");
	waiting_locks_free(s->d.waiting_locks);
	if (!inval_queue_stop(s->d.inval_queue, INVAL_QUEUE_STOP_MS))
		abort_mount(s);
	inval_queue_free(s->d.inval_queue);
	return rc;
}

static int mount_and_serve(struct server *s)
{
	struct fuse_daemon *d = &s->d;
	int rc;

	d->bypass_page = bypass_page_new(d, s->opt);
	d->se = fuse_session_new((struct fuse_args *)(uintptr_t)&s->opt->fuse,
				 &ops, sizeof(ops), d);
	if (!d->se)
		return -EINVAL;
	rc = fuse_set_signal_handlers(d->se) ? -errno : 0;
	if (!rc && fuse_session_mount(d->se, s->opt->dir)) {
		rc = -EIO; /* logged by libfuse */
		mount_point_log_refused(s->opt->dir, s->log);
	}
	if (!rc) {
		rc = serve_mounted(s);
		fuse_session_unmount(d->se);
	}
	fuse_remove_signal_handlers(d->se);
	fuse_session_destroy(d->se);
	return rc;
}

static int fuse_daemon_init(struct fuse_daemon *d, const struct options *opt)
{
	d->cache = opt->cache;
	d->attr_timeout = opt->attr_timeout;
	d->entry_timeout = opt->entry_timeout;
	d->default_permissions = opt->default_permissions;
	d->atime = !(opt->flags & (MS_RDONLY | MS_NOATIME));
	d->mounts_watch = -1;
	pthread_mutex_init(&d->mounts_lock, NULL);
	d->per_user = !geteuid();
	d->dentry_cache = dentry_cache_new(opt->entry_timeout);
	d->fsync_errors = fsync_errors_new();
	d->inflight_io = inflight_io_new();
	d->inode_cache = inode_cache_new();
	d->lock_owners = lock_owners_new();
	d->thread_hints = thread_hints_new();
	if (!d->dentry_cache || !d->fsync_errors || !d->inflight_io ||
	    !d->inode_cache || !d->lock_owners || !d->thread_hints)
		return -ENOMEM;
	return data_init();
}

static int run_server(void *arg, int ready)
{
	struct server *s = arg;
	int rc = fuse_daemon_init(&s->d, s->opt);
	struct stale_sessions left;

	s->ready = ready;
	stale_sessions_record(&left, &s->d.fs);
	if (!rc)
		rc = find_root(&s->d);
	if (rc)
		log_error(s->log, "%s: %s", s->opt->source, strerror(-rc));
	else {
		stale_sessions_end(&s->d.fs);
		rc = mount_and_serve(s);
	}
	fs_leave(&s->d.fs);
	unsynced_free(&s->d.fs);
	if (s->d.mounts_watch >= 0)
		close(s->d.mounts_watch);
	pthread_mutex_destroy(&s->d.mounts_lock);
	stale_sessions_free(&left, &s->d.fs);
	bypass_page_free(s->d.bypass_page);
	thread_hints_free(s->d.thread_hints);
	lock_owners_free(s->d.lock_owners);
	inode_cache_free(s->d.inode_cache);
	inflight_io_free(s->d.inflight_io);
	fsync_errors_free(s->d.fsync_errors);
	dentry_cache_free(s->d.dentry_cache);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run_guarded(const struct options *opt, struct log *log,
		       const struct mount *mount)
{
	struct server s = { .d = { .log = log }, .opt = opt, .log = log };
	struct guard guard = { .foreground = opt->foreground,
			       .patience_ms = mount->timeout_ms,
			       .serve = run_server,
			       .release = abort_mount,
			       .arg = &s };
	int rc;

	s.minor = mmap(NULL, sizeof(*s.minor), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s.minor == MAP_FAILED)
		s.minor = NULL;
	fs_init(&s.d.fs, mount, log);
	rc = notify_open(&s.notify);
	if (rc)
		log_warn(log,
			 "NOTIFY_SOCKET: %s: cannot notify the service manager",
			 strerror(-rc));
	/* the kernel may send such calls one after another */
	s.d.fs.together = true;
	gid_lists_init(&s.d.gid_lists);
	s.d.fs.gid_lists = &s.d.gid_lists;
	s.d.fs.declares = true; /* the manager knows each file that is read */
	rc = guard_run(&guard);
	notify_close(&s.notify);
	gid_lists_destroy(&s.d.gid_lists);
	if (rc < 0)
		log_error(log, "cannot start the serving process: %s",
			  strerror(-rc));
	return rc < 0 ? EXIT_FAILURE : rc;
}

static void set_log(struct log *log)
{
	const char *name = secure_getenv("PVFS_LOG");

	if (name && !strcmp(name, "none"))
		log->sink = NULL;
	else if (name && log_level_parse(name, &log->level))
		log_warn(log,
			 "PVFS_LOG=%s: want error, warn, info, debug or none",
			 name);
}

/* mount(8) passes "nosuid" and "nodev" on to us, but not "suid" and "dev". */
static void log_limits(const struct options *opt, const struct log *log)
{
	if (opt->helper && !opt->limits_given)
		log_info(log,
			 "%s: nosuid and nodev hold: mount(8) does not pass "
			 "suid and dev on; write allow_suid,allow_dev for "
			 "these, or nosuid,nodev to not be told this",
			 opt->dir);
}

int main(int argc, char **argv)
{
	struct log_file file = { .out = stderr, .prefix = "pvfs-fuse" };
	struct log_budget budget = { 0 };
	struct log log = { LOG_LV_INFO, log_to_file, &file, &budget };
	struct pvfstab tab = { 0 };
	struct options opt;
	int rc = options_parse(argc, argv, &opt);

	set_log(&log);
	if (rc < 0 && opt.remount) {
		rc = *opt.pvfs_options && options_mount(&opt, &log, &tab);
		pvfstab_free(&tab);
		rc = rc || mount_point_remount(opt.dir, opt.flags_given,
					       opt.flags, &log)
			     ? EXIT_FAILURE
			     : EXIT_SUCCESS;
	} else if (rc < 0) {
		log_limits(&opt, &log);
		rc = mount_point_check(opt.dir, opt.nonempty, &log) ||
		     options_mount(&opt, &log, &tab);
		if (rc)
			rc = EXIT_FAILURE;
		else if (!opt.fake)
			rc = run_guarded(&opt, &log, &tab.mount[0]);
		pvfstab_free(&tab);
	}
	options_free(&opt);
	return rc;
}
