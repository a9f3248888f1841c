/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keyring.h - the keys that the servers of a file system share.  The first of the file
 * is in use, a second one is taken as well: so keys can be changed while all runs.
 * Any thread.
 */
#ifndef KEYRING_H
#define KEYRING_H

#include "common/trust/key_file.h"

struct keyring;

/*
 * path: the file (key_file.h), copied.  make: it is made if there is none.  log
 * outlives the ring.  -errno, logged: -ENOENT (there is none), -EPERM, -EINVAL ...;
 * -EIO: libsodium could not begin.
 */
int keyring_open(const char *path, bool make, const struct log *log,
		 struct keyring **ring);
/* Reads the file again.  -errno, logged: the keys are as before. */
int keyring_reload(struct keyring *ring);
/* How often a reload took a key away: what was checked before that may not count any more. */
uint32_t keyring_losses(const struct keyring *ring);
void keyring_close(struct keyring *ring);

/*
 * mac_make() with the key in use.  *id names that key: it can be told to anyone, and
 * stand in a log.
 */
void keyring_mac(struct keyring *ring, const char *label,
		 const struct mac_field *field, unsigned int n, uint32_t *id,
		 uint8_t mac[MAC_LEN]);
/*
 * -ENOKEY: no key of that name (any more, or not yet); -EKEYREJECTED: not the code
 * of these fields.
 */
int keyring_check(struct keyring *ring, uint32_t id, const char *label,
		  const struct mac_field *field, unsigned int n,
		  const uint8_t mac[MAC_LEN]);

/* The code as keyring_check() wants it, by the key of that name: -ENOKEY. */
int keyring_derive(struct keyring *ring, uint32_t id, const char *label,
		   const struct mac_field *field, unsigned int n,
		   uint8_t mac[MAC_LEN]);

/*
 * Likewise, by quick_mac(), with a key that is made of the one in use, or of that of that
 * name, for capabilities alone.
 */
void keyring_quick(struct keyring *ring, const void *ptr, size_t len,
		   uint32_t *id, uint8_t mac[MAC_LEN]);
int keyring_quick_check(struct keyring *ring, uint32_t id, const void *ptr,
			size_t len, const uint8_t mac[MAC_LEN]);

struct prover; /* handshake.h */
/* Makes and checks proofs with these keys, as long as the ring is there.  NULL: NULL. */
const struct prover *keyring_prover(const struct keyring *ring);

#endif
