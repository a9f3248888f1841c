/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seal_int.h - what tickets and capabilities share on the wire:
 *
 *   key (le32) | version (le32) | bounds | ... | MAC of all but key
 */
#ifndef SEAL_INT_H
#define SEAL_INT_H

#include "common/trust/bounds.h"
#include "common/trust/keyring.h"
#include "common/wire/wire.h"

#define SEAL_VERSION 1u

/* clang-format off */
struct seal_head {
	le32 key;		/* its name: keyring.h */
	le32 version;
	le64 fsid, session, term, expiry;
};
/* clang-format on */

void seal_begin(struct seal_head *head, const struct bounds *bounds);
/* What is covered of the len bytes that a head begins. */
struct mac_field seal_covered(const void *sealed, size_t len);
/* 0, or -EBADMSG: of another version; *bounds is set on success only. */
int seal_bounds(const struct seal_head *head, struct bounds *bounds);

/* For tickets. */

/* Sets key, and the MAC behind the len bytes that head begins. */
void seal_close(struct keyring *ring, const char *label, struct seal_head *head,
		size_t len);
/*
 * len bytes with the MAC, any alignment.  0, and *bounds is set; -EBADMSG: of another
 * version; or as keyring_check().
 */
int seal_check(struct keyring *ring, const char *label, const void *sealed,
	       size_t len, struct bounds *bounds);

#endif
