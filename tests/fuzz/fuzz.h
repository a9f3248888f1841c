/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz.h - what every fuzz target here consists of.
 *
 * A target is fuzz_NAME.c with fuzz_one(), which aborts on what must not
 * happen, and fuzz_seeds(), which builds good inputs by code: they follow the
 * formats without anyone regenerating files.  With -Dfuzz=true libFuzzer
 * drives it (fuzz_libfuzzer.c; the seeds are put into an empty corpus
 * directory).  In every other build fuzz_replay.c runs the seeds and simple
 * mutations of them as a unit test.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* data has exactly len bytes and no alignment. */
void fuzz_one(const uint8_t *data, size_t len);

/* Calls fuzz_seed() for each good input. */
void fuzz_seeds(void);
void fuzz_seed(const void *data, size_t len);

/* As assert(), whatever NDEBUG says. */
#define FUZZ_SURE(cond)                                                        \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__,       \
				__LINE__, #cond);                              \
			abort();                                               \
		}                                                              \
	} while (0)

/* Reads len bytes, so that a sanitizer sees what a user of them would. */
static inline void fuzz_touch(const void *ptr, size_t len)
{
	const volatile uint8_t *p = ptr;

	while (len--)
		(void)*p++;
}

/* An aligned copy of exactly len bytes: free() it. */
static inline void *fuzz_copy(const uint8_t *data, size_t len)
{
	uint8_t *copy = calloc(1, len ? len : 1);

	FUZZ_SURE(copy);
	for (size_t i = 0; i < len; i++)
		copy[i] = data[i];
	return copy;
}

#endif
