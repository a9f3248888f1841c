/* SPDX-License-Identifier: BSD-2-Clause */
/* fast_mac.c - see fast_mac.h. */
#include "common/trust/fast_mac.h"

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
