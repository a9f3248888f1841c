/* SPDX-License-Identifier: BSD-2-Clause */
/* quick.c - see quick.h. */
#include "common/trust/quick.h"

_Static_assert(MAC_LEN >= crypto_generichash_BYTES_MIN &&
		       MAC_LEN <= crypto_generichash_BYTES_MAX &&
		       MAC_KEY_LEN >= crypto_generichash_KEYBYTES_MIN &&
		       MAC_KEY_LEN <= crypto_generichash_KEYBYTES_MAX,
	       "or there would be no code");

void quick_begin(struct quick *quick, const uint8_t key[MAC_KEY_LEN])
{
	crypto_generichash_init(&quick->begun, key, MAC_KEY_LEN, MAC_LEN);
}

/* crypto_generichash_final() wipes the copy of the state. */
void quick_mac(const struct quick *quick, const void *ptr, size_t len,
	       uint8_t out[MAC_LEN])
{
	crypto_generichash_state state = quick->begun;

	crypto_generichash_update(&state, ptr, len);
	crypto_generichash_final(&state, out, MAC_LEN);
}
