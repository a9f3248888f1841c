/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keyring.h - the keys that the servers of a file system share. The first key of the file is in
 * use; a second one is accepted too, so keys can be changed while the system runs. Any thread.
 */
#ifndef KEYRING_H
#define KEYRING_H

#include "common/trust/key_file.h"

struct keyring;

/*
 * path is the file (key_file.h); it is copied. If make is true, a missing file is created. log must
 * outlive the ring. Returns 0 or -errno, which is logged: -ENOENT (no file), -EPERM, -EINVAL ...;
 * -EIO if libsodium cannot be initialised.
 */
int keyring_open(const char *path, bool make, const struct log *log,
		 struct keyring **ring);
/* Reads the file again. Returns 0, or -errno, which is logged; the keys then stay as before. */
int keyring_reload(struct keyring *ring);
/*
 * Returns how often a reload removed a key. Results of checks before that may not be valid any
 * more.
 */
uint32_t keyring_losses(const struct keyring *ring);
void keyring_close(struct keyring *ring);

/*
 * Computes the code of the fields with the key in use.  Sets *id to the id of that key, which is
 * not secret and may be logged.
 */
void keyring_mac(struct keyring *ring, const char *label,
		 const struct mac_field *field, unsigned int n, uint32_t *id,
		 uint8_t mac[MAC_LEN]);
/*
 * Checks that mac is the code of the fields with the key id. Returns 0; -ENOKEY if the ring has no
 * key with this id, because it was removed or is not loaded yet; -EKEYREJECTED if mac is wrong.
 */
int keyring_check(struct keyring *ring, uint32_t id, const char *label,
		  const struct mac_field *field, unsigned int n,
		  const uint8_t mac[MAC_LEN]);

/* Computes the code that keyring_check() expects with the key id. Returns 0 or -ENOKEY. */
int keyring_derive(struct keyring *ring, uint32_t id, const char *label,
		   const struct mac_field *field, unsigned int n,
		   uint8_t mac[MAC_LEN]);

/*
 * As keyring_mac() and keyring_check(), but with fast_mac(), and a key that is derived from the
 * ring's key for capabilities only.
 */
void keyring_fast_mac(struct keyring *ring, const void *ptr, size_t len,
		      uint32_t *id, uint8_t mac[MAC_LEN]);
int keyring_fast_check(struct keyring *ring, uint32_t id, const void *ptr,
		       size_t len, const uint8_t mac[MAC_LEN]);

struct prover; /* handshake.h */
/*
 * Returns a prover with these keys, which lives as long as the ring. Returns NULL if ring is NULL.
 */
const struct prover *keyring_prover(const struct keyring *ring);

#endif
