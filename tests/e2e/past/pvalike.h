/* SPDX-License-Identifier: BSD-2-Clause */
/* pvalike.h - a random call, which may have any bad argument. */
#ifndef PVALIKE_H
#define PVALIKE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/e2e/past/past.h"

#define SHARE (88u << 10) /* maximum length of a piece */
#define ROOM (4 * SHARE)
#define PAGE 4096u
#define GAP (16 * PAGE)

struct ask {
	bool write, at, list, v2;
	int flags; /* flags of preadv2() and pwritev2() */
	int niov;
	struct {
		size_t from, len; /* place in mem */
		void *bad; /* or this address */
	} piece[4];
	void *list_at; /* if set, used as the list itself */
	off_t off;
};

static inline unsigned int below(unsigned int n)
{
	return (unsigned int)random() % n;
}

static inline bool one_in(unsigned int n)
{
	return !below(n);
}

/* bad says whether reads and writes may use inaccessible memory. */
void ask_make(struct ask *a, const bool bad[2]);
void ask_say(const struct ask *a);

#endif
