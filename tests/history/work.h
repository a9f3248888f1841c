/* SPDX-License-Identifier: BSD-2-Clause */
/* work.h - one client: its open files and the calls that it makes. */
#ifndef WORK_H
#define WORK_H

#include "tests/history/record.h"

#define OBJECTS_MAX 8u
#define NAMES 4u /* in a folder */
#define CREATES_MAX 511u /* of one writer: see name_id() */
#define STRIPE (2 * BLOCK) /* small: one call concerns all iods */

/* How many objects of a kind there are, and how many blocks each has. */
struct shape {
	unsigned int objects, blocks, weight;
};

struct work {
	struct log log;
	uint64_t rng;
	const char *dir;
	uint64_t until; /* boot_ns() at which to end */
	unsigned int pace_us;
	struct shape shape[OBJ_KINDS];
	int fd[OBJ_KINDS][OBJECTS_MAX];
	uint64_t hold[OBJECTS_MAX]; /* OBJ_GUARD: the OP_LOCK; 0: none */
	unsigned int hold_left[OBJECTS_MAX];
	enum lock_mode mode[OBJECTS_MAX];
	unsigned int creates, litter;
	bool failed; /* the last call, in time */
	uint32_t end[OBJECTS_MAX]; /* OBJ_TAIL: last size seen, in blocks */
	char *buf; /* VALUES_MAX blocks */
};

/* 0 to below - 1. */
uint32_t roll(struct work *w, uint32_t below);
void pause_us(struct work *w, unsigned int most);
bool over(const struct work *w);

void work_path(const struct work *w, enum object_kind kind, unsigned int object,
	       char path[4096]);
/* The descriptor of an object, opened if it is not; -errno. */
int work_fd(struct work *w, enum object_kind kind, unsigned int object);
void work_close(struct work *w, enum object_kind kind, unsigned int object);
/* Ends op; a file that a lost session closed is opened again next time. */
void work_end(struct work *w, struct op *op, int64_t rc);

/* The calls, each recorded. */
int work_write(struct work *w, enum object_kind kind, unsigned int object,
	       uint32_t block, uint32_t count, uint64_t arg);
int work_read(struct work *w, enum object_kind kind, unsigned int object,
	      uint32_t block, uint32_t count);
int work_append(struct work *w, unsigned int object, uint32_t count);
int work_truncate(struct work *w, unsigned int object, uint32_t blocks);
int work_size(struct work *w, enum object_kind kind, unsigned int object);
int work_sync(struct work *w, enum object_kind kind, unsigned int object);
int work_lookup(struct work *w, unsigned int object, uint32_t name);

/* One step of each kind. */
void step_plain(struct work *w, unsigned int object);
void step_cut(struct work *w, unsigned int object);
void step_tail(struct work *w, unsigned int object);
void step_guard(struct work *w, unsigned int object);
void step_names(struct work *w, unsigned int object);

#endif
