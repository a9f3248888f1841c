/* SPDX-License-Identifier: BSD-2-Clause */
/* xattrs.c - extended attributes. */
#include <pvfs.h>
#include <stdlib.h>
#include <sys/xattr.h>

#include "client/preload/paths/seen.h"
#include "client/preload/paths/under.h"
#include "client/preload/paths/whose.h"

#define NAME_ROOM 256 /* for a name, as in the kernel */
#define MOST 65536u /* for a value, or for all names */

/* How the file is named: a path, a symbolic link itself, or a descriptor. */
enum by { PATH, LINK, FD };
struct spec {
	enum by by;
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
	if (usermem_text(name, NAME_ROOM))
		return true;
	errno = can_read(name, NAME_ROOM) && name ? ERANGE : EFAULT;
	return false;
}

static int set_value(struct spec s, const char *name, const void *value,
		     size_t len, int flags)
{
	if (!is_name(name) || !can_read(value, len < MOST ? len : MOST))
		return -1;
	if (!value && len) {
		errno = EFAULT;
		return -1;
	}
	return CALL(s, set, name, value, len, flags);
}

static int drop(struct spec s, const char *name)
{
	return is_name(name) ? CALL(s, remove, name) : -1;
}

/* name NULL: all names. */
static ssize_t ask(struct spec s, const char *name, void *out, size_t len)
{
	return name ? CALL(s, get, name, out, len) : CALL(s, list, out, len);
}

static ssize_t fill(struct spec s, const char *name, void *out, size_t len)
{
	size_t room = len < MOST ? len : MOST;
	char *own = room ? malloc(room) : NULL;
	ssize_t n = -1;

	if (own || !room)
		n = ask(s, name, own, room);
	if (n > 0 && room && copy_out(out, own, (size_t)n))
		n = -1;
	free(own);
	return n;
}

static ssize_t get_value(struct spec s, const char *name, void *value,
			 size_t len)
{
	return is_name(name) ? fill(s, name, value, len) : -1;
}

static ssize_t list_names(struct spec s, char *names, size_t len)
{
	return fill(s, NULL, names, len);
}

/* The three calls with the same verb. */
#define THREE(type, verb, ours, args, more)                                    \
	SEEN type verb##xattr(const char *path, ARGS args)                     \
	{                                                                      \
		return BY_PATH(AT_FDCWD, path, ours(OF_PATH, ARGS more),       \
			       under()->verb##xattr(path, ARGS more));         \
	}                                                                      \
	SEEN type l##verb##xattr(const char *path, ARGS args)                  \
	{                                                                      \
		return BY_PATH(AT_FDCWD, path, ours(OF_LINK, ARGS more),       \
			       under()->l##verb##xattr(path, ARGS more));      \
	}                                                                      \
	SEEN type f##verb##xattr(int fd, ARGS args)                            \
	{                                                                      \
		return BY_FD(fd, ours(OF_FD, ARGS more),                       \
			     under()->f##verb##xattr(fd, ARGS more));          \
	}
#define ARGS(...) __VA_ARGS__

THREE(int, set, set_value,
      (const char *name, const void *value, size_t len, int flags),
      (name, value, len, flags))
THREE(ssize_t, get, get_value, (const char *name, void *value, size_t len),
      (name, value, len))
THREE(ssize_t, list, list_names, (char *names, size_t len), (names, len))
THREE(int, remove, drop, (const char *name), (name))
