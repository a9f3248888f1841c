/* SPDX-License-Identifier: BSD-2-Clause */
/* pvalike_ask.c - see pvalike.h. */
#include "tests/e2e/past/pvalike.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/uio.h>

static size_t some_length(void) /* up to SHARE */
{
	static const size_t few[] = { 0, 1, 7, 512, PAGE, PAGE + 1, 65536 };

	return one_in(3) ? below(SHARE) : few[below(7)];
}

static off_t some_offset(void)
{
	if (one_in(40))
		return one_in(2) ? -1 - (off_t)below(9)
				 : INT64_MAX - (off_t)below(9);
	return one_in(3) ? (off_t)below(50) * PAGE : below(200000);
}

static void bad_piece(struct ask *a)
{
	static void *const bad[] = { (void *)1, (void *)16, (void *)-1l };
	static const size_t len[] = { 1, PAGE, 1u << 30, SIZE_MAX };

	a->piece[0].bad = bad[below(3)];
	a->piece[0].len = len[below(4)];
}

/* Only a part of the last piece is accessible. */
static void half_piece(struct ask *a)
{
	int i = a->niov - 1;

	a->piece[i].len = 1 + below(3 * PAGE);
	a->piece[i].from = ROOM - below((unsigned int)a->piece[i].len);
}

static void bad_memory(struct ask *a)
{
	if (one_in(2))
		bad_piece(a);
	else
		half_piece(a);
}

void ask_make(struct ask *a, const bool bad[2])
{
	*a = (struct ask){ .write = one_in(2),
			   .at = one_in(2),
			   .list = one_in(2) };
	a->niov = a->list ? 1 + (int)below(4) : 1;
	a->v2 = a->list && one_in(3);
	a->off = a->v2 && one_in(4) ? -1 : some_offset();
	for (int i = 0; i < a->niov; i++) {
		a->piece[i].len = some_length();
		a->piece[i].from = (unsigned int)i * SHARE;
	}
	if (one_in(12) && bad[a->write])
		bad_memory(a);
	if (a->list && one_in(30))
		a->list_at = (void *)(uintptr_t)(1 + below(3000));
	if (a->list && one_in(40))
		a->niov = one_in(2) ? 0 : one_in(2) ? -1 : IOV_MAX + 1;
	if (a->v2 && a->write && one_in(3))
		a->flags = one_in(2) ? RWF_APPEND : RWF_DSYNC;
}

void ask_say(const struct ask *a)
{
	fprintf(stderr, "%s%s%s%s %d pieces", a->at || a->v2 ? "p" : "",
		a->write ? "write" : "read", a->list ? "v" : "",
		a->v2 ? "2" : "", a->niov);
	for (int i = 0; i < 4; i++)
		fprintf(stderr, " %p+%zu/%zu", a->piece[i].bad,
			a->piece[i].from, a->piece[i].len);
	fprintf(stderr, " list %p off %lld flags %#x\n", a->list_at,
		(long long)a->off, (unsigned int)a->flags);
}
