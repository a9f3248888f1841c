/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seal_module.h - the interface between libpvfs-auth.so and libpvfs-seal.so, which has
 * libcrypto.
 */
#ifndef SEAL_MODULE_H
#define SEAL_MODULE_H

#include "common/trust/gcm_engine.h"

struct seal_module {
	const struct gcm_engine *engine;
	bool (*is_gone)(void); /* see gcm_engine.h */
};

#define SEAL_MODULE_FILE "libpvfs-seal.so"
#define SEAL_MODULE_SYMBOL "pvfs_seal_1"
const struct seal_module *pvfs_seal_1(void);

#endif
