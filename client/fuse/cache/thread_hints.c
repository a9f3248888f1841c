/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_hints.c - see thread_hints.h. */
#include "client/fuse/cache/thread_hints.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "common/util/clock.h"
#include "common/util/hash_table.h"

#define LISTS 256u
#define THREADS_PER_LIST 8u /* more only if truncations are due */
#define ATTR_NS CLOCK_NS_PER_MS /* the kernel asks again immediately */
/*
 * How long the failure of a request is remembered.  The kernel repeats such a request
 * immediately.  A program that tries again within this time may get the same reply.
 */
#define REPEAT_NS (500 * CLOCK_NS_PER_MS)

/* The hints of a thread; each is valid until a time, 0: there is none. */
struct hinted_thread {
	pid_t thread;
	struct kernel_truncate truncate;

	uint64_t attr_until;
	uint64_t changes; /* of a directory: valid only at this count; else 0 */
	struct stat attr;

	uint64_t failed_until;
	uint64_t failed; /* thread_hints_request() */

	LIST_ENTRY(hinted_thread) link;
};
LIST_HEAD(hinted_list, hinted_thread);

struct thread_hints {
	_Atomic uint64_t changes; /* answered so far, plus 1 */
	/* in all lists; mostly 0, so that requests need no lock */
	atomic_uint n;

	pthread_mutex_t lock; /* protects all below */
	struct hinted_list list[LISTS];
};

struct thread_hints *thread_hints_new(void)
{
	struct thread_hints *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	pthread_mutex_init(&h->lock, NULL);
	atomic_init(&h->changes, 1);
	for (unsigned int i = 0; i < LISTS; i++)
		LIST_INIT(&h->list[i]);
	return h;
}

/* ---- the threads of a list: called with the lock ---- */

static void hinted_delete(struct thread_hints *h, struct hinted_thread *t)
{
	LIST_REMOVE(t, link);
	free(t);
	h->n--;
}

