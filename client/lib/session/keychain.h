/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keychain.h - the capabilities that the manager issued to a session for open files.  Also
 * records which of them the client has shown to which iod over the present connection.  The
 * client does not interpret capabilities.  Any thread may call these functions.
 */
#ifndef KEYCHAIN_H
#define KEYCHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/comm/rpc.h"

struct keychain;
struct session;

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
 * Stores caps (NULL: none), from the manager's reply to an open of the file handle.  rights are
 * the WIRE_NEED_* for which they are valid.  When the file is closed, the caller calls
 * keychain_drop().  The keeper renews them.  Returns 0 or -ENOMEM.
 */
int keychain_take(struct session *s, uint64_t handle, unsigned int rights,
		  const struct wire_caps *caps);
/* Records that the iods require a capability for each file. */
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
/* Called after an iod has rejected the capability; status is -EKEYREVOKED if it is too old. */
void keychain_refused(struct keychain *kc, uint64_t handle, int status);

/*
 * Gets new capabilities from the manager for those that expire soon or were rejected.  Returns 0
 * or -errno.  After an error the old ones stay, except those that the manager rejected.
 */
int keychain_renew(struct session *s);
/*
 * For the keeper of a session without a ticket: returns the clock_now() at which it must call
 * keychain_renew() again.  keychain_take() calls keeper_hurry() if that is too late.
 */
uint64_t keychain_next_look(struct keychain *kc);

#endif
