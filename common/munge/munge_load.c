/* SPDX-License-Identifier: BSD-2-Clause */
/* munge_load.c - see munge_int.h. */
#include "common/munge/munge_int.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

int munge_load(const struct log *log, struct munge_library *lib)
{
	struct munge_library got;
	const struct {
		const char *name;
		void **at;
	} want[] = {
		{ "munge_ctx_create", (void **)&got.ctx_create },
		{ "munge_ctx_destroy", (void **)&got.ctx_destroy },
		{ "munge_ctx_set", (void **)&got.ctx_set },
		{ "munge_encode", (void **)&got.encode },
		{ "munge_decode", (void **)&got.decode },
	};
	void *so = dlopen(MUNGE_LIBRARY,
			  RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	bool all = so;

	for (size_t i = 0; all && i < sizeof(want) / sizeof(*want); i++)
		all = (*want[i].at = dlsym(so, want[i].name));
	if (!all) {
		log_error(log,
			  "auth = munge needs " MUNGE_LIBRARY
			  ": %s: install munge (Debian: munge, libmunge2; "
			  "Fedora: munge, munge-libs)",
			  dlerror());
		return -ELIBACC;
	}
	*lib = got;
	return 0;
}
