/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine.c - chooses the library that computes the seals.  libcrypto is faster than libsodium,
 * but loading it takes longer than connecting, and many programs do little more than connect.
 * So libsodium computes the seals first.  When enough data was sealed, a separate thread loads
 * libcrypto, so that a driving thread never waits for that.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "client/lib/auth/auth_int.h"
#include "common/util/quiet_thread.h"
#include "client/lib/auth/seal_module.h"

#define MUCH (8u << 20) /* bytes in one direction */
#define STACK (256u * 1024)

/* Globals of the process, because a library is loaded once. */
static pthread_once_t loading = PTHREAD_ONCE_INIT;
static pthread_once_t beginning = PTHREAD_ONCE_INIT;
static pthread_once_t looking = PTHREAD_ONCE_INIT;
/* NULL: this processor does not support it */
static const struct gcm_engine *first;
static _Atomic(const struct seal_module *) module;

/* libpvfs-seal.so is in the same directory as this library. */
static bool module_path(char path[PATH_MAX])
{
	const char *slash;
	Dl_info info;

	if (!dladdr(&loading, &info) || !info.dli_fname)
		return false;
	slash = strrchr(info.dli_fname, '/');
	return snprintf(path, PATH_MAX, "%.*s" SEAL_MODULE_FILE,
			slash ? (int)(slash + 1 - info.dli_fname) : 0,
			info.dli_fname) < PATH_MAX;
}

static void crypto_load(void)
{
	const struct seal_module *(*get)(void) = NULL;
	char path[PATH_MAX];
	void *so = module_path(path) ? dlopen(path, RTLD_LAZY | RTLD_LOCAL |
							    RTLD_NODELETE)
				     : NULL;
	void *symbol = so ? dlsym(so, SEAL_MODULE_SYMBOL) : NULL;

	*(void **)&get = symbol;
	if (get)
		atomic_store(&module, get());
}

static void *load_main(void *arg)
{
	pthread_once(&loading, crypto_load);
	return arg;
}

/* If the thread or the library is missing, libsodium stays in use, which is only slower. */
static void crypto_start_loading(void)
{
	quiet_thread(STACK, load_main, NULL, NULL);
}

static const struct gcm_engine *crypto_engine(void)
{
	const struct seal_module *m = atomic_load(&module);

	return m && !m->is_gone() ? m->engine : NULL;
}

static void sodium_detect(void)
{
	first = gcm_sodium();
}

const struct gcm_engine *gcm_engine(uint64_t bytes)
{
	const struct gcm_engine *best;

	pthread_once(&looking, sodium_detect);
	if (first && bytes < MUCH)
		return first;
	pthread_once(first ? &beginning : &loading,
		     first ? crypto_start_loading : crypto_load);
	best = crypto_engine();
	return best ? best : first;
}

int engine_look(const struct log *log)
{
	if (gcm_engine(0))
		return 0;
	log_error(log, "auth= in pvfstab needs " SEAL_MODULE_FILE
		       " of the same release, in the directory of "
		       "libpvfs-auth.so");
	return -ELIBACC;
}
