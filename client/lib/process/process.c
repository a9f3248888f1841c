/* SPDX-License-Identifier: BSD-2-Clause */
/* process.c - the tables of the process, see process.h. */
#include "client/lib/process/process.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/lib/process/fdtable_int.h"
#include "client/lib/process/inherit.h"
#include "common/util/quiet_thread.h"
#include "client/lib/file/unsynced.h"

#define TIMEOUT_S 30
#define SETTLE_MS 2000 /* limit at the end of a program that made no call */

/* A page that the kernel clears in the child of a fork (MADV_WIPEONFORK). */
enum { FORKED, READY, MENDING };
struct marker {
	atomic_int state;
};

static struct process {
	pthread_once_t once;
	struct marker *marker;
	/* number of forks from the first process to this one */
	unsigned int forks;
	struct fdtable fds;
	struct pvfstab tab;
	struct fs *fs; /* tab.n elements */
	unsigned int timeout_ms;
	struct log_file err;
	struct user_log {
		void (*fn)(void *arg, int level, const char *msg);
		void *arg;
	} user;
	struct log log;
	bool log_set;
	struct inherited *inherited; /* state not taken over yet; or NULL */
} process = { .once = PTHREAD_ONCE_INIT };

/* ---- log ---- */

static void log_default(struct process *p)
{
	const char *name = secure_getenv("PVFS_LOG");

	if (p->log_set)
		return;
	p->err = (struct log_file){ stderr, "pvfs" };
	p->log = (struct log){ LOG_LV_WARN, log_to_file, &p->err };
	if (name && !strcmp(name, "none"))
		p->log.sink = NULL;
	else if (name && log_level_parse(name, &p->log.level))
		log_warn(&p->log,
			 "PVFS_LOG=%s: want error, warn, info, debug or none",
			 name);
}

static void log_to_user(void *arg, enum log_level level, const char *msg)
{
	const struct user_log *u = arg;

	u->fn(u->arg, (int)level, msg);
}

void pvfs_set_log(void (*fn)(void *arg, int level, const char *msg), void *arg,
		  int level)
{
	struct process *p = &process;

	p->log_set = fn != NULL;
	if (!fn) {
		log_default(p);
		return;
	}
	p->user = (struct user_log){ fn, arg };
	p->log = (struct log){ (enum log_level)level, log_to_user, &p->user };
}

/* ---- initialisation ---- */

static unsigned int timeout_from_env(const struct log *log)
{
	const char *text = secure_getenv("PVFS_TIMEOUT");
	char *end;
	unsigned long s;

	if (!text)
		return 0;
	s = strtoul(text, &end, 10);
	if (*end || !s || s > 86400) {
		log_warn(log,
			 "PVFS_TIMEOUT=%s: want 1 to 86400 seconds; using %d",
			 text, TIMEOUT_S);
		return 0;
	}
	return (unsigned int)s * 1000;
}

static bool cannot_be_read(const char *path)
{
	struct stat st;

	if (access(path, R_OK) || stat(path, &st))
		return true;
	if (!S_ISDIR(st.st_mode))
		return false;
	errno = EISDIR;
	return true;
}

static void mounts_load(struct process *p)
{
	const char *path = secure_getenv("PVFSTAB_FILE");
	unsigned int env = timeout_from_env(&p->log), i;

	p->timeout_ms = env ? env : TIMEOUT_S * 1000;
	if (path && cannot_be_read(path))
		log_warn(&p->log,
			 "PVFSTAB_FILE=%s: %s: no PVFS is mounted; name a "
			 "pvfstab(5), or unset it for /etc/pvfstab",
			 path, strerror(errno));
	if (pvfstab_load(path ? path : "/etc/pvfstab", p->timeout_ms, &p->log,
			 &p->tab))
		return;
	p->fs = calloc(p->tab.n, sizeof(*p->fs));
	if (!p->fs) {
		pvfstab_free(&p->tab);
		return;
	}
	for (i = 0; i < p->tab.n; i++) {
		if (env)
			p->tab.mount[i].timeout_ms = env;
		fs_init(&p->fs[i], &p->tab.mount[i], &p->log);
	}
}

/* Takes the locks, so that no thread is changing the tables at the fork. */
static void fork_prepare(void)
{
	unsigned int i;

	pthread_mutex_lock(&process.fds.lock);
	for (i = 0; i < process.tab.n; i++)
		fs_hold(&process.fs[i]);
}

static void fork_done(void)
{
	unsigned int i;

	for (i = process.tab.n; i-- > 0;)
		fs_release(&process.fs[i]);
	pthread_mutex_unlock(&process.fds.lock);
}

/*
 * A child that never calls the library does not keep its parent's connections open.  A
 * child that was not made by fork() gets here at its first call, if ever.  The servers
 * handle this case (docs/durability.md).
 */
static void fork_child(void)
{
	unsigned int i;

	fork_done();
	for (i = 0; i < process.tab.n; i++)
		fs_disown(&process.fs[i]);
}

static void marker_make(struct process *p)
{
	static struct marker never;
	long page = sysconf(_SC_PAGESIZE);
	void *m = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	p->marker = &never;
	if (m == MAP_FAILED || madvise(m, (size_t)page, MADV_WIPEONFORK))
		log_warn(&p->log,
			 "no mark for fork (%s): a child must not use "
			 "PVFS",
			 strerror(errno));
	else
		p->marker = m;
	atomic_store(&p->marker->state, READY);
}

