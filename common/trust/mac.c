/* SPDX-License-Identifier: BSD-2-Clause */
/* mac.c - see mac.h. */
#include "common/trust/mac.h"

#include <endian.h>
#include <sodium/crypto_auth_hmacsha256.h>
#include <sodium/crypto_verify_32.h>
#include <string.h>

/* ---- HMAC-SHA256 ---- */

_Static_assert(MAC_LEN == crypto_auth_hmacsha256_BYTES, "a whole code");
_Static_assert(MAC_LEN == crypto_verify_32_BYTES, "compared as one");

static void add_field(crypto_auth_hmacsha256_state *state, const void *ptr,
		      size_t len)
{
	uint64_t n = htole64(len);

	crypto_auth_hmacsha256_update(state, (const void *)&n, sizeof(n));
	crypto_auth_hmacsha256_update(state, ptr, len);
}

void mac_make(const uint8_t key[MAC_KEY_LEN], const char *label,
	      const struct mac_field *field, unsigned int n,
	      uint8_t out[MAC_LEN])
{
	crypto_auth_hmacsha256_state state;

	crypto_auth_hmacsha256_init(&state, key, MAC_KEY_LEN);
	add_field(&state, label, strlen(label));
	for (unsigned int i = 0; i < n; i++)
		add_field(&state, field[i].ptr, field[i].len);
	crypto_auth_hmacsha256_final(&state, out);
	explicit_bzero(&state, sizeof(state));
}

bool mac_equal(const uint8_t a[MAC_LEN], const uint8_t b[MAC_LEN])
{
	return !crypto_verify_32(a, b);
}

/* ---- keyed BLAKE2b ---- */

_Static_assert(MAC_LEN >= crypto_generichash_BYTES_MIN &&
		       MAC_LEN <= crypto_generichash_BYTES_MAX &&
		       MAC_KEY_LEN >= crypto_generichash_KEYBYTES_MIN &&
		       MAC_KEY_LEN <= crypto_generichash_KEYBYTES_MAX,
	       "or there would be no code");

void fast_mac_begin(struct fast_mac *mac, const uint8_t key[MAC_KEY_LEN])
{
	crypto_generichash_init(&mac->begun, key, MAC_KEY_LEN, MAC_LEN);
}

/* crypto_generichash_final() wipes the copy of the state. */
void fast_mac(const struct fast_mac *mac, const void *ptr, size_t len,
	      uint8_t out[MAC_LEN])
{
	crypto_generichash_state state = mac->begun;

	crypto_generichash_update(&state, ptr, len);
	crypto_generichash_final(&state, out, MAC_LEN);
}