void thread_hints_free(struct thread_hints *h)
{
	struct hinted_thread *t;

	if (!h)
		return;
	for (unsigned int i = 0; i < LISTS; i++)
		while ((t = LIST_FIRST(&h->list[i])))
			hinted_delete(h, t);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

static bool is_expired(const struct hinted_thread *t, uint64_t now)
{
	return now >= t->truncate.until && now >= t->attr_until &&
	       now >= t->failed_until;
}

static struct hinted_list *list_of(struct thread_hints *h, pid_t thread)
{
	return &h->list[(unsigned int)thread % LISTS];
}

/* Returns NULL if the thread has no hints.  Deletes expired ones of its list. */
static struct hinted_thread *hinted_find(struct thread_hints *h, pid_t thread)
{
	struct hinted_thread *t = LIST_FIRST(list_of(h, thread)), *next,
			     *found = NULL;
	uint64_t now = clock_now();

	for (; t; t = next) {
		next = LIST_NEXT(t, link);
		if (is_expired(t, now))
			hinted_delete(h, t);
		else if (t->thread == thread)
			found = t;
	}
	return found;
}

/* Keeps the newest threads of the list, and all with a truncation that is due. */
static void trim_list(struct thread_hints *h, struct hinted_list *list)
{
	struct hinted_thread *t = LIST_FIRST(list), *next;

	for (unsigned int n = 0; t; t = next) {
		next = LIST_NEXT(t, link);
		if (++n >= THREADS_PER_LIST && clock_now() >= t->truncate.until)
			hinted_delete(h, t);
	}
}

/* Returns the thread's hints, which may be new; NULL: no memory. */
static struct hinted_thread *hinted_get(struct thread_hints *h, pid_t thread)
{
	struct hinted_list *list = list_of(h, thread);
	struct hinted_thread *t = hinted_find(h, thread);

	if (t)
		return t;
	trim_list(h, list);
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->thread = thread;
	LIST_INSERT_HEAD(list, t, link);
	h->n++;
	return t;
}

static void take_hints(struct thread_hints *h, struct hinted_thread *t,
		       struct thread_hint *hint)
{
	uint64_t now = clock_now();

	if (now < t->truncate.until)
		hint->truncate = t->truncate;
	hint->has_attr = now < t->attr_until &&
			 (!t->changes || t->changes == h->changes);
	if (hint->has_attr)
		hint->attr = t->attr;
	t->truncate = (struct kernel_truncate){ 0 };
	t->attr_until = 0;
	if (is_expired(t, now))
		hinted_delete(h, t);
}

void thread_hints_take(struct thread_hints *h, pid_t thread,
		       struct thread_hint *hint)
{
	struct hinted_thread *t;

	hint->truncate = (struct kernel_truncate){ 0 };
	hint->has_attr = false;
	if (!h->n)
		return;
	pthread_mutex_lock(&h->lock);
	t = hinted_find(h, thread);
	if (t)
		take_hints(h, t, hint);
	pthread_mutex_unlock(&h->lock);
}

/* ---- the kernel's truncation ---- */

/*
 * Returns the truncation with the higher end.  If several requests of one write fail, the
 * kernel's end of file is the highest one.  Truncations of two files: returns b.
 */
static struct kernel_truncate later_of(const struct kernel_truncate *a,
				       const struct kernel_truncate *b)
{
	return a->file != b->file || b->end >= a->end ? *b : *a;
}

void thread_hints_expect_truncate(struct thread_hints *h, pid_t thread,
				  const struct kernel_truncate *due)
{
	struct hinted_thread *t;

	pthread_mutex_lock(&h->lock);
	t = hinted_get(h, thread);
	if (t && clock_now() >= t->truncate.until)
		t->truncate = *due;
	else if (t)
		t->truncate = later_of(&t->truncate, due);
	pthread_mutex_unlock(&h->lock);
}

int kernel_truncate_check(const struct kernel_truncate *due, uint64_t file,
			  uint64_t size)
{
	if (!due->file || due->file != file)
		return 0;
	if (due->end == KERNEL_TRUNCATE_UNKNOWN)
		return -EINTR;
	return size == due->end;
}

/* ---- attributes ---- */

static void set_attr(struct thread_hints *h, pid_t thread,
		     const struct stat *st, uint64_t changes, uint64_t until)
{
	struct hinted_thread *t;

	if (!thread)
		return;
	pthread_mutex_lock(&h->lock);
	t = hinted_get(h, thread);
	if (t) {
		t->attr = *st;
		t->attr_until = until;
		t->changes = changes;
	}
	pthread_mutex_unlock(&h->lock);
}

void thread_hints_set_attr(struct thread_hints *h, pid_t thread,
			   const struct stat *st)
{
	set_attr(h, thread, st, 0, clock_now() + ATTR_NS);
}

uint64_t thread_hints_changes(const struct thread_hints *h)
{
	return atomic_load(&h->changes);
}

void thread_hints_count_change(struct thread_hints *h)
{
	atomic_fetch_add(&h->changes, 1);
}

/* Another change that was answered meanwhile may be the later one. */
void thread_hints_set_dir_attr(struct thread_hints *h, pid_t thread,
			       const struct stat *st, uint64_t changes,
			       uint64_t until)
{
	if (atomic_compare_exchange_strong(&h->changes, &changes, changes + 1))
		set_attr(h, thread, st, changes + 1, until);
	else
		thread_hints_count_change(h);
}

/* ---- repeated requests ---- */

uint64_t thread_hints_request(uint64_t dir, const char *name)
{
	return fnv_text(dir, name);
}

void thread_hints_set_failed(struct thread_hints *h, pid_t thread,
			     uint64_t request)
{
	struct hinted_thread *t;

	if (!thread)
		return;
	pthread_mutex_lock(&h->lock);
	t = hinted_get(h, thread);
	if (t) {
		t->failed = request;
		t->failed_until = clock_now() + REPEAT_NS;
	}
	pthread_mutex_unlock(&h->lock);
}

bool thread_hints_has_failed(struct thread_hints *h, pid_t thread,
			     uint64_t request)
{
	const struct hinted_thread *t;
	bool has;

	if (!thread || !h->n)
		return false;
	pthread_mutex_lock(&h->lock);
	t = hinted_find(h, thread);
	has = t && t->failed == request && clock_now() < t->failed_until;
	pthread_mutex_unlock(&h->lock);
	return has;
}
