/* SPDX-License-Identifier: BSD-2-Clause */
/* auth_load.c - loading libpvfs-auth.so. */
#include <dlfcn.h>
#include <stdlib.h>

#include "client/lib/session/prove_int.h"

#define FILE_NAME PVFS_PLUGINS "/libpvfs-auth.so"

const struct client_auth_ops *prove_load(const struct log *log)
{
	const char *other = secure_getenv("PVFS_AUTH_LIBRARY");
	/* RTLD_LAZY, because binding all of libcrypto takes as long as a connect. */
	void *so = dlopen(other ? other : FILE_NAME, RTLD_LAZY | RTLD_LOCAL);
	const struct client_auth_ops *(*ops)(void) = NULL;
	void *symbol = so ? dlsym(so, CLIENT_AUTH_SYMBOL) : NULL;

	if (!symbol) {
		log_error(log,
			  "auth= in pvfstab needs libpvfs-auth.so, of the same "
			  "release: %s",
			  dlerror());
		return NULL;
	}
	*(void **)&ops = symbol;
	return ops();
}
