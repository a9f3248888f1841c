/* SPDX-License-Identifier: BSD-2-Clause */
/* deadline_calls.h - the calls that lib_deadlines.c measures. */
#ifndef DEADLINE_CALLS_H
#define DEADLINE_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#define LEN (1u << 20)

/* The names of the files that the calls use, in the folder of calls_init(). */
enum { FILE_, FRESH, DIR_, EMPTY, LINK, WRITTEN, NEW, ALL, GONE, NAMES };
extern char path[NAMES][512];
extern int rd, wr, ap, dir; /* descriptors */
extern char *data; /* a buffer of LEN bytes */

struct call {
	const char *name; /* NULL ends the table */
	int (*run)(void);
	bool warm; /* the call needs the open descriptors */
};
extern const struct call calls[];

void calls_init(const char *folder);

#endif
