/* SPDX-License-Identifier: BSD-2-Clause */
/* refused.h - calls of which libc does all within itself. */
#ifndef REFUSED_H
#define REFUSED_H

#include <dlfcn.h>

#include "client/preload/paths/refuse.h"
#include "client/preload/paths/whose.h"

/* Ours, or relative to a directory of ours: an error is set. */
static inline bool refused_at(int dir, const char *path, const char *call)
{
	struct spot at;
	enum whose whose = whose_path(&at, dir, path, call);

	if (whose == OURS)
		refuse_path(call, path, ENOTSUP);
	return whose != KERNELS;
}

static inline bool refused_path(const char *path, const char *call)
{
	return refused_at(AT_FDCWD, path, call);
}

/* What is called seldom, and in no child before its exec. */
#define NEXT(name)                                                             \
	({                                                                     \
		static __typeof__(&name) next_;                                \
                                                                               \
		if (!next_)                                                    \
			*(void **)&next_ = dlsym(RTLD_NEXT, #name);            \
		next_;                                                         \
	})

#endif
