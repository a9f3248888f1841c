/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keychain.h - the capabilities of a session: what the manager gave it for the files
 * that it opened, and which iod has seen which, over which connection.  To us they are
 * bytes.  Any thread.
 */
#ifndef KEYCHAIN_H
#define KEYCHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/comm/rpc.h"

struct keychain;

/* NULL: no memory. */
struct keychain *keychain_new(void);
/* NULL is fine. */
void keychain_free(struct keychain *kc);
/* For the session's iods, of which there are so many; lives with kc. */
const struct rpc_shower *keychain_shower(struct keychain *kc, uint32_t niods);

/* The WIRE_NEED_* of who opens with these WIRE_O_*. */
unsigned int keychain_rights(uint32_t flags);
/*
 * The answer to an open of the file brought caps (NULL: none) for these WIRE_NEED_*.
 * Who opened it drops them.  -ENOMEM.
 */
int keychain_take(struct keychain *kc, uint64_t handle, unsigned int rights,
		  const struct wire_caps *caps);
/* The servers want one for each file, whoever opened it. */
void keychain_want(struct keychain *kc);
/* What was taken so often is forgotten. */
void keychain_drop(struct keychain *kc, uint64_t handle);

enum keychain_state {
	KEY_NONE, /* there is not one for each of these rights */
	KEY_STALE, /* an iod does not take them any more: keychain_renew() */
	KEY_GOOD, /* or the servers want none, as far as is known */
};
enum keychain_state keychain_look(struct keychain *kc, uint64_t handle,
				  unsigned int rights);
/* An iod wants others (-EKEYREVOKED), or does not take ours at all. */
void keychain_refused(struct keychain *kc, uint64_t handle, int status);

struct session;
/*
 * Gets others for those that are to be renewed by now.  0, or -errno: they are as they
 * were, or, if the manager takes them for nothing, not there.
 */
int keychain_renew(struct session *s);

#endif
