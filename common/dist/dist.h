/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dist.h - striping: file offset <-> (server, local offset). Pure functions.
 *
 * The simple stripe of PVFS (pvfs_filestat: base, pcount, ssize). Stripe number n of the file, of
 * ssize bytes, is on server n % pcount, as that server's local stripe n / pcount. copyset.h tells
 * which iod is server k.
 *
 *   file     | 0 | 1 | 2 | 3 | 4 | 5 | 6 |       pcount 3
 *   server 0 | 0 | 3 | 6 |   server 1 | 1 | 4 |   server 2 | 2 | 5 |
 */
#ifndef DIST_H
#define DIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIST_SSIZE_MIN 64u
#define DIST_SSIZE_MAX (1u << 30)

struct dist {
	uint32_t base;
	uint32_t pcount;
	uint32_t ssize;
	uint32_t ring; /* the ring in which base counts: copyset.h */
};

/*
 * n is the number of copysets in the ring. Returns 0, or -EINVAL if base >= n, pcount is not in
 * 1..n, or ssize is out of range.
 */
int dist_check(const struct dist *d, uint32_t n);

/* Return the server and the local offset of a file offset. */
uint32_t dist_server(const struct dist *d, uint64_t off);
uint64_t dist_local(const struct dist *d, uint64_t off);
/*
 * If [off, off + len) is within one stripe, returns true and sets *k to the server and *local to
 * the offset in its object. The caller has checked the range with extent_end().
 */
bool dist_stripe(const struct dist *d, uint64_t off, uint64_t len, uint32_t *k,
		 uint64_t *local);
/* Returns the file offset of a local offset on server k, or INT64_MAX if it would be larger. */
uint64_t dist_logical(const struct dist *d, uint32_t k, uint64_t local);

/* Returns the local size of server k's object if the file has size bytes. */
uint64_t dist_local_size(const struct dist *d, uint32_t k, uint64_t size);
/*
 * Returns the file size that an object of local bytes on server k implies: 0 for 0, and at most
 * INT64_MAX.
 */
uint64_t dist_file_size(const struct dist *d, uint32_t k, uint64_t local);

/*
 * Returns the bytes of the file range [off, off + len) that server k stores. They are contiguous in
 * its object; *local is the offset where they start.
 */
uint64_t dist_share(const struct dist *d, uint32_t k, uint64_t off,
		    uint64_t len, uint64_t *local);

/*
 * Iterates over the pieces of [off, off + len) on server k, in order. The caller has checked the
 * range with extent_end(), and calls dist_iter_init() first. dist_iter_next() returns 1 and sets
 * *delta to the start of the next piece, in bytes after off, and *len to its length. It returns 0
 * if there are no more pieces.
 */
struct dist_iter {
	const struct dist *d;
	uint32_t k;
	uint64_t off, end, next;
};
void dist_iter_init(struct dist_iter *it, const struct dist *d, uint32_t k,
		    uint64_t off, uint64_t len);
int dist_iter_next(struct dist_iter *it, uint64_t *delta, uint64_t *len);

#endif
