/* SPDX-License-Identifier: BSD-2-Clause */
/* pvalike.h - a random call, as bad as it may be. */
#ifndef PVALIKE_H
#define PVALIKE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/e2e/past/past.h"

#define SHARE (88u << 10) /* of a piece */
#define ROOM (4 * SHARE)
#define PAGE 4096u
#define GAP (16 * PAGE)

struct ask {
	bool write, at, list, v2;
	int flags; /* of the v2 calls */
	int niov;
	struct {
		size_t from, len; /* in mem */
		void *bad; /* or there */
	} piece[4];
	void *list_at; /* instead of the list's own place */
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

/* bad: of reads, of writes, may memory be missing? */
void ask_make(struct ask *a, const bool bad[2]);
void ask_say(const struct ask *a);

#endif
