/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz.h - the parts of every fuzz target.
 *
 * A target is a file fuzz_NAME.c with two functions.  fuzz_one() aborts if the tested code does
 * something that must not happen.  fuzz_seeds() builds valid inputs by code, so that they always
 * have the present formats.  With -Dfuzz=true, libFuzzer drives the target (fuzz_libfuzzer.c),
 * which writes the seeds into an empty corpus directory.  In every other build, fuzz_replay.c runs
 * the seeds and simple mutations of them as a unit test.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Runs the target on one input.  The data has exactly len bytes and may be unaligned. */
void fuzz_one(const uint8_t *data, size_t len);

/* Calls fuzz_seed() for each valid input from which fuzzing starts. */
void fuzz_seeds(void);
void fuzz_seed(const void *data, size_t len);

/* As assert(), but independent of NDEBUG. */
#define FUZZ_SURE(cond)                                                        \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__,       \
				__LINE__, #cond);                              \
			abort();                                               \
		}                                                              \
	} while (0)

/* Reads len bytes, so that a sanitizer reports an access that a user of them would make. */
static inline void fuzz_touch(const void *ptr, size_t len)
{
	const volatile uint8_t *p = ptr;

	while (len--)
		(void)*p++;
}

/* Returns an aligned copy of exactly len bytes, which the caller frees with free(). */
static inline void *fuzz_copy(const uint8_t *data, size_t len)
{
	uint8_t *copy = calloc(1, len ? len : 1);

	FUZZ_SURE(copy);
	for (size_t i = 0; i < len; i++)
		copy[i] = data[i];
	return copy;
}

#endif
