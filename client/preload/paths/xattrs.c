/* SPDX-License-Identifier: BSD-2-Clause */
/* xattrs.c - extended attributes. */
#include <pvfs.h>

#include "seen.h"
#include "under.h"
#include "whose.h"

/* A call by path, and that of a symbolic link itself. */
#define XATTR_PATH(type, call, args, more)                                     \
	SEEN type call(const char *path, ARGS args);                           \
	type call(const char *path, ARGS args)                                 \
	{                                                                      \
		return BY_PATH(AT_FDCWD, path,                                 \
			       pvfs_##call(at.path, ARGS more),                \
			       under()->call(path, ARGS more));                \
	}
#define XATTR_FD(type, call, args, more)                                       \
	SEEN type call(int fd, ARGS args);                                     \
	type call(int fd, ARGS args)                                           \
	{                                                                      \
		return BY_FD(fd, pvfs_##call(fd, ARGS more),                   \
			     under()->call(fd, ARGS more));                    \
	}
#define ARGS(...) __VA_ARGS__
#define XATTR(type, verb, args, more)                                          \
	XATTR_PATH(type, verb##xattr, args, more)                              \
	XATTR_PATH(type, l##verb##xattr, args, more)                           \
	XATTR_FD(type, f##verb##xattr, args, more)

XATTR(int, set, (const char *name, const void *value, size_t len, int flags),
      (name, value, len, flags))
XATTR(ssize_t, get, (const char *name, void *value, size_t len),
      (name, value, len))
XATTR(ssize_t, list, (char *names, size_t len), (names, len))
XATTR(int, remove, (const char *name), (name))
