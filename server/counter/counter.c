/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counter.c - the table of files with counters, and changes of counters.  The table's lock is
 * never held during a disk access; the lock of a file is.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/incarnation.h"
#include "common/util/hash_table.h"
#include "server/counter/counter_atomic.h"

struct counter_file {
	struct object_key key;
	UT_hash_handle hh;
	unsigned int users; /* this and the next two: the table's lock */
	bool removed; /* from the table */
	TAILQ_ENTRY(counter_file) idle; /* if there are no users */
	pthread_mutex_t lock; /* of the rest */
	struct counter_map map;
	struct counter_atomics atomics;
};

struct counters {
	struct counters_attr attr;
	uint64_t boot; /* id of the current boot */
	int dirfd;
	pthread_mutex_t lock; /* of the rest */
	struct counter_file *files;
	TAILQ_HEAD(, counter_file) idle; /* the longest idle first */
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

static void free_file(struct counter_file *f)
{
	counter_atomic_revoke_all(&f->atomics, &f->map);
	if (f->map.page)
		counter_page_unmap(&f->map);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

/*
 * Revokes the counters from the RDMA devices, and lowers each ceiling on the disk to the exact
 * value.  So an orderly restart of the host skips no values.
 */
static void save_exact_values(const struct counters *counters,
			      struct counter_file *f)
{
	unsigned int i;
	int rc;

	counter_atomic_revoke_all(&f->atomics, &f->map);
	if (!f->map.page || counters->attr.in_memory)
		return;
	for (i = 0; i < WIRE_COUNTERS; i++)
		f->map.page->slot[i].ceiling = f->map.page->slot[i].value;
	rc = counter_page_flush(&f->map);
	if (rc)
		log_warn(counters->attr.log,
			 "cannot write the counters of %s to the disk: %s; "
			 "they may skip values",
			 object_key_text(f->key).s, strerror(-rc));
}

void counters_close(struct counters *counters)
{
	struct counter_file *f, *next;

	if (!counters)
		return;
	HASH_ITER(hh, counters->files, f, next) {
		HASH_DEL(counters->files, f);
		save_exact_values(counters, f);
		free_file(f);
	}
	if (counters->dirfd >= 0)
		close(counters->dirfd);
	pthread_mutex_destroy(&counters->lock);
	free(counters);
}

/* ---- the table ---- */

static struct counter_file *create_file(struct object_key key)
{
	struct counter_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->key = key;
	pthread_mutex_init(&f->lock, NULL);
	return f;
}

/* Called with the lock, like the next two functions. */
static struct counter_file *find_file(struct counters *counters,
				      struct object_key key)
{
	struct counter_file *f;

	HASH_FIND(hh, counters->files, &key, sizeof(key), f);
	return f;
}

static struct counter_file *add_file(struct counters *counters,
				     struct object_key key)
{
	struct counter_file *f = create_file(key);

	if (!f)
		return NULL;
	HASH_ADD(hh, counters->files, key, sizeof(f->key), f);
	if (find_file(counters, key) == f)
		return f;
	free_file(f);
	return NULL;
}

static void add_user(struct counters *counters, struct counter_file *f)
{
	if (f->users++ || !f->map.page)
		return;
	TAILQ_REMOVE(&counters->idle, f, idle);
	counters->nidle--;
}

/* NULL: not in the table, or, with create, no memory. */
static struct counter_file *get_file(struct counters *counters,
				     struct object_key key, bool create)
{
	struct counter_file *f;

	pthread_mutex_lock(&counters->lock);
	f = find_file(counters, key);
	if (!f && create)
		f = add_file(counters, key);
	if (f)
		add_user(counters, f);
	pthread_mutex_unlock(&counters->lock);
	return f;
}

/*
 * Releases a user's reference to f.  Called with the lock.  Returns a file that the caller frees,
 * or NULL.
 */
static struct counter_file *remove_user(struct counters *counters,
					struct counter_file *f)
{
	if (--f->users)
		return NULL;
	if (f->removed)
		return f;
	if (f->map.page) {
		TAILQ_INSERT_TAIL(&counters->idle, f, idle);
		if (++counters->nidle <= COUNTERS_MAPPED)
			return NULL;
		f = TAILQ_FIRST(&counters->idle);
		TAILQ_REMOVE(&counters->idle, f, idle);
		counters->nidle--;
	}
	HASH_DEL(counters->files, f);
	return f;
}

static void put_file(struct counters *counters, struct counter_file *f)
{
	pthread_mutex_lock(&counters->lock);
	f = remove_user(counters, f);
	pthread_mutex_unlock(&counters->lock);
	if (f)
		free_file(f);
}

/* ---- changes: with the file's lock ---- */

static bool is_below_ceiling(const struct counters *counters,
			     const struct counter_file *f,
			     const struct counter_change *c, int64_t value)
{
	const struct counter_page *page = f->map.page;

	return !c->set && page->boot == counters->boot &&
	       value <= page->slot[c->number].ceiling;
}

static int store_value(const struct counters *counters, struct counter_file *f,
		       const struct counter_change *c, bool quick,
		       int64_t value)
{
	bool limited = !counters->attr.in_memory || c->raise;
	int64_t limit;
	int rc = 0;

	if (limited && !is_below_ceiling(counters, f, c, value)) {
		if (quick)
			return -EAGAIN;
		limit = c->set ? value : counter_page_ceiling(value, c->value);
		rc = c->raise ? c->raise(c, limit) : 0;
		if (!rc)
			rc = counter_page_set_ceiling(&f->map, c->number,
						      limit);
	}
	if (!rc)
		f->map.page->slot[c->number].value = value;
	return rc;
}

static int change_value(const struct counters *counters, struct counter_file *f,
			const struct counter_change *c, bool quick,
			int64_t *old)
{
	int64_t before, value = c->value;
	int rc;

	if (counter_atomic_is_lent(&f->atomics, c->number)) {
		if (counter_change_is_read(c))
			return counter_atomic_read(&f->atomics, &f->map,
						   c->number, quick, old);
		if (quick)
			return -EAGAIN;
		counter_atomic_revoke(&f->atomics, &f->map, c->number);
	}
	before = f->map.page->slot[c->number].value;
	if (!c->set && __builtin_add_overflow(before, c->value, &value))
		return -EOVERFLOW;
	rc = counter_change_is_read(c)
		     ? 0
		     : store_value(counters, f, c, quick, value);
	if (!rc)
		*old = before;
	return rc;
}

static int map_file(const struct counters *counters, struct counter_file *f,
		    bool create)
{
	int rc;

	if (f->map.page)
		return 0;
	rc = counter_page_map(counters->dirfd, f->key, create, counters->boot,
			      !counters->attr.in_memory, &f->map);
	if (rc && rc != -ENOENT)
		log_error(counters->attr.log,
			  "cannot open %s/counters/%s: %s%s",
			  counters->attr.dir, object_key_text(f->key).s,
			  strerror(-rc),
			  rc == -EUCLEAN
				  ? "; it is damaged: remove it, and its "
				    "counters start at 0 again"
				  : "");
	return rc;
}

static int change_file(struct counters *counters, struct counter_file *f,
		       const struct counter_change *c, int64_t *old)
{
	int rc;

	pthread_mutex_lock(&f->lock);
	rc = map_file(counters, f, !counter_change_is_read(c));
	if (!rc)
		rc = change_value(counters, f, c, false, old);
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
		rc = change_value(counters, f, c, true, old);
	pthread_mutex_unlock(&f->lock);
	return rc;
}

int counter_change(struct counters *counters, const struct counter_change *c,
		   bool quick, int64_t *old)
{
	struct counter_file *f = get_file(counters, c->key, !quick);
	int rc;

	if (!f)
		return quick ? -EAGAIN : -ENOMEM;
	rc = quick ? change_quick(counters, f, c, old)
		   : change_file(counters, f, c, old);
	put_file(counters, f);
	return rc;
}

int counter_lend_to_device(struct counters *counters,
			   const struct counter_loan_request *request,
			   struct counter_loan *loan)
{
	struct counter_file *f = get_file(counters, request->key, true);
	int rc;

	if (!f)
		return -ENOMEM;
	pthread_mutex_lock(&f->lock);
	rc = map_file(counters, f, true);
	if (!rc)
		rc = counter_atomic_lend(&f->atomics, &f->map, request, loan);
	pthread_mutex_unlock(&f->lock);
	put_file(counters, f);
	return rc;
}

void counters_remove_file(struct counters *counters, struct object_key key)
{
	struct counter_file *f;
	int rc;

	pthread_mutex_lock(&counters->lock);
	f = find_file(counters, key);
	if (f) {
		add_user(counters, f);
		HASH_DEL(counters->files, f);
		f->removed = true;
	}
	pthread_mutex_unlock(&counters->lock);
	if (f)
		put_file(counters, f);
	rc = counter_page_unlink(counters->dirfd, key);
	if (rc)
		log_warn(counters->attr.log,
			 "cannot remove %s/counters/%s: %s; the file is no "
			 "longer needed",
			 counters->attr.dir, object_key_text(key).s,
			 strerror(-rc));
}
