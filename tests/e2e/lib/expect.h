/* SPDX-License-Identifier: BSD-2-Clause */
/* expect.h - assertions of a test program: a failed one prints its text, and the program exits. */
#ifndef EXPECT_H
#define EXPECT_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(cond)                                                           \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "%s:%d: not so: %s (errno %s)\n",      \
				__FILE__, __LINE__, #cond,                     \
				strerrorname_np(errno));                       \
			exit(1);                                               \
		}                                                              \
	} while (0)

#define EXPECT_ERRNO(call, code)                                               \
	do {                                                                   \
		errno = 0;                                                     \
		EXPECT((call) < 0);                                            \
		EXPECT(errno == (code));                                       \
	} while (0)

/* Returns byte i of the content that has this seed. */
static inline unsigned char pattern(unsigned int seed, size_t i)
{
	return (unsigned char)((i * 2654435761u + seed * 40503u) >> 11);
}

static inline void fill(unsigned char *buf, size_t n, unsigned int seed,
			size_t at)
{
	for (size_t i = 0; i < n; i++)
		buf[i] = pattern(seed, at + i);
}

static inline int filled(const unsigned char *buf, size_t n, unsigned int seed,
			 size_t at)
{
	for (size_t i = 0; i < n; i++) {
		if (buf[i] != pattern(seed, at + i))
			return 0;
	}
	return 1;
}

#endif
