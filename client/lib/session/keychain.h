/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keychain.h - the capabilities of a session: those that the manager issued for opened
 * files, and which iod has seen which over which connection.  The client does not
 * interpret them.  Any thread may call.
 */
#ifndef KEYCHAIN_H
#define KEYCHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/comm/rpc.h"

struct keychain;

/* NULL: no memory. */
struct keychain *keychain_new(void);
/* NULL is permitted. */
void keychain_free(struct keychain *kc);
/* For the session's niods iods.  The result lives as long as kc. */
const struct rpc_caps_source *keychain_caps_source(struct keychain *kc,
						   uint32_t niods);

/* The WIRE_NEED_* for an open with these WIRE_O_*. */
unsigned int keychain_rights(uint32_t flags);
/*
 * Stores caps (NULL: none), from the answer to an open of the file, for these
 * WIRE_NEED_*. Call keychain_drop() when the file is closed.  Returns 0 or -ENOMEM.
 */
int keychain_take(struct keychain *kc, uint64_t handle, unsigned int rights,
		  const struct wire_caps *caps);
/* The servers require a capability for each file. */
void keychain_want(struct keychain *kc);
/* Undoes one keychain_take().  The last one drops the key. */
void keychain_drop(struct keychain *kc, uint64_t handle);

enum keychain_state {
	KEY_NONE, /* a capability is missing for one of these rights */
	KEY_STALE, /* an iod no longer accepts them: keychain_renew() */
	KEY_GOOD, /* or the servers require none, as far as is known */
};
enum keychain_state keychain_look(struct keychain *kc, uint64_t handle,
				  unsigned int rights);
/* An iod requires newer ones (-EKEYREVOKED), or rejects ours. */
void keychain_refused(struct keychain *kc, uint64_t handle, int status);

struct session;
/*
 * Renews the capabilities that are due.  Returns 0, or -errno: they are unchanged, or
 * dropped if the manager rejects them.
 */
int keychain_renew(struct session *s);

#endif
