/* SPDX-License-Identifier: BSD-2-Clause */
/* work.h - one client: its open files and the calls that it makes. */
#ifndef WORK_H
#define WORK_H

#include "tests/history/record.h"

#define OBJECTS_MAX 8u
#define NAMES 4u /* in each folder */
#define CREATES_MAX 511u /* of one writer: see name_id() */
#define STRIPE (2 * BLOCK) /* small, so that one call needs all iods */

/* The number of objects of a kind, and the number of blocks of each. */
struct shape {
	unsigned int objects, blocks, weight;
};

struct work {
	struct log log;
	uint64_t rng;
	const char *dir;
	uint64_t until; /* ends at this boot_ns() */
	unsigned int pace_us;
	struct shape shape[OBJ_KINDS];
	int fd[OBJ_KINDS][OBJECTS_MAX];
	/* OBJ_GUARD: the number of the OP_LOCK; 0: no lock */
	uint64_t hold[OBJECTS_MAX];
	unsigned int hold_left[OBJECTS_MAX];
	enum lock_mode mode[OBJECTS_MAX];
	unsigned int creates, litter;
	bool failed; /* the last call failed in time */
	/* OBJ_TAIL: the last known size, in blocks */
	uint32_t end[OBJECTS_MAX];
	char *buf; /* VALUES_MAX blocks */
};

/* Returns a number from 0 to below - 1. */
uint32_t roll(struct work *w, uint32_t below);
void pause_us(struct work *w, unsigned int most);
bool over(const struct work *w);

void work_path(const struct work *w, enum object_kind kind, unsigned int object,
	       char path[4096]);
/* Returns the descriptor of an object, which it opens if necessary, or -errno. */
int work_fd(struct work *w, enum object_kind kind, unsigned int object);
void work_close(struct work *w, enum object_kind kind, unsigned int object);
/* Ends op.  A file that a lost session closed is opened again by the next call. */
void work_end(struct work *w, struct op *op, int64_t rc);

/* These make one call each, and record it. */
int work_write(struct work *w, enum object_kind kind, unsigned int object,
	       uint32_t block, uint32_t count, uint64_t arg);
int work_read(struct work *w, enum object_kind kind, unsigned int object,
	      uint32_t block, uint32_t count);
int work_append(struct work *w, unsigned int object, uint32_t count);
int work_truncate(struct work *w, unsigned int object, uint32_t blocks);
int work_size(struct work *w, enum object_kind kind, unsigned int object);
int work_sync(struct work *w, enum object_kind kind, unsigned int object);
int work_lookup(struct work *w, unsigned int object, uint32_t name);

/* These make one step on an object of a kind. */
void step_plain(struct work *w, unsigned int object);
void step_cut(struct work *w, unsigned int object);
void step_tail(struct work *w, unsigned int object);
void step_guard(struct work *w, unsigned int object);
void step_names(struct work *w, unsigned int object);

#endif
