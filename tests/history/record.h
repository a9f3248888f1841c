/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record.h - the log of a client, call by call.
 *
 * A log is a file that is mapped shared, so that its records survive a kill of the writer at any
 * moment.  A call is there from its begin on, and its result once it returned.  Times are
 * CLOCK_BOOTTIME, one clock for all processes of the host.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK 4096u
#define VALUES_MAX 512u

/* The kind of file that a call used. */
enum object_kind {
	OBJ_PLAIN, /* blocks that are written over: never cut */
	OBJ_CUT, /* blocks and a size that is cut and grown */
	OBJ_TAIL, /* blocks that are appended */
	OBJ_GUARD, /* blocks that the holder of the lock writes */
	OBJ_NAMES, /* a folder with a few names */
	OBJ_KINDS
};

enum op_kind {
	OP_WRITE, /* block, count */
	OP_READ, /* block, count; val: the values read, result blocks */
	OP_APPEND, /* count */
	OP_TRUNCATE, /* block: the new size in blocks */
	OP_SIZE, /* result: blocks */
	OP_SYNC,
	OP_LOCK, /* arg: enum lock_mode */
	OP_UNLOCK, /* of the OP_LOCK with number arg */
	OP_CREATE, /* of the name block, exclusively */
	OP_LOOKUP, /* of the name block; arg: who created it */
	OP_UNLINK, /* of the name block */
	OP_RENAME, /* the name block becomes the name count */
	OP_LINK, /* the name block gets the name count, too */
	OP_KINDS
};

enum lock_mode { LOCK_SHARED, LOCK_EXCLUSIVE };

/* arg of OP_WRITE of OBJ_GUARD: the number of the OP_LOCK it relies on. */

enum op_state {
	OP_FREE, /* the end of the log */
	OP_BEGUN,
	OP_DONE
};

struct op {
	uint64_t begin, end; /* end: valid if OP_DONE */
	uint64_t no; /* counts a writer's calls from 1 */
	uint64_t arg;
	int32_t result; /* blocks, or 0; -errno */
	uint32_t block, count;
	uint32_t nval; /* number of values after this, room for them */
	uint16_t writer, object;
	uint8_t kind, object_kind;
	uint8_t stopped; /* its process was, meanwhile */
	uint8_t state; /* written last: all before it is then complete */
	uint64_t val[];
};

/* ---- values: the contents of a block ---- */

#define VALUE_ZERO 0u /* never written, or cut */
#define VALUE_TORN UINT64_MAX /* no block that a call wrote */

static inline uint64_t value_of(uint16_t writer, uint64_t no, uint32_t k)
{
	return (uint64_t)writer << 48 | no << 12 | k;
}

static inline uint16_t value_writer(uint64_t val)
{
	return (uint16_t)(val >> 48);
}

static inline uint64_t value_no(uint64_t val)
{
	return val >> 12 & 0xfffffffffull;
}

static inline uint32_t value_part(uint64_t val)
{
	return (uint32_t)(val & 0xfff);
}

/* The BLOCK bytes that say val and where they belong (file may be 0). */
void block_fill(void *block, uint64_t val, uint64_t place);
/* Which value they are; VALUE_TORN: not what block_fill() made for place. */
uint64_t block_value(const void *block, uint64_t place);

/* ---- the log ---- */

struct log {
	char *base;
	size_t used, size;
	uint16_t writer;
	uint64_t no;
};

uint64_t boot_ns(void);
/* A new log of writer's in path, with room for size bytes.  0 or -errno. */
int log_create(struct log *log, const char *path, uint16_t writer, size_t size);
bool log_full(const struct log *log);
/*
 * The next call, with room for nval values; NULL: the log is full.  The caller
 * fills in what the call is and says op_begin().
 */
struct op *log_next(struct log *log, enum op_kind kind, enum object_kind okind,
		    uint32_t object, uint32_t nval);
void op_begin(struct op *op);
void op_end(struct op *op, int32_t result);
/* Has calls that a SIGSTOP made longer marked as such. */
void record_stops(void);

#endif
