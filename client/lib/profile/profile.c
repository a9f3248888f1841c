/* SPDX-License-Identifier: BSD-2-Clause */
/* profile.c - the profile of the process, see profile.h. */
#include "client/lib/profile/profile_int.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/util/process_limits.h"

_Atomic(struct profile *) profile_active;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct log *first_log;

/* PVFS_PROFILE_SIGNAL: set by its handler */
atomic_int profile_asked;

/* ---- fork ---- */

static void fork_prepare(void)
{
	pthread_mutex_lock(&atomic_load(&profile_active)->lock);
}

static void fork_parent(void)
{
	pthread_mutex_unlock(&atomic_load(&profile_active)->lock);
}

/* The child counts from 0; its files keep their numbers. */
static void fork_child(void)
{
	struct profile *p = atomic_load(&profile_active);

	p->pid = getpid();
	p->child = true;
	p->begun = clock_now();
	p->wall = clock_wall();
	p->written[0] = 0;
	p->failed = false;
	p->left_out = 0;
	atomic_store(&profile_asked, 0);
	madvise(p->shard, sizeof(p->shard), MADV_DONTNEED);
	pthread_mutex_unlock(&p->lock);
}

/* ---- the signal ---- */

/* The next call that ends writes the profile. */
static void on_profile_signal(int sig)
{
	atomic_store_explicit(&profile_asked, 1, memory_order_relaxed);
}

/* Accepts only signals without another meaning for programs. */
static int parse_signal(const char *text)
{
	static const struct {
		const char *name;
		int sig;
	} known[] = {
		{ "USR1", SIGUSR1 },
		{ "USR2", SIGUSR2 },
		{ "URG", SIGURG },
		{ "WINCH", SIGWINCH },
	};
	char *end;
	long n = strtol(text, &end, 10);
	unsigned int i;

	if (!strncmp(text, "SIG", 3))
		text += 3;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(text, known[i].name) ||
		    (!*end && n == known[i].sig))
			return known[i].sig;
	}
	return !*end && n >= SIGRTMIN && n <= SIGRTMAX ? (int)n : -1;
}

/* Installs the handler, if the program has none. */
static void profile_signal(const struct log *log)
{
	const char *text = secure_getenv("PVFS_PROFILE_SIGNAL");
	const struct sigaction ours = { .sa_handler = on_profile_signal,
					.sa_flags = SA_RESTART };
	struct sigaction before;
	int sig;

	if (!text || !*text)
		return;
	sig = parse_signal(text);
	if (sig < 0) {
		log_warn(log,
			 "PVFS_PROFILE_SIGNAL=%s: want USR1, USR2, URG, WINCH "
			 "or the number of a real-time signal",
			 text);
		return;
	}
	if (sigaction(sig, NULL, &before) || before.sa_handler != SIG_DFL)
		log_warn(log,
			 "PVFS_PROFILE_SIGNAL=%s: the program handles it itself",
			 text);
	else
		sigaction(sig, &ours, NULL);
}

/* ---- initialisation ---- */

static struct profile *profile_map(const struct log *log)
{
	struct profile *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				 -1, 0);

	if (p == MAP_FAILED) {
		log_warn(log, "PVFS_PROFILE: no memory: nothing is counted");
		return NULL;
	}
	/* only a few of its pages are used */
	madvise(p, sizeof(*p), MADV_NOHUGEPAGE);
	return p;
}

static void profile_init(void)
{
	const char *given = secure_getenv("PVFS_PROFILE");
	const struct log *log = first_log;
	struct profile *p;
	int rc;

	if (!given || !*given || !strcmp(given, "0"))
		return;
	p = profile_map(log);
	if (!p)
		return;
	p->log = log;
	p->pid = getpid();
	p->begun = clock_now();
	p->wall = clock_wall();
	pthread_mutex_init(&p->lock, NULL);
	rc = profile_path(given, p->path);
	if (rc)
		log_warn(log, "PVFS_PROFILE=%s: %s: nothing is counted", given,
			 strerror(-rc));
	atomic_store(&profile_active, rc ? NULL : p);
	if (rc || pthread_atfork(fork_prepare, fork_parent, fork_child)) {
		atomic_store(&profile_active, NULL);
		munmap(p, sizeof(*p));
		return;
	}
	profile_signal(log);
}

void profile_begin(const struct log *log)
{
	int saved = errno;

	if (!first_log)
		first_log = log;
	pthread_once(&once, profile_init);
	errno = saved;
}

/* ---- files ---- */

