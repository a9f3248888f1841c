/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exchange.h - key exchange: a secret that only the two ends know. X25519 (RFC 7748) of libsodium.
 */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <stdint.h>

#define EXCHANGE_LEN 32u

/* A key pair for one use. The caller wipes it. */
struct exchange {
	uint8_t own[EXCHANGE_LEN]; /* secret */
	uint8_t public[EXCHANGE_LEN];
};

/*
 * Makes a key pair. -EIO: libsodium cannot be initialised; or as random_bytes(). *x is set on
 * success only.
 */
int exchange_make(struct exchange *x);
/*
 * Computes the secret, which is the same at both ends. -EINVAL: theirs is a weak key; -EIO. out is
 * set on success only.
 */
int exchange_secret(const struct exchange *x,
		    const uint8_t theirs[EXCHANGE_LEN],
		    uint8_t out[EXCHANGE_LEN]);

#endif
