/* SPDX-License-Identifier: BSD-2-Clause */
/* seal.c - libpvfs-seal.so, see seal_module.h. */
#include "common/trust/gcm_engine.h"
#include "client/lib/auth/seal_module.h"

/* The first open takes longer than all later ones.  Do it here, not in a driving thread. */
static void crypto_warm_up(void)
{
	static const uint8_t zeros[MAC_KEY_LEN];
	void *way;

	if (gcm_crypto.open(NULL, zeros, true, &way))
		return;
	gcm_crypto.close(way);
}

__attribute__((visibility("default"))) const struct seal_module *
pvfs_seal_1(void)
{
	static const struct seal_module module = { &gcm_crypto,
						   crypto_is_gone };

	crypto_keep();
	crypto_warm_up();
	return &module;
}
