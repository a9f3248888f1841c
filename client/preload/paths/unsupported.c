/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unsupported.c - calls that libc implements without calls that this library sees.  On our
 * paths they would find or create other objects, so they are rejected.
 */
#undef _FILE_OFFSET_BITS
#include <aio.h>
#include <ftw.h>
#include <fts.h>
#include <glob.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/preload/export.h"
#include "client/preload/next.h"
#include "client/preload/paths/startup.h"
#include "client/preload/paths/unsupported.h"
#include "client/preload/route/libc.h"

/* ---- directory walks ---- */

EXPORT int glob(const char *pattern, int flags, int (*fail)(const char *, int),
		glob_t *result);
EXPORT FTS *fts_open(char *const *paths, int options,
		     int (*compare)(const FTSENT **, const FTSENT **));
EXPORT_TWICE(int, ftw, ftw64,
	     (const char *path,
	      int (*fn)(const char *, const struct stat *, int), int nopenfd));
EXPORT_TWICE(int, nftw, nftw64,
	     (const char *path,
	      int (*fn)(const char *, const struct stat *, int, struct FTW *),
	      int nopenfd, int flags));
EXPORT_TWICE(int, scandir, scandir64,
	     (const char *path, struct dirent ***list,
	      int (*filter)(const struct dirent *),
	      int (*compare)(const struct dirent **, const struct dirent **)));

int glob(const char *pattern, int flags, int (*fail)(const char *, int),
	 glob_t *result)
{
	return unsupported_path(pattern, __func__)
		       ? GLOB_ABORTED
		       : NEXT_FUNCTION(glob)(pattern, flags, fail, result);
}

FTS *fts_open(char *const *paths, int options,
	      int (*compare)(const FTSENT **, const FTSENT **))
{
	int i;

	for (i = 0; paths[i]; i++) {
		if (unsupported_path(paths[i], __func__))
			return NULL;
	}
	return NEXT_FUNCTION(fts_open)(paths, options, compare);
}

int ftw(const char *path, int (*fn)(const char *, const struct stat *, int),
	int nopenfd)
{
	return unsupported_path(path, __func__)
		       ? -1
		       : NEXT_FUNCTION(ftw)(path, fn, nopenfd);
}

int nftw(const char *path,
	 int (*fn)(const char *, const struct stat *, int, struct FTW *),
	 int nopenfd, int flags)
{
	return unsupported_path(path, __func__)
		       ? -1
		       : NEXT_FUNCTION(nftw)(path, fn, nopenfd, flags);
}

int scandir(const char *path, struct dirent ***list,
	    int (*filter)(const struct dirent *),
	    int (*compare)(const struct dirent **, const struct dirent **))
{
	return unsupported_path(path, __func__)
		       ? -1
		       : NEXT_FUNCTION(scandir)(path, list, filter, compare);
}

/* ---- others ---- */

EXPORT int bind(int fd, const struct sockaddr *name, socklen_t len);
EXPORT int inotify_add_watch(int fd, const char *path, uint32_t events);
EXPORT int chroot(const char *path);

/* The kernel needs a name of its own for a socket. */
int bind(int fd, const struct sockaddr *name, socklen_t len)
{
	const struct sockaddr_un *un = (const void *)name;
	char path[sizeof(un->sun_path) + 1] = "";

	if (name && len > sizeof(sa_family_t) && len <= sizeof(*un) &&
	    can_read_memory(name, len) && name->sa_family == AF_UNIX)
		memcpy(path, un->sun_path, len - sizeof(sa_family_t));
	return *path && unsupported_path(path, __func__)
		       ? -1
		       : NEXT_FUNCTION(bind)(fd, name, len);
}

int inotify_add_watch(int fd, const char *path, uint32_t events)
{
	return unsupported_path(path, __func__)
		       ? -1
		       : NEXT_FUNCTION(inotify_add_watch)(fd, path, events);
}

int chroot(const char *path)
{
	return unsupported_path(path, __func__) ? -1
						: NEXT_FUNCTION(chroot)(path);
}

/* ---- asynchronous requests, which libc runs in its own threads ---- */

static bool is_unsupported_request(const struct aiocb *cb, const char *call)
{
	enum route route = route_fd(cb->aio_fildes, call);

	if (route == ROUTE_PVFS)
		refuse_fd(call, cb->aio_fildes, ENOTSUP);
	return route != ROUTE_KERNEL;
}

static int routed_aio_read(struct aiocb *cb)
{
	return is_unsupported_request(cb, "aio_read")
		       ? -1
		       : next_library.aio_read(cb);
}

static int routed_aio_write(struct aiocb *cb)
{
	return is_unsupported_request(cb, "aio_write")
		       ? -1
		       : next_library.aio_write(cb);
}

static int routed_aio_fsync(int op, struct aiocb *cb)
{
	return is_unsupported_request(cb, "aio_fsync")
		       ? -1
		       : next_library.aio_fsync(op, cb);
}

static int routed_lio_listio(int mode, struct aiocb *const *list, int n,
			     struct sigevent *event)
{
	int i;

	for (i = 0; i < n; i++) {
		if (list[i] && list[i]->aio_lio_opcode != LIO_NOP &&
		    is_unsupported_request(list[i], "lio_listio"))
			return -1;
	}
	return next_library.lio_listio(mode, list, n, event);
}

void aio_begin(void)
{
	next.aio_read = routed_aio_read;
	next.aio_write = routed_aio_write;
	next.aio_fsync = routed_aio_fsync;
	next.lio_listio = routed_lio_listio;
}
