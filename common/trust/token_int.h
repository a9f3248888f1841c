/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * token_int.h - the common format of tickets and capabilities:
 *
 *   key (le32) | version (le32) | limits | ... | MAC of all but key
 */
#ifndef TOKEN_INT_H
#define TOKEN_INT_H

#include "common/trust/token.h"
#include "common/trust/keyring.h"
#include "common/wire/wire.h"

#define TOKEN_VERSION 1u

/* clang-format off */
struct token_head {
	le32 key;		/* the key's name: keyring.h */
	le32 version;
	le64 fsid, session, term, expiry;
};
/* clang-format on */

void token_begin(struct token_head *head, const struct token_limits *limits);
/* Returns the part that the MAC covers, of the len bytes that begin with a head. */
struct mac_field token_covered(const void *sealed, size_t len);
/* Returns 0, or -EBADMSG if it is another version. *limits is set on success only. */
int token_limits_decode(const struct token_head *head,
			struct token_limits *limits);

/* The next two are for tickets. */

/* Sets head->key, and appends the MAC to the len bytes that begin with head. */
void token_close(struct keyring *ring, const char *label,
		 struct token_head *head, size_t len);
/*
 * Checks len bytes including the MAC, of any alignment. Returns 0 and sets *limits; -EBADMSG if it
 * is another version; or an error of keyring_check().
 */
int token_check(struct keyring *ring, const char *label, const void *sealed,
		size_t len, struct token_limits *limits);

#endif
