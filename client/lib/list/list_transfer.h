/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_transfer.h - list reads and writes: any pieces of memory to or from any pieces of a file.
 *
 * The caller's list is first sorted in the order of the file.  So each server gets its
 * pieces in one pass, and a read ends at the end of the file.  If pieces overlap, the
 * order of the list decides the result: such a write keeps that order, one request after
 * the other, and such a read uses intermediate memory.
 */
#ifndef LIST_TRANSFER_H
#define LIST_TRANSFER_H

#include "client/lib/file/file.h"

/* A list.  list_free() frees its arrays. */
struct transfer_list {
	bool write;
	struct iovec *iov; /* no empty ones; neighbours are merged */
	unsigned int niov;
	struct iovec *parent; /* NULL: no hints */
	unsigned int nparent;
	/* bytes of the view; no empty ones, neighbours are merged */
	struct plan_span *span;
	unsigned int nspan;
	uint64_t total; /* bytes on each side */
};

/*
 * Allocates room for nmem pieces of memory and nfile pieces of the file.  hints: also for the
 * allocations of the memory.  Returns 0; -EINVAL: too many; -ENOMEM.
 */
int list_init(struct transfer_list *list, bool write, size_t nmem, size_t nfile,
	      bool hints);
void list_free(struct transfer_list *list);
/* Append a piece of memory, or an allocation that contains pieces.  Return 0 or -EINVAL. */
int list_add_memory(struct transfer_list *list, void *addr, uint64_t len);
int list_add_parent(struct transfer_list *list, const struct iovec *piece,
		    void *addr, uint64_t len);
int list_add_span(struct transfer_list *list, int64_t pos, uint64_t len);

/* Returns the bytes transferred, or -errno.  fd is used only if f is an ordinary file. */
ssize_t list_run(struct file *f, int fd, const struct transfer_list *list);
/* list_run() on an ordinary file; view NULL: fd has no partition. */
ssize_t list_ordinary(const struct file_view *view, int fd,
		      const struct transfer_list *list);

/* ---- list.c ---- */

/* A piece that is contiguous on both sides. */
struct list_piece {
	uint64_t pos, len;
	char *addr;
	unsigned int at; /* index in the list */
};

/* Whether the spans are in ascending order and do not overlap. */
bool list_rises(const struct transfer_list *list);
/* Returns 1: the memory does not overlap; 0: it does; -ENOMEM. */
int list_distinct(const struct transfer_list *list);
/*
 * Sets *out to the transfer of list, with the pieces sorted by their position in the file.
 * Returns 0, or without setting *out: -EEXIST: pieces of the file overlap; -ENOMEM.
 */
int list_sorted(const struct transfer_list *list, struct transfer_list *out);
/*
 * Sets *out to the bytes of the file that the list names, each once, without memory.
 * Returns 0 or -ENOMEM.
 */
int list_union(const struct transfer_list *list, struct transfer_list *out);
/*
 * Returns an array of *n pieces in the order of the list, each contiguous in memory and in the
 * file.  The caller frees it with free().  NULL: no memory.
 */
struct list_piece *list_cut(const struct transfer_list *list, size_t *n);
/*
 * Copies data to the list's memory, piece by piece in the order of the list.  data has the bytes
 * of all, which list_union() made.  Bytes at or beyond the position pos are not copied.
 * Returns 0 or -ENOMEM.
 */
int list_deal(const struct transfer_list *list, const struct transfer_list *all,
	      const char *data, uint64_t pos);
/* Returns the position of the nth byte of the transfer; UINT64_MAX: beyond its end. */
uint64_t list_pos(const struct transfer_list *list, uint64_t n);
/* Returns the bytes before the first one that lies at or beyond pos. */
uint64_t list_before(const struct transfer_list *list, uint64_t pos);

#endif
