/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list.h - list reads and writes: any pieces of memory against any pieces of
 * a file.
 *
 * What the caller gave is brought into the order of the file first, so that
 * every server meets its pieces in one pass and a read ends at the end of the
 * file.  Where pieces overlap, the list's own order decides what stays: such
 * a write keeps that order, one request after the other, and such a read goes
 * through memory of its own.
 */
#ifndef LIST_H
#define LIST_H

#include "client/lib/file/file.h"

/* A list; its arrays are list_free()'s. */
struct list {
	bool write;
	struct iovec *iov; /* none is empty, neighbours are one */
	unsigned int niov;
	struct iovec *parent; /* or NULL: no hints */
	unsigned int nparent;
	struct plan_span *span; /* bytes of the view; likewise */
	unsigned int nspan;
	uint64_t total; /* of both sides */
};

/* Room for so many pieces: 0, -EINVAL, -ENOMEM. */
int list_init(struct list *list, bool write, size_t nmem, size_t nfile,
	      bool hints);
void list_free(struct list *list);
/* Adds a piece behind the others: 0, or -EINVAL. */
int list_add_memory(struct list *list, void *addr, uint64_t len);
int list_add_parent(struct list *list, const struct iovec *piece, void *addr,
		    uint64_t len);
int list_add_span(struct list *list, int64_t pos, uint64_t len);

/* Bytes transferred, or -errno.  fd is only used if f is an ordinary file. */
ssize_t list_run(struct file *f, int fd, const struct list *list);
/* On a descriptor that is no struct file at all: view is NULL. */
ssize_t list_ordinary(const struct view *view, int fd, const struct list *list);

/* ---- list_order.c, list_cut.c ---- */

/* A piece that is contiguous on both sides. */
struct list_piece {
	uint64_t pos, len;
	char *addr;
	unsigned int at; /* in the list */
};

/* The spans go up and do not overlap. */
bool list_rises(const struct list *list);
/* The memory does not overlap: 1; it does: 0; -ENOMEM. */
int list_distinct(const struct list *list);
/*
 * The same transfer in the order of the file, as *out.  0, or -EEXIST: pieces
 * of the file overlap, or -ENOMEM; then there is no *out.
 */
int list_sorted(const struct list *list, struct list *out);
/* The bytes of the file that the list names, each once, as *out: without
 * memory.  0 or -ENOMEM. */
int list_union(const struct list *list, struct list *out);
/* Cuts both sides into pieces, in the order of the list; *n of them, to be
 * freed.  NULL: no memory. */
struct list_piece *list_cut(const struct list *list, size_t *n);
/*
 * Copies what lies before pos from data, the bytes of the union all, to the
 * list's memory, piece by piece in its order.  0 or -ENOMEM.
 */
int list_deal(const struct list *list, const struct list *all, const char *data,
	      uint64_t pos);
/* Where the nth byte of the list's transfer lies, UINT64_MAX behind all. */
uint64_t list_pos(const struct list *list, uint64_t n);
/* Bytes before the first one that lies at or behind pos. */
uint64_t list_before(const struct list *list, uint64_t pos);

#endif
