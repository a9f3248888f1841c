/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire_form.h - the form of the messages of each operation, as const data: the fixed body, the
 * fields with a limit, and the tail items that its length fields announce.  A small check
 * function handles what a table cannot express.
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
	uint32_t off; /* offset in the body */
	uint64_t limit;
	const char *why; /* names the field */
};

enum wire_item_kind {
	WIRE_IK_NONE, /* ends the list */
	WIRE_IK_STRING, /* bytes without NUL */
	WIRE_IK_ARRAY, /* of elements; bytes count as 1 */
	WIRE_IK_DATA, /* inline data: last, padding optional */
};

struct wire_item {
	enum wire_item_kind kind;
	uint32_t off; /* offset of the le32 length or count in the body */
	uint32_t elem; /* bytes of one element */
	uint32_t max; /* maximum number of elements */
	const char *why;
};

struct wire_form {
	size_t size; /* bytes of the fixed body */
	/* not 0: bytes of the body in the previous version; without items */
	size_t least;
	bool optional; /* a reply with status 0 may lack the body and the items */
	struct wire_field fields[WIRE_FIELDS_MAX + 1];
	struct wire_item items[WIRE_TAIL_MAX + 1];
	/* NULL, or returns the name of what is wrong; called after all checks above */
	const char *(*check)(const struct wire_msg *msg);
};

struct wire_op_desc {
	const char *name;
	const struct wire_form *req;
	const struct wire_form *rep;
	bool redirect; /* names a path, so it may answer WIRE_REDIRECT */
};

/* Returns whether buf is aligned to 8, so that bodies and tails can be used in place. */
static inline bool wire_aligned(const void *buf)
{
	return (uintptr_t)buf % 8 == 0;
}

/*
 * Checks magic and version at the begin of a header, a connect or an accept.  Returns 0; -EPROTO:
 * not this protocol; -EPROTONOSUPPORT: another version.  After an error, *why is the cause, if why
 * is not NULL.
 */
int wire_check_magic(const void *buf, size_t len, const char **why);

/* Returns NULL if there is no such operation. */
const struct wire_op_desc *wire_op_find(unsigned int op);

extern const struct wire_form wire_redirect_form;
extern const struct wire_form wire_leader_form; /* -WIRE_ENOTLEADER to HELLO */

/* Checks that depend on more than one field (wire_check.c, wire_copysets.c, wire_metrics.c). */
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
const char *wire_check_copysets_rep(const struct wire_msg *msg);
/* A range of an allocation, and its WIRE_FA_*. */
const char *wire_check_space(le64 off, le64 len, uint32_t flags);
const char *wire_check_order(const struct wire_msg *msg);
const char *wire_check_assign(const struct wire_msg *msg);
const char *wire_check_remove(const struct wire_msg *msg);
const char *wire_check_walk(const struct wire_msg *msg);
const char *wire_check_promise(const struct wire_msg *msg);
const char *wire_check_outcome(const struct wire_msg *msg);
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
const char *wire_check_raft(const struct wire_msg *msg);
const char *wire_check_fetch(const struct wire_msg *msg);
const char *wire_check_managers(const struct wire_msg *msg);
const char *wire_check_managers_rep(const struct wire_msg *msg);
const char *wire_check_path_rep(const struct wire_msg *msg);
const char *wire_check_leader(const struct wire_msg *msg);
/* Checks that the tail item is a list of memory with that total. */
const char *wire_check_mem(const struct wire_tail *tail, uint64_t total);

#endif
