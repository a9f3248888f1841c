/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mac.h - message authentication codes with libsodium: HMAC-SHA256 (RFC 2104, FIPS 180-4).
 * libsodium chooses no code for it at run time, so sodium_init() is not needed.
 */
#ifndef MAC_H
#define MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAC_KEY_LEN 32u
#define MAC_LEN 32u

/* A part of the authenticated data. */
struct mac_field {
	const void *ptr;
	size_t len; /* bytes; may be 0 */
};

/*
 * The code of label and the n fields. Each has its length in front, so two different lists of
 * fields never give the same bytes. label states the purpose: a code for one purpose is never valid
 * for another. out may be key.
 */
void mac_make(const uint8_t key[MAC_KEY_LEN], const char *label,
	      const struct mac_field *field, unsigned int n,
	      uint8_t out[MAC_LEN]);

/* Constant time: does not depend on the position of a difference. */
bool mac_equal(const uint8_t a[MAC_LEN], const uint8_t b[MAC_LEN]);

#endif
