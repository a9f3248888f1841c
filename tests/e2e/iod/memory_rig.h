/* SPDX-License-Identifier: BSD-2-Clause */
/* memory_rig.h - an iod with its store in memory, and two clients of it. */
#ifndef MEMORY_RIG_H
#define MEMORY_RIG_H

#include <check.h>

#include "tests/e2e/iod/iodc.h"

#define LEN (6u << 20) /* two windows */

extern struct addr addr; /* of the iod */
extern struct iodc client, mgr;
extern char object[256]; /* the file of the one there is */

void memory_setup(void);
void memory_teardown(void);
/* Runs the suite, or skips it where there is no tmpfs. */
int memory_main(Suite *s);

/* Finds what object names. */
void memory_find(void);
/* How many parts of objects this process has mapped. */
int mapped(void);
/* Bytes of the arena. */
void fill(uint32_t len, unsigned int seed);
/* Writes such bytes to object 1, or makes it of them. */
void put(uint32_t off, uint32_t len, unsigned int seed);
void make(uint32_t len, unsigned int seed);
/* The object as the kernel sees it without the mapping. */
void holds(uint32_t off, uint32_t len, unsigned int seed);

#endif
