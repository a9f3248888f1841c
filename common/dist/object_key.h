/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object_key.h - the name of an object at an iod: the file that it belongs to, and the group of
 * iods that have it.  A file has at most one object of each group at an iod.
 */
#ifndef OBJECT_KEY_H
#define OBJECT_KEY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Tables compare and hash keys as bytes, so the struct must not have padding.  That is why copyset
 * has 64 bits, although the ids of groups have 32.
 */
struct object_key {
	uint64_t handle; /* handle of the file */
	/* id of the group; 0 means the iod's own group, without other members */
	uint64_t copyset;
};

static inline struct object_key object_key_own(uint64_t handle)
{
	return (struct object_key){ .handle = handle };
}

static inline bool object_key_is_own(struct object_key key)
{
	return !key.copyset;
}

static inline bool object_key_equal(struct object_key a, struct object_key b)
{
	return a.handle == b.handle && a.copyset == b.copyset;
}

/* For tables.  Fibonacci hashing (Knuth, TAOCP vol. 3, 6.4); not safe against chosen handles. */
static inline uint32_t object_key_hash(struct object_key key)
{
	return (uint32_t)(((key.handle + key.copyset) *
			   UINT64_C(0x9e3779b97f4a7c15)) >>
			  32);
}

/* Returns whether a comes after b in a walk: by handle, then by group. */
static inline bool object_key_is_after(struct object_key a, struct object_key b)
{
	return a.handle == b.handle ? a.copyset > b.copyset
				    : a.handle > b.handle;
}

/*
 * The key as text, for the names of files and for messages: HANDLE for the own group, and
 * HANDLE-GROUP for others, with 16 and 8 hexadecimal digits.  Names of files have this form on
 * disk: never change it without a new version of the store.
 */
#define OBJECT_KEY_LEN 26 /* "hhhhhhhhhhhhhhhh-gggggggg" and NUL */
struct object_key_text {
	char s[OBJECT_KEY_LEN];
};
struct object_key_text object_key_text(struct object_key key);
/* Sets *key to the key with this text. Returns false if it is not the text of a key. */
bool object_key_parse(const char *text, struct object_key *key);

#endif
