/* SPDX-License-Identifier: BSD-2-Clause */
/* refused.h - rejecting calls that libc implements without calls that this library sees. */
#ifndef REFUSED_H
#define REFUSED_H

#include <dlfcn.h>

#include "client/preload/paths/refuse.h"
#include "client/preload/paths/whose.h"

/* True: the path is ours, or relative to a directory of ours, or unusable; errno is set. */
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

/* For rare calls, which a child does not make before its exec. */
#define NEXT(name)                                                             \
	({                                                                     \
		static __typeof__(&name) next_;                                \
                                                                               \
		if (!next_)                                                    \
			*(void **)&next_ = dlsym(RTLD_NEXT, #name);            \
		next_;                                                         \
	})

#endif
