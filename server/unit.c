/* SPDX-License-Identifier: BSD-2-Clause */
/* unit.c - transfer units in registered memory. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "unit.h"

struct unit_pool {
	struct tp_mr *mr;
	void *mem;
	size_t len;
	unsigned int left;
	SLIST_HEAD(, unit) free;
	struct unit unit[];
};

/* Mapped, so that units which are never used cost no memory. */
static int map_units(struct unit_pool *pool, struct tp_dev *dev)
{
	int rc;

	pool->mem = mmap(NULL, pool->len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pool->mem == MAP_FAILED)
		return -errno;
	rc = tp_mr_reg(dev, pool->mem, pool->len, TP_LOCAL_WRITE, &pool->mr);
	if (rc)
		munmap(pool->mem, pool->len);
	return rc;
}

int unit_pool_open(struct tp_dev *dev, size_t size, unsigned int n,
		   struct unit_pool **out)
{
	struct unit_pool *pool;
	unsigned int i;
	int rc;

	pool = calloc(1, sizeof(*pool) + n * sizeof(pool->unit[0]));
	if (!pool)
		return -ENOMEM;
	pool->len = size * n;
	rc = map_units(pool, dev);
	if (rc) {
		free(pool);
		return rc;
	}
	SLIST_INIT(&pool->free);
	for (i = n; i-- > 0;) {
		pool->unit[i].addr = (char *)pool->mem + i * size;
		pool->unit[i].lkey = pool->mr->lkey;
		unit_put(pool, &pool->unit[i]);
	}
	*out = pool;
	return 0;
}

void unit_pool_close(struct unit_pool *pool)
{
	tp_mr_dereg(pool->mr);
	munmap(pool->mem, pool->len);
	free(pool);
}

struct unit *unit_get(struct unit_pool *pool)
{
	struct unit *unit = SLIST_FIRST(&pool->free);

	if (unit) {
		SLIST_REMOVE_HEAD(&pool->free, link);
		pool->left--;
	}
	return unit;
}

void unit_put(struct unit_pool *pool, struct unit *unit)
{
	SLIST_INSERT_HEAD(&pool->free, unit, link);
	pool->left++;
}

unsigned int unit_left(const struct unit_pool *pool)
{
	return pool->left;
}
