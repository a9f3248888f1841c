/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire_form.h - how a message of an operation must look, as const data:
 * the fixed body, the fields with a bound, the tail items that its length
 * fields announce.  What a table cannot say is a small check function.
 */
#ifndef WIRE_FORM_H
#define WIRE_FORM_H

#include <stdbool.h>

#include "common/wire/wire.h"

#define WIRE_FIELDS_MAX 5u

enum wire_field_kind {
	WIRE_FK_NONE, /* ends the list */
	WIRE_FK_BITS, /* le32, only these bits; 0: reserved */
	WIRE_FK_MAX, /* le32, at most this */
	WIRE_FK_MAX64, /* le64, at most this */
	WIRE_FK_ID, /* le64, not 0 */
};

struct wire_field {
	enum wire_field_kind kind;
	uint32_t off; /* in the body */
	uint64_t limit;
	const char *why; /* names the field */
};

enum wire_item_kind {
	WIRE_IK_NONE, /* ends the list */
	WIRE_IK_STRING, /* bytes without NUL */
	WIRE_IK_ARRAY, /* of elements; bytes count as 1 */
	WIRE_IK_DATA, /* inline data: last, need not be padded */
};

struct wire_item {
	enum wire_item_kind kind;
	uint32_t off; /* of the le32 length or count in the body */
	uint32_t elem; /* bytes of an element */
	uint32_t max; /* elements */
	const char *why;
};

struct wire_form {
	size_t size; /* of the fixed body */
	size_t least; /* not 0: of one of the version before; without items */
	struct wire_field fields[WIRE_FIELDS_MAX + 1];
	struct wire_item items[WIRE_TAIL_MAX + 1];
	/* NULL, or the name of what is wrong; everything above holds */
	const char *(*check)(const struct wire_msg *msg);
};

struct wire_op_desc {
	const char *name;
	const struct wire_form *req;
	const struct wire_form *rep;
	bool redirect; /* names a path: may answer WIRE_REDIRECT */
};

/*
 * Bodies and tails are read and written in place as structures: the buffer
 * must have their alignment.
 */
static inline bool wire_aligned(const void *buf)
{
	return (uintptr_t)buf % 8 == 0;
}

/*
 * What a header, a connect and an accept begin with.  0, -EPROTO or
 * -EPROTONOSUPPORT; then *why, if not NULL, is the cause.
 */
int wire_check_magic(const void *buf, size_t len, const char **why);

/* NULL: no such operation. */
const struct wire_op_desc *wire_op_find(unsigned int op);

extern const struct wire_form wire_redirect_form;

/* Checks of what depends on more than one field (wire_check.c, wire_list.c). */
const char *wire_check_read(const struct wire_msg *msg);
const char *wire_check_write(const struct wire_msg *msg);
const char *wire_check_read_rep(const struct wire_msg *msg);
const char *wire_check_read_list(const struct wire_msg *msg);
const char *wire_check_write_list(const struct wire_msg *msg);
const char *wire_check_rename(const struct wire_msg *msg);
const char *wire_check_mknod(const struct wire_msg *msg);
const char *wire_check_readdir(const struct wire_msg *msg);
const char *wire_check_auth_rep(const struct wire_msg *msg);
const char *wire_check_mount_rep(const struct wire_msg *msg);
const char *wire_check_getsize_rep(const struct wire_msg *msg);
const char *wire_check_metrics_rep(const struct wire_msg *msg);
const char *wire_check_sessions_rep(const struct wire_msg *msg);
const char *wire_check_evict(const struct wire_msg *msg);
const char *wire_check_share_rep(const struct wire_msg *msg);
const char *wire_check_carry(const struct wire_msg *msg);
const char *wire_check_fallocate(const struct wire_msg *msg);
const char *wire_check_copy(const struct wire_msg *msg);
const char *wire_check_fence(const struct wire_msg *msg);
const char *wire_check_lock(const struct wire_msg *msg);
const char *wire_check_lock_any(const struct wire_msg *msg);
const char *wire_check_declare(const struct wire_msg *msg);
const char *wire_check_groups(const struct wire_msg *msg);
const char *wire_check_path_rep(const struct wire_msg *msg);
/* The second tail item is a list of memory with that total. */
const char *wire_check_mem(const struct wire_tail *tail, uint64_t total);

#endif
