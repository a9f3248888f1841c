/* SPDX-License-Identifier: BSD-2-Clause */
/* api_list.c - pvfs_read_list() and the other list calls. */
#include <limits.h>

#include "client/lib/api/api_int.h"
#include "client/lib/list/list_transfer.h"

/* The caller's arrays, in either width. */
struct given {
	size_t nmem, nfile;
	char *const *mem;
	char *const *parent; /* NULL: no hints */
	const int64_t *pos;
	/* of each pair, one is set */
	const int *mem32, *parent32;
	const int32_t *len32;
	const size_t *mem64, *parent64;
	const int64_t *len64;
};

static int one_memory(struct transfer_list *list, const struct given *g,
		      size_t i)
{
	/* a negative length becomes too large, and fails */
	uint64_t len = g->mem32 ? (uint64_t)(int64_t)g->mem32[i] : g->mem64[i];
	struct iovec piece = { g->mem[i], (size_t)len };
	int rc = list_add_memory(list, g->mem[i], len);

	if (rc || !g->parent)
		return rc;
	return list_add_parent(list, &piece, g->parent[i],
			       g->parent32 ? (uint64_t)(int64_t)g->parent32[i]
					   : g->parent64[i]);
}

static int list_from_arrays(struct transfer_list *list, const struct given *g,
			    uint64_t max)
{
	uint64_t sum = 0;
	size_t i;
	int rc = 0;

	for (i = 0; i < g->nmem && !rc; i++)
		rc = one_memory(list, g, i);
	for (i = 0; i < list->niov; i++)
		sum += list->iov[i].iov_len;
	for (i = 0; i < g->nfile && !rc; i++)
		rc = list_add_span(list, g->pos[i],
				   g->len32 ? (uint64_t)(int64_t)g->len32[i]
					    : (uint64_t)g->len64[i]);
	if (!rc && (sum != list->total || sum > max))
		rc = -EINVAL;
	return rc;
}

static ssize_t list_transfer(int fd, struct file *f, bool write,
			     const struct given *g, uint64_t max)
{
	struct transfer_list list;
	ssize_t n = list_init(&list, write, g->nmem, g->nfile, g->parent);

	if (n)
		return n;
	n = list_from_arrays(&list, g, max);
	if (!n)
		n = f ? list_run(f, fd, &list) : list_ordinary(NULL, fd, &list);
	list_free(&list);
	return n;
}

static ssize_t do_list(int fd, bool write, const struct given *g, uint64_t max)
{
	struct file *f = process_file(fd);
	ssize_t n = list_transfer(fd, f, write, g, max);

	if (f)
		file_put(f);
	return api_ret(n);
}

ssize_t api_list(int fd, struct file *f, const struct api_list *list)
{
	struct given g = { .nmem = list->nmem,
			   .nfile = list->nfile,
			   .mem = list->mem,
			   .mem64 = list->mem_len,
			   .parent = list->parent,
			   .parent64 = list->parent_len,
			   .pos = list->pos,
			   .len64 = list->len };

	return list_transfer(fd, f, list->write, &g, SSIZE_MAX);
}

/* parent is NULL without hints. */
static int list_narrow(int fd, bool write, int nmem, char *mem[], int mem_len[],
		       char *parent[], int parent_len[], int nfile,
		       int64_t pos[], int32_t len[])
{
	struct given g = { .mem = mem,
			   .mem32 = mem_len,
			   .parent = parent,
			   .parent32 = parent_len,
			   .pos = pos,
			   .len32 = len };

	if (nmem < 0 || nfile < 0)
		return api_int(-EINVAL);
	g.nmem = (size_t)nmem;
	g.nfile = (size_t)nfile;
	return (int)do_list(fd, write, &g, INT_MAX);
}

static ssize_t list_wide(int fd, const struct api_list *list)
{
	struct file *f = process_file(fd);
	ssize_t n = api_list(fd, f, list);

	if (f)
		file_put(f);
	return api_ret(n);
}

int pvfs_read_list(int fd, int mem_count, char *mem_offsets[],
		   int mem_lengths[], int file_count, int64_t file_offsets[],
		   int32_t file_lengths[])
{
	return list_narrow(fd, false, mem_count, mem_offsets, mem_lengths, NULL,
			   NULL, file_count, file_offsets, file_lengths);
}

int pvfs_write_list(int fd, int mem_count, char *mem_offsets[],
		    int mem_lengths[], int file_count, int64_t file_offsets[],
		    int32_t file_lengths[])
{
	return list_narrow(fd, true, mem_count, mem_offsets, mem_lengths, NULL,
			   NULL, file_count, file_offsets, file_lengths);
}

int pvfs_read_list_hints(int fd, int mem_count, char *mem_offsets[],
			 int mem_lengths[], char *allocation_offsets[],
			 int allocation_lengths[], int file_count,
			 int64_t file_offsets[], int32_t file_lengths[])
{
	return list_narrow(fd, false, mem_count, mem_offsets, mem_lengths,
			   allocation_offsets, allocation_lengths, file_count,
			   file_offsets, file_lengths);
}

int pvfs_write_list_hints(int fd, int mem_count, char *mem_offsets[],
			  int mem_lengths[], char *allocation_offsets[],
			  int allocation_lengths[], int file_count,
			  int64_t file_offsets[], int32_t file_lengths[])
{
	return list_narrow(fd, true, mem_count, mem_offsets, mem_lengths,
			   allocation_offsets, allocation_lengths, file_count,
			   file_offsets, file_lengths);
}

ssize_t pvfs_read_list64(int fd, size_t mem_count, char *const mem_offsets[],
			 const size_t mem_lengths[],
			 char *const allocation_offsets[],
			 const size_t allocation_lengths[], size_t file_count,
			 const int64_t file_offsets[],
			 const int64_t file_lengths[])
{
	const struct api_list list = { false,
				       mem_count,
				       file_count,
				       mem_offsets,
				       mem_lengths,
				       allocation_offsets,
				       allocation_lengths,
				       file_offsets,
				       file_lengths };

	return list_wide(fd, &list);
}

ssize_t pvfs_write_list64(int fd, size_t mem_count, char *const mem_offsets[],
			  const size_t mem_lengths[],
			  char *const allocation_offsets[],
			  const size_t allocation_lengths[], size_t file_count,
			  const int64_t file_offsets[],
			  const int64_t file_lengths[])
{
	const struct api_list list = { true,
				       mem_count,
				       file_count,
				       mem_offsets,
				       mem_lengths,
				       allocation_offsets,
				       allocation_lengths,
				       file_offsets,
				       file_lengths };

	return list_wide(fd, &list);
}
