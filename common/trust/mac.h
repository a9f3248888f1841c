/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mac.h - message authentication codes of libsodium: HMAC-SHA256 (RFC 2104, FIPS 180-4),
 * for which it chooses nothing at run time, so that sodium_init() is not needed.
 */
#ifndef MAC_H
#define MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAC_KEY_LEN 32u
#define MAC_LEN 32u

/* A part of what is authenticated. */
struct mac_field {
	const void *ptr;
	size_t len; /* bytes; may be 0 */
};

/*
 * The code of label and the n fields, each with its length in front, so that no two
 * lists of fields give the same bytes.  label says what the code is for: one that was
 * made for something else never passes for it.  out may be key.
 */
void mac_make(const uint8_t key[MAC_KEY_LEN], const char *label,
	      const struct mac_field *field, unsigned int n,
	      uint8_t out[MAC_LEN]);

/* In the same time wherever they differ. */
bool mac_equal(const uint8_t a[MAC_LEN], const uint8_t b[MAC_LEN]);

#endif
