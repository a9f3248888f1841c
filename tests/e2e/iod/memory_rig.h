/* SPDX-License-Identifier: BSD-2-Clause */
/* memory_rig.h - an iod with its store in memory, and two clients of it. */
#ifndef MEMORY_RIG_H
#define MEMORY_RIG_H

#include <check.h>

#include "tests/e2e/iod/iodc.h"

#define LEN (6u << 20) /* as long as two windows */

extern struct addr addr; /* the address of the iod */
extern struct iodc client, mgr;
extern char object[256]; /* the path of the file of object 1 */

void memory_setup(void);
void memory_teardown(void);
/* Runs the suite, or skips it if there is no tmpfs. */
int memory_main(Suite *s);

/* Finds the path `object`. */
void memory_find(void);
/* Returns the number of mappings of objects in this process. */
int mapped(void);
/* Fills the start of the arena with bytes of the pattern. */
void fill(uint32_t len, unsigned int seed);
/* Writes bytes of the pattern to object 1; make() creates the object with them. */
void put(uint32_t off, uint32_t len, unsigned int seed);
void make(uint32_t len, unsigned int seed);
/* Checks the bytes of the object's file by reading it. */
void holds(uint32_t off, uint32_t len, unsigned int seed);

#endif
