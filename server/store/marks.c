/* SPDX-License-Identifier: BSD-2-Clause */
/* marks.c - the writes of a session that are not yet known to be stable. */
#include <stdlib.h>

#include "server/store/marks.h"
#include "server/store/store_int.h"

struct mark {
	uint64_t handle;
	struct wberr_obj *obj;
	unsigned int seen; /* the object's error count as last reported */
	unsigned int running; /* number of writes in progress */
	uint64_t last; /* the latest write, numbered by marks.writes */
	UT_hash_handle hh;
};

static struct mark *find(const struct marks *m, uint64_t handle)
{
	struct mark *mark;

	HASH_FIND(hh, m->table, &handle, sizeof(handle), mark);
	return mark;
}

static void drop(struct marks *m, struct store *store, struct mark *mark)
{
	HASH_DEL(m->table, mark);
	wberr_drop(&store->wberr, mark->obj);
	free(mark);
}

void marks_free(struct marks *m, struct store *store)
{
	struct mark *mark, *next;

	HASH_ITER(hh, m->table, mark, next)
		drop(m, store, mark);
}

static struct mark *make(struct marks *m, struct store *store, uint64_t handle)
{
	struct mark *mark = calloc(1, sizeof(*mark));

	if (!mark)
		return NULL;
	mark->handle = handle;
	mark->obj = wberr_use(&store->wberr, handle);
	if (!mark->obj)
		goto free_mark;
	mark->seen = wberr_gen(&mark->obj->err);
	HASH_ADD(hh, m->table, handle, sizeof(mark->handle), mark);
	if (mark->hh.tbl)
		return mark;
	wberr_drop(&store->wberr, mark->obj);
free_mark:
	free(mark);
	return NULL;
}

struct mark *marks_write(struct marks *m, struct store *store, uint64_t handle)
{
	struct mark *mark;

	if (store_in_memory(store))
		return NULL;
	mark = find(m, handle);
	if (!mark)
		mark = make(m, store, handle);
	if (mark) {
		mark->running++;
		mark->last = ++m->writes;
	} else if (!m->wide) {
		m->wide = true;
		m->seen = wberr_gen(&store->wberr.all);
	}
	return mark;
}

void mark_written(struct mark *mark)
{
	if (mark)
		mark->running--;
}

void marks_flush_begin(const struct marks *m, uint64_t handle,
		       struct marks_flush *flush)
{
	const struct mark *mark = find(m, handle);

	flush->handle = handle;
	flush->writes = m->writes;
	flush->all = mark && !mark->running;
}

int marks_flush_end(struct marks *m, struct store *store,
		    const struct marks_flush *flush, int status)
{
	struct mark *mark = find(m, flush->handle);
	int rc = 0, wide = 0;

	if (mark) {
		rc = wberr_since(&mark->obj->err, &mark->seen);
		if (flush->all && mark->last <= flush->writes)
			drop(m, store, mark);
	}
	if (m->wide)
		wide = wberr_since(&store->wberr.all, &m->seen);
	if (!status)
		status = rc;
	return status ? status : wide;
}
