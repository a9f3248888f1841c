/* SPDX-License-Identifier: BSD-2-Clause */
/* dirty_objects.c - the writes of a session that are not yet known to be stable. */
#include <stdlib.h>

#include "server/store/dirty_objects.h"
#include "server/store/store_int.h"

struct dirty_object {
	struct object_key key;
	struct object_errors *obj;
	unsigned int reported; /* the object's error count as last reported */
	unsigned int running; /* number of writes in progress */
	uint64_t last; /* the latest write, numbered by dirty_objects.writes */
	UT_hash_handle hh;
};

static struct dirty_object *find_object(const struct dirty_objects *m,
					struct object_key key)
{
	struct dirty_object *object;

	HASH_FIND(hh, m->table, &key, sizeof(key), object);
	return object;
}

static void drop_object(struct dirty_objects *m, struct object_store *store,
			struct dirty_object *object)
{
	HASH_DEL(m->table, object);
	writeback_errors_put(&store->errors, object->obj);
	free(object);
}

void dirty_objects_free(struct dirty_objects *m, struct object_store *store)
{
	struct dirty_object *object, *next;

	HASH_ITER(hh, m->table, object, next)
		drop_object(m, store, object);
}

static struct dirty_object *make_object(struct dirty_objects *m,
					struct object_store *store,
					struct object_key key)
{
	struct dirty_object *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->key = key;
	object->obj = writeback_errors_get(&store->errors, key);
	if (!object->obj)
		goto free_object;
	object->reported = error_count_get(&object->obj->err);
	HASH_ADD(hh, m->table, key, sizeof(object->key), object);
	if (object->hh.tbl)
		return object;
	writeback_errors_put(&store->errors, object->obj);
free_object:
	free(object);
	return NULL;
}

struct dirty_object *dirty_objects_write_begin(struct dirty_objects *m,
					       struct object_store *store,
					       struct object_key key)
{
	struct dirty_object *object;

	if (store_in_memory(store))
		return NULL;
	object = find_object(m, key);
	if (!object)
		object = make_object(m, store, key);
	if (object) {
		object->running++;
		object->last = ++m->writes;
	} else if (!m->wide) {
		m->wide = true;
		m->reported = error_count_get(&store->errors.all);
	}
	return object;
}

void dirty_object_write_end(struct dirty_object *object)
{
	if (object)
		object->running--;
}

void dirty_objects_flush_begin(const struct dirty_objects *m,
			       struct object_key key,
			       struct dirty_objects_flush *flush)
{
	const struct dirty_object *object = find_object(m, key);

	flush->key = key;
	flush->writes = m->writes;
	flush->all = object && !object->running;
}

int dirty_objects_flush_end(struct dirty_objects *m, struct object_store *store,
			    const struct dirty_objects_flush *flush, int status)
{
	struct dirty_object *object = find_object(m, flush->key);
	int rc = 0, wide = 0;

	if (object) {
		rc = error_count_since(&object->obj->err, &object->reported);
		if (flush->all && object->last <= flush->writes)
			drop_object(m, store, object);
	}
	if (m->wide)
		wide = error_count_since(&store->errors.all, &m->reported);
	if (!status)
		status = rc;
	return status ? status : wide;
}
