/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record.h - the log of a client's calls.
 *
 * A log is a file that is mapped shared, so that its records survive a kill of the writer at any
 * moment.  A record exists from the begin of the call, and gets its result when the call returns.
 * Times are CLOCK_BOOTTIME, one clock for all processes of the host.
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
	OBJ_PLAIN, /* blocks that are overwritten, and never truncated */
	OBJ_CUT, /* blocks and a size, which is truncated and extended */
	OBJ_TAIL, /* blocks that are appended */
	OBJ_GUARD, /* blocks that the holder of the lock writes */
	OBJ_NAMES, /* a folder with several names */
	OBJ_KINDS
};

enum op_kind {
	OP_WRITE, /* block, count */
	/* block, count; val: the values that were read, result blocks */
	OP_READ,
	OP_APPEND, /* count */
	OP_TRUNCATE, /* block: the new size in blocks */
	OP_SIZE, /* result: blocks */
	OP_SYNC,
	OP_LOCK, /* arg is an enum lock_mode */
	OP_UNLOCK, /* ends the OP_LOCK with number arg */
	OP_CREATE, /* creates the name `block` exclusively */
	/* looks up the name `block`; arg: the writer that created it */
	OP_LOOKUP,
	OP_UNLINK, /* removes the name `block` */
	OP_RENAME, /* renames the name `block` to `count` */
	OP_LINK, /* links the name `block` to `count` */
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
	uint64_t begin, end; /* end is valid if the state is OP_DONE */
	uint64_t no; /* numbers the calls of a writer from 1 on */
	uint64_t arg;
	int32_t result; /* blocks, or 0; -errno */
	uint32_t block, count;
	uint32_t nval; /* number of values that follow, or room for them */
	uint16_t writer, object;
	uint8_t kind, object_kind;
	uint8_t stopped; /* the process was stopped meanwhile */
	uint8_t state; /* written last, when everything before it is complete */
	uint64_t val[];
};

/* ---- values: the content of a block ---- */

#define VALUE_ZERO 0u /* never written, or cut */
#define VALUE_TORN UINT64_MAX /* not a block that a call wrote */

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

/* Fills BLOCK bytes with val and their place (file may be 0). */
void block_fill(void *block, uint64_t val, uint64_t place);
/*
 * Returns the value of the bytes, or VALUE_TORN if block_fill() did not make them for this place.
 */
uint64_t block_value(const void *block, uint64_t place);

/* ---- the log ---- */

struct log {
	char *base;
	size_t used, size;
	uint16_t writer;
	uint64_t no;
};

uint64_t boot_ns(void);
/* Creates a new log of the writer, with room for size bytes.  Returns 0 or -errno. */
int log_create(struct log *log, const char *path, uint16_t writer, size_t size);
bool log_full(const struct log *log);
/*
 * Returns the next record, with room for nval values, or NULL if the log is full.  The caller fills
 * it in and calls op_begin().
 */
struct op *log_next(struct log *log, enum op_kind kind, enum object_kind okind,
		    uint32_t object, uint32_t nval);
void op_begin(struct op *op);
void op_end(struct op *op, int32_t result);
/* From now on, calls during which the process was stopped (SIGSTOP) are marked. */
void record_stops(void);

#endif
