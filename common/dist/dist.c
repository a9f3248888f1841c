/* SPDX-License-Identifier: BSD-2-Clause */
/* dist.c - the arithmetic of the simple stripe. */
#include <errno.h>

#include "common/dist/dist.h"

int dist_check(const struct dist *d, uint32_t n)
{
	if (d->base >= n || d->pcount < 1 || d->pcount > n)
		return -EINVAL;
	if (d->ssize < DIST_SSIZE_MIN || d->ssize > DIST_SSIZE_MAX)
		return -EINVAL;
	return 0;
}

uint32_t dist_server(const struct dist *d, uint64_t off)
{
	return (uint32_t)(off / d->ssize % d->pcount);
}

uint64_t dist_local(const struct dist *d, uint64_t off)
{
	return off / d->ssize / d->pcount * d->ssize + off % d->ssize;
}

bool dist_stripe(const struct dist *d, uint64_t off, uint64_t len, uint32_t *k,
		 uint64_t *local)
{
	uint64_t stripe = off / d->ssize, in = off - stripe * d->ssize;
	uint64_t there = stripe / d->pcount;

	if (len > d->ssize - in)
		return false;
	*k = (uint32_t)(stripe - there * d->pcount);
	*local = there * d->ssize + in;
	return true;
}

uint64_t dist_logical(const struct dist *d, uint32_t k, uint64_t local)
{
	uint64_t stripe, off;

	if (__builtin_mul_overflow(local / d->ssize, d->pcount, &stripe) ||
	    __builtin_add_overflow(stripe, k, &stripe) ||
	    __builtin_mul_overflow(stripe, d->ssize, &off) ||
	    __builtin_add_overflow(off, local % d->ssize, &off) ||
	    off > INT64_MAX)
		return INT64_MAX;
	return off;
}

uint64_t dist_local_size(const struct dist *d, uint32_t k, uint64_t size)
{
	uint64_t full = size / d->ssize; /* full stripes */
	uint64_t local = full / d->pcount * d->ssize;
	uint64_t rest = full % d->pcount;

	if (k < rest)
		local += d->ssize;
	else if (k == rest)
		local += size % d->ssize;
	return local;
}

uint64_t dist_file_size(const struct dist *d, uint32_t k, uint64_t local)
{
	uint64_t last;

	if (local == 0)
		return 0;
	last = dist_logical(d, k, local - 1);
	return last < INT64_MAX ? last + 1 : last;
}

uint64_t dist_share(const struct dist *d, uint32_t k, uint64_t off,
		    uint64_t len, uint64_t *local)
{
	*local = dist_local_size(d, k, off);
	return dist_local_size(d, k, off + len) - *local;
}

/* Starts at the first byte of server k at or after off. */
void dist_iter_init(struct dist_iter *it, const struct dist *d, uint32_t k,
		    uint64_t off, uint64_t len)
{
	uint32_t at = dist_server(d, off);
	uint64_t skip = k >= at ? k - at : (uint64_t)k + d->pcount - at;

	it->d = d;
	it->k = k;
	it->off = off;
	it->end = off + len;
	it->next = skip ? off - off % d->ssize + skip * d->ssize : off;
}

/* Neither sum overflows: a round of stripes is at most 2^62 bytes. */
int dist_iter_next(struct dist_iter *it, uint64_t *delta, uint64_t *len)
{
	uint64_t ssize = it->d->ssize;
	uint64_t stop; /* end of the stripe */

	if (it->next >= it->end)
		return 0;
	stop = it->next - it->next % ssize + ssize;
	if (stop > it->end || it->d->pcount == 1)
		stop = it->end;
	*delta = it->next - it->off;
	*len = stop - it->next;
	it->next = stop + (it->d->pcount - 1) * ssize;
	return 1;
}
