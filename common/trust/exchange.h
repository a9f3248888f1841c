/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exchange.h - a secret that two ends make and nobody who hears them has: X25519
 * (RFC 7748) of libsodium.
 */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <stdint.h>

#define EXCHANGE_LEN 32u

/* A pair of keys, for one use.  The caller wipes it. */
struct exchange {
	uint8_t own[EXCHANGE_LEN]; /* secret */
	uint8_t public[EXCHANGE_LEN];
};

/* -EIO: libsodium could not begin; or as random_bytes().  *x is set on success only. */
int exchange_make(struct exchange *x);
/*
 * What the other end finds, too.  -EINVAL: theirs is no key that makes a secret;
 * -EIO.  out is set on success only.
 */
int exchange_secret(const struct exchange *x,
		    const uint8_t theirs[EXCHANGE_LEN],
		    uint8_t out[EXCHANGE_LEN]);

#endif
