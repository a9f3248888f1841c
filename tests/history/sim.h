/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim.h - makes histories of a correct file system, to test the checker.  The simulated file system
 * executes each call at one moment between its begin and its end.
 */
#ifndef SIM_H
#define SIM_H

#include "tests/history/history.h"

#define SIM_CLIENTS 6u
#define SIM_BLOCKS 8u
#define SIM_TAIL 65536u

struct sim_call {
	struct op *op; /* NULL: no call in flight */
	uint64_t effect, end;
	bool fails, effective, killed, done;
};

struct sim {
	struct history h;
	uint64_t rng, now;
	uint16_t writers;
	uint64_t no[4096];
	uint16_t writer[SIM_CLIENTS];
	/* the second half has calls of dead clients */
	struct sim_call call[2 * SIM_CLIENTS];
	uint64_t holding[SIM_CLIENTS]; /* the OP_LOCK that each client holds */
	/* the current content */
	uint64_t block[OBJ_KINDS][SIM_BLOCKS];
	uint32_t size;
	uint64_t tail[SIM_TAIL];
	uint32_t tail_end;
	uint64_t name[4];
	uint16_t holder; /* 0: no holder */
	unsigned int shared;
	uint64_t ids;
};

struct sim *sim_new(uint64_t seed);
void sim_free(struct sim *sim);
/* Makes n random calls, and then ends those in flight. */
void sim_run(struct sim *sim, unsigned int n);
/*
 * Adds a chosen call, which begins now and takes some time, with this result.  For a read, nval is
 * the number of values, which the caller sets.
 */
struct op *sim_call(struct sim *sim, uint16_t writer, enum op_kind kind,
		    enum object_kind okind, uint32_t block, uint32_t count,
		    int32_t result);
/* The same for a read of the current content. */
struct op *sim_read(struct sim *sim, uint16_t writer, enum object_kind okind,
		    uint32_t block, uint32_t count);
/* Returns the number of violations. */
unsigned int sim_judge(struct sim *sim);

#endif
