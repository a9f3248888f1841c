/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counter.c - the table of pages in use, and changes.  The table's lock is never held
 * over the disk; a page's own is, by who needs the disk for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/boot_id.h"
#include "server/counter/counter_int.h"

struct counters {
	struct counters_attr attr;
	uint64_t boot;
	int dirfd;
	pthread_mutex_t lock; /* of the rest */
	struct counter_file *files;
	TAILQ_HEAD(, counter_file) idle; /* the longest first */
	unsigned int nidle;
};

/* ---- open and close ---- */

static int open_dir(struct counters *counters)
{
	int rc, fd = open(counters->attr.dir,
			  O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	rc = mkdirat(fd, "counters", 0700) && errno != EEXIST ? -errno : 0;
	if (!rc) {
		counters->dirfd = openat(fd, "counters",
					 O_RDONLY | O_DIRECTORY | O_CLOEXEC |
						 O_NOFOLLOW);
		rc = counters->dirfd < 0 ? -errno : 0;
	}
	if (!rc && !counters->attr.in_memory && fsync(fd))
		rc = -errno;
	close(fd);
	return rc;
}

int counters_open(const struct counters_attr *attr, struct counters **out)
{
	struct counters *counters = calloc(1, sizeof(*counters));
	int rc;

	if (!counters)
		return -ENOMEM;
	counters->attr = *attr;
	counters->dirfd = -1;
	pthread_mutex_init(&counters->lock, NULL);
	TAILQ_INIT(&counters->idle);
	rc = boot_id(&counters->boot);
	if (!rc)
		rc = open_dir(counters);
	if (!rc) {
		*out = counters;
		return 0;
	}
	log_error(
		attr->log,
		"cannot make or open %s/counters: %s; it has to be a directory "
		"that this user may write to",
		attr->dir, strerror(-rc));
	counters_close(counters);
	return rc;
}

static void file_free(struct counter_file *f)
{
	lent_take_all(f);
	if (f->map.page)
		counter_unmap(&f->map);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

/* Nothing is left out over an orderly end of the host. */
static void settle(const struct counters *counters, struct counter_file *f)
{
	unsigned int i;
	int rc;

	lent_take_all(f);
	if (!f->map.page || counters->attr.in_memory)
		return;
	for (i = 0; i < WIRE_COUNTERS; i++)
		f->map.page->slot[i].ceiling = f->map.page->slot[i].value;
	rc = counter_flush(&f->map);
	if (rc)
		log_warn(counters->attr.log,
			 "the counters of %016llx do not get to the disk: %s; "
			 "they may leave values out",
			 (unsigned long long)f->handle, strerror(-rc));
}

void counters_close(struct counters *counters)
{
	struct counter_file *f, *next;

	if (!counters)
		return;
	HASH_ITER(hh, counters->files, f, next) {
		HASH_DEL(counters->files, f);
		settle(counters, f);
		file_free(f);
	}
	if (counters->dirfd >= 0)
		close(counters->dirfd);
	pthread_mutex_destroy(&counters->lock);
	free(counters);
}

/* ---- the table ---- */

static struct counter_file *file_new(uint64_t handle)
{
	struct counter_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->handle = handle;
	pthread_mutex_init(&f->lock, NULL);
	return f;
}

/* With the lock. */
static struct counter_file *find(struct counters *counters, uint64_t handle)
{
	struct counter_file *f;

	HASH_FIND(hh, counters->files, &handle, sizeof(handle), f);
	return f;
}

static struct counter_file *add(struct counters *counters, uint64_t handle)
{
	struct counter_file *f = file_new(handle);

	if (!f)
		return NULL;
	HASH_ADD(hh, counters->files, handle, sizeof(f->handle), f);
	if (find(counters, handle) == f)
		return f;
	file_free(f);
	return NULL;
}

static void use(struct counters *counters, struct counter_file *f)
{
	if (f->users++ || !f->map.page)
		return;
	TAILQ_REMOVE(&counters->idle, f, idle);
	counters->nidle--;
}

/* NULL: there is none, or (make) no memory. */
static struct counter_file *get(struct counters *counters, uint64_t handle,
				bool make)
{
	struct counter_file *f;

	pthread_mutex_lock(&counters->lock);
	f = find(counters, handle);
	if (!f && make)
		f = add(counters, handle);
	if (f)
		use(counters, f);
	pthread_mutex_unlock(&counters->lock);
	return f;
}

/* With the lock.  Which one is to be freed, or NULL. */
static struct counter_file *unuse(struct counters *counters,
				  struct counter_file *f)
{
	if (--f->users)
		return NULL;
	if (f->removed)
		return f;
	if (f->map.page) {
		TAILQ_INSERT_TAIL(&counters->idle, f, idle);
		if (++counters->nidle <= COUNTERS_OPEN)
			return NULL;
		f = TAILQ_FIRST(&counters->idle);
		TAILQ_REMOVE(&counters->idle, f, idle);
		counters->nidle--;
	}
	HASH_DEL(counters->files, f);
	return f;
}

static void put(struct counters *counters, struct counter_file *f)
{
	pthread_mutex_lock(&counters->lock);
	f = unuse(counters, f);
	pthread_mutex_unlock(&counters->lock);
	if (f)
		file_free(f);
}

/* ---- changes: with the file's lock ---- */

int64_t counter_above(int64_t value, int64_t add)
{
	int64_t ahead;

	if (__builtin_mul_overflow(add, (int64_t)COUNTER_AHEAD, &ahead))
		return INT64_MAX;
	if (ahead < (int64_t)COUNTER_LEAST)
		ahead = COUNTER_LEAST;
	return __builtin_add_overflow(value, ahead, &ahead) ? INT64_MAX : ahead;
}

int counter_raise(const struct counters *counters, struct counter_file *f,
		  unsigned int number, int64_t ceiling)
{
	struct counter_page *page = f->map.page;
	int64_t before = page->slot[number].ceiling;
	int rc;

	page->slot[number].ceiling = ceiling;
	page->boot = counters->boot;
	rc = counter_flush(&f->map);
	if (!rc)
		return 0;
	page->slot[number].ceiling = before;
	page->boot = COUNTER_UNSURE;
	return rc;
}

static bool is_below(const struct counters *counters,
		     const struct counter_file *f,
		     const struct counter_change *c, int64_t value)
{
	const struct counter_page *page = f->map.page;

	return !c->set && page->boot == counters->boot &&
	       value <= page->slot[c->number].ceiling;
}

static int store(const struct counters *counters, struct counter_file *f,
		 const struct counter_change *c, bool quick, int64_t value)
{
	int rc = 0;

	if (!counters->attr.in_memory && !is_below(counters, f, c, value)) {
		if (quick)
			return -EAGAIN;
		rc = counter_raise(counters, f, c->number,
				   c->set ? value
					  : counter_above(value, c->value));
	}
	if (!rc)
		f->map.page->slot[c->number].value = value;
	return rc;
}

static int change(const struct counters *counters, struct counter_file *f,
		  const struct counter_change *c, bool quick, int64_t *old)
{
	int64_t before, value = c->value;
	int rc;

	if (lent_is(f, c->number)) {
		if (counter_only_reads(c))
			return lent_read(counters, f, c->number, quick, old);
		if (quick)
			return -EAGAIN;
		lent_take_back(f, c->number);
	}
	before = f->map.page->slot[c->number].value;
	if (!c->set && __builtin_add_overflow(before, c->value, &value))
		return -EOVERFLOW;
	rc = counter_only_reads(c) ? 0 : store(counters, f, c, quick, value);
	if (!rc)
		*old = before;
	return rc;
}

static int map(const struct counters *counters, struct counter_file *f,
	       bool create)
{
	int rc;

	if (f->map.page)
		return 0;
	rc = counter_map(counters->dirfd, f->handle, create, counters->boot,
			 !counters->attr.in_memory, &f->map);
	if (rc && rc != -ENOENT)
		log_error(counters->attr.log,
			  "cannot open %s/counters/%016llx: %s%s",
			  counters->attr.dir, (unsigned long long)f->handle,
			  strerror(-rc),
			  rc == -EUCLEAN
				  ? "; it is damaged: remove it, and its "
				    "counters begin at 0 again"
				  : "");
	return rc;
}

static int change_file(struct counters *counters, struct counter_file *f,
		       const struct counter_change *c, int64_t *old)
{
	int rc;

	pthread_mutex_lock(&f->lock);
	rc = map(counters, f, !counter_only_reads(c));
	if (!rc)
		rc = change(counters, f, c, false, old);
	pthread_mutex_unlock(&f->lock);
	if (rc != -ENOENT)
		return rc;
	*old = 0;
	return 0;
}

static int change_quick(struct counters *counters, struct counter_file *f,
			const struct counter_change *c, int64_t *old)
{
	int rc = -EAGAIN;

	if (pthread_mutex_trylock(&f->lock))
		return rc;
	if (f->map.page)
		rc = change(counters, f, c, true, old);
	pthread_mutex_unlock(&f->lock);
	return rc;
}

int counter_change(struct counters *counters, const struct counter_change *c,
		   bool quick, int64_t *old)
{
	struct counter_file *f = get(counters, c->handle, !quick);
	int rc;

	if (!f)
		return quick ? -EAGAIN : -ENOMEM;
	rc = quick ? change_quick(counters, f, c, old)
		   : change_file(counters, f, c, old);
	put(counters, f);
	return rc;
}

int counter_lend(struct counters *counters, const struct counter_wish *wish,
		 struct counter_place *place)
{
	struct counter_file *f = get(counters, wish->handle, true);
	int rc;

	if (!f)
		return -ENOMEM;
	pthread_mutex_lock(&f->lock);
	rc = map(counters, f, true);
	if (!rc)
		rc = lent_place(counters, f, wish, place);
	pthread_mutex_unlock(&f->lock);
	put(counters, f);
	return rc;
}

void counters_remove(struct counters *counters, uint64_t handle)
{
	struct counter_file *f;
	int rc;

	pthread_mutex_lock(&counters->lock);
	f = find(counters, handle);
	if (f) {
		use(counters, f);
		HASH_DEL(counters->files, f);
		f->removed = true;
	}
	pthread_mutex_unlock(&counters->lock);
	if (f)
		put(counters, f);
	rc = counter_unlink(counters->dirfd, handle);
	if (rc)
		log_warn(
			counters->attr.log,
			"cannot remove %s/counters/%016llx: %s; nothing needs it",
			counters->attr.dir, (unsigned long long)handle,
			strerror(-rc));
}
