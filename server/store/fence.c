/* SPDX-License-Identifier: BSD-2-Clause */
/* fence.c - the list of fenced sessions and its file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stamp.h"
#include "store_int.h"

#define FENCE_FILE "fenced"
#define LINE_LEN 17u /* 16 hex digits, newline */

static bool has(const struct fence_list *list, uint64_t session)
{
	unsigned int i;

	for (i = 0; i < list->n; i++)
		if (list->ids[i] == session)
			return true;
	return false;
}

static void add(struct fence_list *list, uint64_t session)
{
	list->ids[list->next] = session;
	list->next = (list->next + 1) % STORE_FENCE_MAX;
	if (list->n < STORE_FENCE_MAX)
		list->n++;
}

static int read_file(struct store *store, FILE *file)
{
	char line[LINE_LEN + 2], *end;
	unsigned int nr = 0;
	uint64_t id;

	while (fgets(line, sizeof(line), file)) {
		nr++;
		id = strtoull(line, &end, 16);
		if (end != line + LINE_LEN - 1 || *end != '\n') {
			log_error(store->log,
				  FENCE_FILE
				  ":%u: not a session id; restore "
				  "the file or remove it (fenced clients may "
				  "then return)",
				  nr);
			return -EINVAL;
		}
		add(&store->fence, id);
	}
	return ferror(file) ? -EIO : 0;
}

int store_fence_load(struct store *store)
{
	struct fence_list *list = &store->fence;
	FILE *file;
	int fd, rc;

	list->ids = calloc(STORE_FENCE_MAX, sizeof(list->ids[0]));
	if (!list->ids)
		return -ENOMEM;
	pthread_mutex_init(&list->lock, NULL);
	pthread_mutex_init(&list->file_lock, NULL);
	fd = openat(store->dirfd, FENCE_FILE, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	file = fdopen(fd, "r");
	if (!file) {
		rc = -errno;
		close(fd);
		return rc;
	}
	rc = read_file(store, file);
	fclose(file);
	return rc;
}

void store_fence_free(struct store *store)
{
	if (!store->fence.ids)
		return;
	pthread_mutex_destroy(&store->fence.file_lock);
	pthread_mutex_destroy(&store->fence.lock);
	free(store->fence.ids);
}

/* Oldest first, so that the order survives a restart. */
static size_t format(struct fence_list *list, char *text)
{
	unsigned int i, first = list->n < STORE_FENCE_MAX ? 0 : list->next;

	for (i = 0; i < list->n; i++)
		sprintf(text + i * LINE_LEN, "%016" PRIx64 "\n",
			list->ids[(first + i) % STORE_FENCE_MAX]);
	return i * LINE_LEN;
}

int store_fence_add(struct store *store, uint64_t session)
{
	struct fence_list *list = &store->fence;
	size_t len;
	char *text;
	int rc;

	text = malloc(STORE_FENCE_MAX * LINE_LEN + 1);
	if (!text)
		return -ENOMEM;
	pthread_mutex_lock(&list->file_lock);
	pthread_mutex_lock(&list->lock);
	if (!has(list, session))
		add(list, session);
	len = format(list, text);
	pthread_mutex_unlock(&list->lock);
	rc = stamp_replace(store->dirfd, FENCE_FILE, text, len);
	pthread_mutex_unlock(&list->file_lock);
	free(text);
	if (rc)
		log_error(store->log,
			  "cannot write the list of fenced "
			  "sessions: %s",
			  strerror(-rc));
	return rc;
}

bool store_fence_has(struct store *store, uint64_t session)
{
	bool found;

	pthread_mutex_lock(&store->fence.lock);
	found = has(&store->fence, session);
	pthread_mutex_unlock(&store->fence.lock);
	return found;
}

void store_fence_each(struct store *store,
		      void (*fn)(void *arg, uint64_t session), void *arg)
{
	unsigned int i;

	pthread_mutex_lock(&store->fence.lock);
	for (i = 0; i < store->fence.n; i++)
		fn(arg, store->fence.ids[i]);
	pthread_mutex_unlock(&store->fence.lock);
}
