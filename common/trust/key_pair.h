/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * key_pair.h - key exchange: a secret that only the two ends know. X25519 (RFC 7748) of libsodium.
 */
#ifndef KEY_PAIR_H
#define KEY_PAIR_H

#include <stdint.h>

#define KEY_PAIR_LEN 32u

/* A key pair for one use. The caller wipes it. */
struct key_pair {
	uint8_t own[KEY_PAIR_LEN]; /* secret */
	uint8_t public[KEY_PAIR_LEN];
};

/*
 * Makes a key pair. Returns 0; -EIO if libsodium cannot be initialised; or an error of
 * random_bytes(). *x is set on success only.
 */
int key_pair_make(struct key_pair *x);
/*
 * Computes the secret, which is the same at both ends. Returns 0, -EIO, or -EINVAL if theirs is a
 * weak key. out is set on success only.
 */
int key_pair_secret(const struct key_pair *x,
		    const uint8_t theirs[KEY_PAIR_LEN],
		    uint8_t out[KEY_PAIR_LEN]);

#endif
