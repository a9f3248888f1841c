/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seal_int.h - the common format of tickets and capabilities:
 *
 *   key (le32) | version (le32) | bounds | ... | MAC of all but key
 */
#ifndef SEAL_INT_H
#define SEAL_INT_H

#include "common/trust/token_limits.h"
#include "common/trust/keyring.h"
#include "common/wire/wire.h"

#define SEAL_VERSION 1u

/* clang-format off */
struct seal_head {
	le32 key;		/* the key's name: keyring.h */
	le32 version;
	le64 fsid, session, term, expiry;
};
/* clang-format on */

void seal_begin(struct seal_head *head, const struct token_limits *bounds);
/* The part that the MAC covers, of the len bytes that begin with a head. */
struct mac_field seal_covered(const void *sealed, size_t len);
/* 0, or -EBADMSG: another version. *bounds is set on success only. */
int seal_bounds(const struct seal_head *head, struct token_limits *bounds);

/* The next two are for tickets. */

/* Sets head->key, and appends the MAC to the len bytes that begin with head. */
void seal_close(struct keyring *ring, const char *label, struct seal_head *head,
		size_t len);
/*
 * Checks len bytes including the MAC, of any alignment. 0, and *bounds is set; -EBADMSG: another
 * version; or as keyring_check().
 */
int seal_check(struct keyring *ring, const char *label, const void *sealed,
	       size_t len, struct token_limits *bounds);

#endif
