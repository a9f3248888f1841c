/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fence_list.c - the fenced sessions, and the manager that the iod obeys.  Fences take effect at
 * once in memory, and are then written to the file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/store/store_int.h"

#define CAPACITY (FENCE_PAGES * FENCE_PAGE_IDS)
_Static_assert(CAPACITY >= STORE_FENCE_MAX + FENCE_PAGE_IDS, "room for all");

/* The oldest fence that is still known. */
static uint64_t first_known(const struct fence_list *list)
{
	return list->count > CAPACITY - FENCE_PAGE_IDS
		       ? list->count - (CAPACITY - FENCE_PAGE_IDS)
		       : 0;
}

static bool list_has(const struct fence_list *list, uint64_t session)
{
	uint64_t i;

	for (i = first_known(list); i < list->count; i++)
		if (list->ids[i % CAPACITY] == session)
			return true;
	return false;
}

static void load_head(struct fence_list *list)
{
	const struct fence_head *head = &list->head;
	uint64_t part = head->count % FENCE_PAGE_IDS;

	list->count = list->written = head->count;
	list->term = head->term;
	list->claimer = head->claimer;
	for (uint64_t i = 0; i < part; i++)
		list->ids[(head->count - part + i) % CAPACITY] = head->ids[i];
}

int store_fence_load(struct object_store *store)
{
	struct fence_list *list = &store->fence;

	pthread_mutex_init(&list->lock, NULL);
	pthread_mutex_init(&list->file_lock, NULL);
	list->ids = calloc(CAPACITY, sizeof(list->ids[0]));
	if (!list->ids)
		return -ENOMEM;
	list->fd = fence_file_open(store->dirfd, &list->head, list->ids,
				   store->log);
	if (list->fd < 0)
		return list->fd;
	load_head(list);
	return 0;
}

void store_fence_free(struct object_store *store)
{
	struct fence_list *list = &store->fence;

	if (!list->ids)
		return;
	pthread_mutex_destroy(&list->file_lock);
	pthread_mutex_destroy(&list->lock);
	free(list->ids);
	if (list->fd >= 0)
		close(list->fd);
}

int store_fence_mark(struct object_store *store, uint64_t session)
{
	struct fence_list *list = &store->fence;
	int rc = 0;

	pthread_mutex_lock(&list->lock);
	if (!list_has(list, session)) {
		/* a fence that is not yet in the file is never dropped */
		if (list->count - list->written >= STORE_FENCE_MAX)
			rc = -ENOSPC;
		else
			list->ids[list->count++ % CAPACITY] = session;
	}
	pthread_mutex_unlock(&list->lock);
	return rc;
}

/*
 * Extends the head by the next fences that are not in the file, up to the end of a page.  0: there
 * were some; 1: there were none.
 */
static int next_step(struct fence_list *list, bool *page)
{
	struct fence_head *head = &list->head;
	bool more;

	pthread_mutex_lock(&list->lock);
	more = head->count < list->count;
	do {
		if (head->count == list->count)
			break;
		head->ids[head->count % FENCE_PAGE_IDS] =
			list->ids[head->count % CAPACITY];
		head->count++;
	} while (head->count % FENCE_PAGE_IDS);
	*page = more && head->count % FENCE_PAGE_IDS == 0;
	pthread_mutex_unlock(&list->lock);
	return more ? 0 : 1;
}

static int write_step(struct fence_list *list, bool page)
{
	struct fence_head *head = &list->head;
	int rc = 0;

	if (page)
		rc = fence_file_page(list->fd, head->count / FENCE_PAGE_IDS - 1,
				     head->ids);
	return rc ? rc : fence_file_head(list->fd, head);
}

static void set_written_count(struct fence_list *list, uint64_t count)
{
	pthread_mutex_lock(&list->lock);
	list->written = count;
	pthread_mutex_unlock(&list->lock);
}

/* Needs file_lock. */
static int write_pending(struct fence_list *list)
{
	uint64_t before = list->head.count;
	bool page;
	int rc;

	while (!(rc = next_step(list, &page))) {
		rc = write_step(list, page);
		if (rc) {
			list->head.count = before;
			return rc;
		}
		before = list->head.count;
		set_written_count(list, before);
	}
	return 0;
}

static int log_write_error(const struct object_store *store, int rc)
{
	if (rc)
		log_error(store->log,
			  "cannot write the file of the fenced sessions: %s",
			  strerror(-rc));
	return rc;
}

int store_fence_write(struct object_store *store)
{
	struct fence_list *list = &store->fence;
	int rc;

	pthread_mutex_lock(&list->file_lock);
	rc = write_pending(list);
	pthread_mutex_unlock(&list->file_lock);
	return log_write_error(store, rc);
}

int store_fence_add(struct object_store *store, uint64_t session)
{
	int rc = store_fence_mark(store, session);

	return rc ? rc : store_fence_write(store);
}

bool store_fence_has(struct object_store *store, uint64_t session)
{
	bool found;

	pthread_mutex_lock(&store->fence.lock);
	found = list_has(&store->fence, session);
	pthread_mutex_unlock(&store->fence.lock);
	return found;
}

void store_fence_each(struct object_store *store,
		      void (*fn)(void *arg, uint64_t session), void *arg)
{
	struct fence_list *list = &store->fence;
	uint64_t i;

	pthread_mutex_lock(&list->lock);
	for (i = first_known(list); i < list->count; i++)
		fn(arg, list->ids[i % CAPACITY]);
	pthread_mutex_unlock(&list->lock);
}

uint64_t store_term(struct object_store *store)
{
	return atomic_load(&store->fence.term);
}

bool store_obeys(struct object_store *store, uint64_t term, uint64_t claimer)
{
	struct fence_list *list = &store->fence;

	return term == atomic_load(&list->term) &&
	       claimer == atomic_load(&list->claimer);
}

/*
 * Whether to obey this manager.  If two managers are started on copies of a database, they may have
 * the same term.  Then every iod prefers the lower claimer, so all iods obey the same manager.
 */
static int judge_term(const struct fence_head *head, uint64_t term,
		      uint64_t claimer)
{
	if (term != head->term)
		return term < head->term ? -ESTALE : 0;
	return head->claimer && head->claimer < claimer ? -ESTALE : 0;
}

static int keep_term(struct fence_list *list, uint64_t term, uint64_t claimer)
{
	struct fence_head *head = &list->head;
	uint64_t term_before = head->term, claimer_before = head->claimer;
	int rc = judge_term(head, term, claimer);

	if (rc || (term == term_before && claimer == claimer_before))
		return rc;
	head->term = term;
	head->claimer = claimer;
	rc = fence_file_head(list->fd, head);
	if (rc) {
		head->term = term_before;
		head->claimer = claimer_before;
	} else {
		atomic_store(&list->term, term);
		atomic_store(&list->claimer, claimer);
	}
	return rc;
}

int store_term_write(struct object_store *store, uint64_t term,
		     uint64_t claimer)
{
	struct fence_list *list = &store->fence;
	int rc;

	pthread_mutex_lock(&list->file_lock);
	rc = keep_term(list, term, claimer);
	pthread_mutex_unlock(&list->file_lock);
	return rc == -ESTALE ? rc : log_write_error(store, rc);
}
