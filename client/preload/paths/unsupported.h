/* SPDX-License-Identifier: BSD-2-Clause */
/* unsupported.h - rejecting calls that libc implements without calls that this library sees. */
#ifndef UNSUPPORTED_H
#define UNSUPPORTED_H

#include <dlfcn.h>

#include "client/preload/route/refuse.h"
#include "client/preload/route/route.h"

/*
 * Whether the call must fail, because PVFS does not support it: the path is on PVFS, or is
 * unusable.  Sets errno.
 */
static inline bool unsupported_at(int dir, const char *path, const char *call)
{
	struct pvfs_path at;
	enum route route = route_path(&at, dir, path, call);

	if (route == ROUTE_PVFS)
		refuse_path(call, path, ENOTSUP);
	return route != ROUTE_KERNEL;
}

static inline bool unsupported_path(const char *path, const char *call)
{
	return unsupported_at(AT_FDCWD, path, call);
}

/*
 * The next library's function with this name, found at the first call.  For rare calls that a child
 * does not make before its exec.
 */
#define NEXT_FUNCTION(name)                                                    \
	({                                                                     \
		static __typeof__(&name) next_;                                \
                                                                               \
		if (!next_)                                                    \
			*(void **)&next_ = dlsym(RTLD_NEXT, #name);            \
		next_;                                                         \
	})

#endif