/* ---- state of the previous program ---- */

static struct process *process_self(void);

/*
 * The servers wait for the sessions of the previous program as long as for those of a
 * killed one.  So connect now, before the new program makes its first call.
 */
static void *sessions_announce(void *arg)
{
	struct process *p = process_self();
	struct session *s;
	unsigned int i;

	for (i = 0; i < p->tab.n; i++) {
		if (!fs_has_unadopted(&p->fs[i]))
			continue;
		deadline_begin();
		if (!fs_session(&p->fs[i], &s))
			session_put(s);
	}
	return NULL;
}

static void take_over(struct process *p)
{
	struct inherited *in = p->inherited;

	p->inherited = NULL;
	if (in && inherit_take(in, &p->fds, p->fs, p->tab.n))
		quiet_thread(256u << 10, sessions_announce, NULL, NULL);
}

static void process_make(struct process *p)
{
	log_default(p);
	profile_begin(&p->log);
	fdtable_init(&p->fds);
	mounts_load(p);
	marker_make(p);
	pthread_atfork(fork_prepare, fork_done, fork_child);
}

/* ---- in the child of a fork ---- */

static void process_forked(struct process *p)
{
	unsigned int i;
	int fd;

	p->forks++;
	for (i = 0; i < p->tab.n; i++)
		fs_forked(&p->fs[i]);
	for (fd = 0; fd < p->fds.n; fd++) {
		if (p->fds.file[fd])
			file_forked(p->fds.file[fd]);
	}
	fdtable_forked(&p->fds);
}

static void process_init(void)
{
	int saved = errno;

	process_make(&process);
	take_over(&process);
	errno = saved;
}

static struct process *process_self(void)
{
	struct process *p = &process;
	int state = FORKED;

	pthread_once(&p->once, process_init);
	if (atomic_load_explicit(&p->marker->state, memory_order_acquire) ==
	    READY)
		return p;
	if (atomic_compare_exchange_strong(&p->marker->state, &state,
					   MENDING)) {
		process_forked(p);
		atomic_store(&p->marker->state, READY);
	}
	while (atomic_load(&p->marker->state) != READY)
		sched_yield();
	return p;
}

/*
 * A program without inherited state initialises the library at its first call.  This
 * constructor runs before those of libraries that contain this one and make calls.
 */
__attribute__((constructor(200))) static void process_begin(void)
{
	int saved = errno;

	process.inherited = inherit_find();
	if (process.inherited)
		process_self();
	errno = saved;
}

/* ---- end of the process ---- */

/*
 * Closes open files, as the kernel would, and tells the servers that the session ends.
 * Other threads may be inside calls, and destructors of other libraries may still make
 * calls.  Those find no mounts.
 */
__attribute__((destructor)) static void process_exit(void)
{
	struct process *p = &process;
	struct fdtable fds;
	unsigned int i, n;

	profile_write();
	if (!p->marker || atomic_load(&p->marker->state) != READY)
		return;
	if (pthread_mutex_trylock(&p->fds.lock))
		return;
	deadline_begin();
	fds = p->fds;
	p->fds.file = NULL;
	p->fds.n = 0;
	pthread_mutex_unlock(&p->fds.lock);
	fdtable_empty(&fds, file_put);
	n = p->tab.n;
	p->tab.n = 0;
	for (i = 0; i < n; i++) {
		fs_settle(&p->fs[i], SETTLE_MS);
		fs_leave(&p->fs[i]);
		unsynced_free(&p->fs[i]);
	}
}

/* ---- access for the calls ---- */

bool process_has_mounts(void)
{
	return process_self()->tab.n > 0;
}

struct fs *process_find(const char *path, const char **rest)
{
	struct process *p = process_self();
	const struct mount *m = pvfstab_find(&p->tab, path, rest);

	return m ? &p->fs[m - p->tab.mount] : NULL;
}

const struct mount *process_mount(unsigned int i)
{
	struct process *p = process_self();

	return i < p->tab.n ? &p->tab.mount[i] : NULL;
}

struct file *process_file(int fd)
{
	struct file *f = fdtable_get(&process_self()->fds, fd);

	if (f)
		deadline_begin_late();
	return f;
}

int process_reserve(bool cloexec)
{
	return fdtable_reserve(&process_self()->fds, cloexec);
}

int process_set(int fd, struct file *f)
{
	struct file *old;
	int rc = fdtable_set(&process_self()->fds, fd, f, &old);

	if (old)
		file_put(old);
	return rc;
}

void process_cloexec(int fd)
{
	fdtable_look(&process_self()->fds, fd);
}

void process_show_dev(int dir, const char *path, int flags, struct stat *st)
{
	if (process_has_mounts())
		st->st_dev = mounted_find(dir, path, flags, st->st_dev,
					  st->st_ino);
}

const struct log *process_log(void)
{
	return &process_self()->log;
}

unsigned int process_timeout_ms(void)
{
	return process_self()->timeout_ms;
}

unsigned int process_forks(void)
{
	return process_self()->forks;
}
