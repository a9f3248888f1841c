/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine.c - who computes the seals.  To load libcrypto takes a program longer than to
 * connect, and many do little more; so libsodium does it until there was so much that the
 * quicker one pays.  A thread of its own loads that: who drives waits for nobody.
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

#define MUCH (8u << 20) /* bytes of a direction */
#define STACK (256u * 1024)

/* Of the process: a library is loaded once. */
static pthread_once_t loading = PTHREAD_ONCE_INIT;
static pthread_once_t beginning = PTHREAD_ONCE_INIT;
static pthread_once_t looking = PTHREAD_ONCE_INIT;
static const struct gcm_engine *first; /* NULL: not with this processor */
static _Atomic(const struct seal_module *) module;

/* libpvfs-seal.so lies where this library does. */
static bool place(char path[PATH_MAX])
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

static void load(void)
{
	const struct seal_module *(*get)(void) = NULL;
	char path[PATH_MAX];
	void *so = place(path) ? dlopen(path,
					RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE)
			       : NULL;
	void *symbol = so ? dlsym(so, SEAL_MODULE_SYMBOL) : NULL;

	*(void **)&get = symbol;
	if (get)
		atomic_store(&module, get());
}

static void *load_main(void *arg)
{
	pthread_once(&loading, load);
	return arg;
}

/* Without a thread, or the library, it stays as it is: that is slower, and no more. */
static void begin(void)
{
	quiet_thread(STACK, load_main, NULL, NULL);
}

static const struct gcm_engine *loaded(void)
{
	const struct seal_module *m = atomic_load(&module);

	return m && !m->is_gone() ? m->engine : NULL;
}

static void look(void)
{
	first = gcm_sodium();
}

const struct gcm_engine *gcm_engine(uint64_t bytes)
{
	const struct gcm_engine *best;

	pthread_once(&looking, look);
	if (first && bytes < MUCH)
		return first;
	pthread_once(first ? &beginning : &loading, first ? begin : load);
	best = loaded();
	return best ? best : first;
}

int engine_look(const struct log *log)
{
	if (gcm_engine(0))
		return 0;
	log_error(log, "auth= in pvfstab needs " SEAL_MODULE_FILE
		       " beside libpvfs-auth.so, of the same release");
	return -ELIBACC;
}