/* Called with the lock. */
static unsigned int profile_add_file(struct profile *p, uint16_t *bucket,
				     uint64_t fsid, uint64_t handle)
{
	unsigned int place = PROFILE_FIRST + p->files;

	if (p->files == PROFILE_FILES) {
		p->left_out++;
		return PROFILE_REST;
	}
	p->files++;
	p->name[place].fsid = fsid;
	p->name[place].handle = handle;
	*bucket = (uint16_t)place;
	return place;
}

/* Handles are random, so they need no hash. */
static unsigned int profile_find_file(struct profile *p, uint64_t fsid,
				      uint64_t handle)
{
	unsigned int i = handle % PROFILE_BUCKETS, place;

	while ((place = p->bucket[i])) {
		if (p->name[place].handle == handle &&
		    p->name[place].fsid == fsid)
			return place;
		i = (i + 1) % PROFILE_BUCKETS;
	}
	return profile_add_file(p, &p->bucket[i], fsid, handle);
}

unsigned int profile_file(uint64_t fsid, uint64_t handle, uint32_t ssize,
			  uint32_t pcount)
{
	struct profile *p = atomic_load(&profile_active);
	unsigned int place;

	if (!p)
		return PROFILE_NAMES;
	pthread_mutex_lock(&p->lock);
	place = profile_find_file(p, fsid, handle);
	if (place != PROFILE_REST) {
		p->name[place].ssize = ssize;
		p->name[place].pcount = pcount;
	}
	pthread_mutex_unlock(&p->lock);
	return place;
}

void profile_named(unsigned int file, const char *name, int how)
{
	struct profile *p = atomic_load(&profile_active);
	struct profile_name *n;

	if (!p || file < PROFILE_FIRST)
		return;
	n = &p->name[file];
	atomic_fetch_or(&n->how, (how & O_ACCMODE) == O_RDONLY	 ? 1u
				 : (how & O_ACCMODE) == O_WRONLY ? 2u
								 : 3u);
	pthread_mutex_lock(&p->lock);
	if (!n->name[0] && name) {
		n->cut = strlen(name) >= sizeof(n->name);
		strncpy(n->name, name, sizeof(n->name) - 1);
	}
	pthread_mutex_unlock(&p->lock);
}

/* ---- writing ---- */

static bool did_nothing(struct profile *p)
{
	struct profile_record sum;
	unsigned int i, k;

	for (i = 0; i < PROFILE_FIRST + p->files; i++) {
		profile_sum(p, i, &sum);
		for (k = 0; k < PROFILE_KINDS; k++) {
			if (sum.calls[k])
				return false;
		}
	}
	return true;
}

/*
 * Writes a new file and renames it over the last one.  An existing file with the
 * temporary name belongs to a killed process, or another user placed it there.
 */
static int profile_rewrite(struct profile *p)
{
	char next[sizeof(p->written) + 8];
	int fd, rc;

	snprintf(next, sizeof(next), "%s.new", p->written);
	fd = profile_new_file(next);
	if (fd == -EEXIST && !unlink(next))
		fd = profile_new_file(next);
	if (fd < 0)
		return fd;
	rc = profile_json(p, fd);
	close(fd);
	if (!rc && rename(next, p->written))
		rc = -errno;
	if (rc)
		unlink(next);
	return rc;
}

static int write_it(struct profile *p)
{
	int fd, rc;

	if (p->written[0])
		return profile_rewrite(p);
	fd = profile_create(p);
	if (fd < 0)
		return fd;
	rc = profile_json(p, fd);
	close(fd);
	if (rc) {
		unlink(p->written);
		p->written[0] = 0;
	}
	return rc;
}

/* Prevents RLIMIT_FSIZE from ending the program with SIGXFSZ. */
static int write_quietly(struct profile *p)
{
	struct file_limit limit;
	int rc;

	file_limit_begin(&limit);
	rc = write_it(p);
	file_limit_end(&limit, rc);
	return rc;
}

void profile_write(void)
{
	struct profile *p = atomic_load(&profile_active);
	int saved = errno, cancel, rc;

	if (!p || p->pid != getpid())
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&p->lock);
	rc = p->failed || did_nothing(p) ? 0 : write_quietly(p);
	if (rc) {
		p->failed = true;
		log_warn(p->log, "PVFS_PROFILE=%s: %s: no profile is written",
			 p->path, strerror(-rc));
	}
	pthread_mutex_unlock(&p->lock);
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
}

void profile_count(const struct profile_call *call)
{
	struct profile *p = atomic_load(&profile_active);

	if (!p)
		return;
	profile_shard_count(p, call, clock_now());
	if (atomic_load_explicit(&profile_asked, memory_order_relaxed) &&
	    atomic_exchange(&profile_asked, 0))
		profile_write();
}
