/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mac.h - message authentication codes with libsodium: HMAC-SHA256 (RFC 2104, FIPS 180-4), and
 * keyed BLAKE2b (RFC 7693) for frequent use. libsodium chooses no code for HMAC-SHA256 at run time,
 * so sodium_init() is not needed for it.
 */
#ifndef MAC_H
#define MAC_H

#include <sodium/crypto_generichash.h>
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
 * Computes the code of label and the n fields. Each has its length in front, so two different lists
 * of fields never give the same bytes. label states the purpose: a code for one purpose is never
 * valid for another. out may be key.
 */
void mac_make(const uint8_t key[MAC_KEY_LEN], const char *label,
	      const struct mac_field *field, unsigned int n,
	      uint8_t out[MAC_LEN]);

/* Compares in constant time, which does not depend on the position of a difference. */
bool mac_equal(const uint8_t a[MAC_LEN], const uint8_t b[MAC_LEN]);

/*
 * Makes codes that are four times as fast, because the key is processed once for all codes. It is
 * as secret as the key.
 */
struct fast_mac {
	crypto_generichash_state begun;
};

/* The key must be for one purpose only. The caller has called sodium_init(). */
void fast_mac_begin(struct fast_mac *mac, const uint8_t key[MAC_KEY_LEN]);
void fast_mac(const struct fast_mac *mac, const void *ptr, size_t len,
	      uint8_t out[MAC_LEN]);

#endif
