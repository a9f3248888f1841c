/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap.c - the memory that libraft allocates.  It belongs to a simulated process, and is freed when
 * that process ends.
 */
#include <stdlib.h>
#include <string.h>

#include <raft.h>

#include "tests/raft_sim/sim.h"

struct sim_block {
	struct sim_block *next, **where;
	size_t size;
	size_t unused; /* for alignment of the memory after it */
};

static struct sim_heap *heap_now;

void sim_heap_use(struct sim_heap *heap)
{
	heap_now = heap;
}

static void link_block(struct sim_block *block)
{
	block->next = heap_now->first;
	block->where = &heap_now->first;
	if (block->next)
		block->next->where = &block->next;
	heap_now->first = block;
}

static void unlink_block(struct sim_block *block)
{
	*block->where = block->next;
	if (block->next)
		block->next->where = block->where;
}

static void *heap_malloc(void *data, size_t size)
{
	struct sim_block *block = malloc(sizeof(*block) + size);

	if (!block)
		return NULL;
	block->size = size;
	link_block(block);
	return block + 1;
}

static void heap_free(void *data, void *ptr)
{
	struct sim_block *block = ptr;

	if (!ptr)
		return;
	unlink_block(--block);
	free(block);
}

static void *heap_calloc(void *data, size_t n, size_t size)
{
	void *ptr = heap_malloc(data, n * size);

	return ptr ? memset(ptr, 0, n * size) : NULL;
}

static void *heap_realloc(void *data, void *ptr, size_t size)
{
	struct sim_block *block = ptr;
	void *new = heap_malloc(data, size);

	if (new &&ptr) {
		block--;
		memcpy(new, ptr, block->size < size ? block->size : size);
		heap_free(data, ptr);
	}
	return new;
}

static void *heap_aligned_alloc(void *data, size_t alignment, size_t size)
{
	return heap_malloc(data, size);
}

static void heap_aligned_free(void *data, size_t alignment, void *ptr)
{
	heap_free(data, ptr);
}

void sim_heap_init(void)
{
	static struct raft_heap heap = {
		.malloc = heap_malloc,
		.free = heap_free,
		.calloc = heap_calloc,
		.realloc = heap_realloc,
		.aligned_alloc = heap_aligned_alloc,
		.aligned_free = heap_aligned_free,
	};

	raft_heap_set(&heap);
}

void sim_heap_free(struct sim_heap *heap)
{
	while (heap->first) {
		struct sim_block *block = heap->first;

		unlink_block(block);
		free(block);
	}
}
