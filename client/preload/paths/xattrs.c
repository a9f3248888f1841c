/* SPDX-License-Identifier: BSD-2-Clause */
/* xattrs.c - extended attributes. */
#include <pvfs.h>
#include <stdlib.h>
#include <sys/xattr.h>

#include "client/preload/export.h"
#include "client/preload/route/libc.h"
#include "client/preload/route/route.h"

#define NAME_SIZE 256 /* for a name, as in the kernel */
#define MAX_SIZE 65536u /* for a value, or for all names */

/* How the file is named: a path, a symbolic link itself, or a descriptor. */
enum named_by { PATH, LINK, FD };
struct spec {
	enum named_by by;
	const char *path;
	int fd;
};
#define OF_PATH ((struct spec){ PATH, at.path, -1 })
#define OF_LINK ((struct spec){ LINK, at.path, -1 })
#define OF_FD ((struct spec){ FD, NULL, fd })
#define CALL(s, verb, ...)                                                     \
	((s).by == PATH	  ? pvfs_##verb##xattr((s).path, ##__VA_ARGS__)        \
	 : (s).by == LINK ? pvfs_l##verb##xattr((s).path, ##__VA_ARGS__)       \
			  : pvfs_f##verb##xattr((s).fd, ##__VA_ARGS__))

static bool is_name(const char *name)
{
	if (usermem_text(name, NAME_SIZE))
		return true;
	errno = can_read_memory(name, NAME_SIZE) && name ? ERANGE : EFAULT;
	return false;
}

static int set_value(struct spec s, const char *name, const void *value,
		     size_t len, int flags)
{
	if (!is_name(name) ||
	    !can_read_memory(value, len < MAX_SIZE ? len : MAX_SIZE))
		return -1;
	if (!value && len) {
		errno = EFAULT;
		return -1;
	}
	return CALL(s, set, name, value, len, flags);
}

static int remove_value(struct spec s, const char *name)
{
	return is_name(name) ? CALL(s, remove, name) : -1;
}

/* name NULL: all names. */
static ssize_t get_or_list(struct spec s, const char *name, void *out,
			   size_t len)
{
	return name ? CALL(s, get, name, out, len) : CALL(s, list, out, len);
}

static ssize_t copy_result(struct spec s, const char *name, void *out,
			   size_t len)
{
	size_t room = len < MAX_SIZE ? len : MAX_SIZE;
	char *own = room ? malloc(room) : NULL;
	ssize_t n = -1;

	if (own || !room)
		n = get_or_list(s, name, own, room);
	if (n > 0 && room && copy_out(out, own, (size_t)n))
		n = -1;
	free(own);
	return n;
}

static ssize_t get_value(struct spec s, const char *name, void *value,
			 size_t len)
{
	return is_name(name) ? copy_result(s, name, value, len) : -1;
}

static ssize_t list_names(struct spec s, char *names, size_t len)
{
	return copy_result(s, NULL, names, len);
}

/* The three calls with the same verb. */
#define DEFINE_THREE(type, verb, ours, args, more)                             \
	EXPORT type verb##xattr(const char *path, ARGS args)                   \
	{                                                                      \
		return BY_PATH(AT_FDCWD, path, ours(OF_PATH, ARGS more),       \
			       libc()->verb##xattr(path, ARGS more));          \
	}                                                                      \
	EXPORT type l##verb##xattr(const char *path, ARGS args)                \
	{                                                                      \
		return BY_PATH(AT_FDCWD, path, ours(OF_LINK, ARGS more),       \
			       libc()->l##verb##xattr(path, ARGS more));       \
	}                                                                      \
	EXPORT type f##verb##xattr(int fd, ARGS args)                          \
	{                                                                      \
		return BY_FD(fd, ours(OF_FD, ARGS more),                       \
			     libc()->f##verb##xattr(fd, ARGS more));           \
	}
#define ARGS(...) __VA_ARGS__

DEFINE_THREE(int, set, set_value,
	     (const char *name, const void *value, size_t len, int flags),
	     (name, value, len, flags))
DEFINE_THREE(ssize_t, get, get_value,
	     (const char *name, void *value, size_t len), (name, value, len))
DEFINE_THREE(ssize_t, list, list_names, (char *names, size_t len), (names, len))
DEFINE_THREE(int, remove, remove_value, (const char *name), (name))
