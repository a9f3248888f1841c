/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refused.c - calls of which libc does all within itself, where we see nothing: on our
 * paths they would find, or make, something else.
 */
#undef _FILE_OFFSET_BITS
#include <aio.h>
#include <dlfcn.h>
#include <ftw.h>
#include <fts.h>
#include <glob.h>
#include <spawn.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "next.h"
#include "refuse.h"
#include "seen.h"
#include "under.h"
#include "whose.h"

/* Ours, or relative to a directory of ours: an error is set. */
static bool is_no(const char *path, const char *call)
{
	struct spot at;
	enum whose whose = whose_path(&at, AT_FDCWD, path, call);

	if (whose == OURS)
		refuse_path(call, path, ENOTSUP);
	return whose != KERNELS;
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

/* ---- programs ---- */

SEEN int execve(const char *path, char *const argv[], char *const envp[]);
SEEN int execv(const char *path, char *const argv[]);
SEEN int posix_spawn(pid_t *pid, const char *path,
		     const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attr, char *const argv[],
		     char *const envp[]);
SEEN int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions,
					  int fd, const char *path, int flags,
					  mode_t mode);

int execve(const char *path, char *const argv[], char *const envp[])
{
	return is_no(path, __func__) ? -1 : under()->execve(path, argv, envp);
}

int execv(const char *path, char *const argv[])
{
	return is_no(path, __func__) ? -1 : under()->execv(path, argv);
}

int posix_spawn(pid_t *pid, const char *path,
		const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attr, char *const argv[],
		char *const envp[])
{
	return is_no(path, __func__) ? errno
				     : NEXT(posix_spawn)(pid, path, actions,
							 attr, argv, envp);
}

int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions,
				     int fd, const char *path, int flags,
				     mode_t mode)
{
	return is_no(path, __func__) ? errno
				     : NEXT(posix_spawn_file_actions_addopen)(
					       actions, fd, path, flags, mode);
}

/* ---- walks ---- */

SEEN int glob(const char *pattern, int flags, int (*fail)(const char *, int),
	      glob_t *result);
SEEN FTS *fts_open(char *const *paths, int options,
		   int (*compare)(const FTSENT **, const FTSENT **));
TWO_NAMES(int, ftw, ftw64,
	  (const char *path, int (*fn)(const char *, const struct stat *, int),
	   int most));
TWO_NAMES(int, nftw, nftw64,
	  (const char *path,
	   int (*fn)(const char *, const struct stat *, int, struct FTW *),
	   int most, int flags));
TWO_NAMES(int, scandir, scandir64,
	  (const char *path, struct dirent ***list,
	   int (*filter)(const struct dirent *),
	   int (*compare)(const struct dirent **, const struct dirent **)));

int glob(const char *pattern, int flags, int (*fail)(const char *, int),
	 glob_t *result)
{
	return is_no(pattern, __func__)
		       ? GLOB_ABORTED
		       : NEXT(glob)(pattern, flags, fail, result);
}

FTS *fts_open(char *const *paths, int options,
	      int (*compare)(const FTSENT **, const FTSENT **))
{
	int i;

	for (i = 0; paths[i]; i++) {
		if (is_no(paths[i], __func__))
			return NULL;
	}
	return NEXT(fts_open)(paths, options, compare);
}

int ftw(const char *path, int (*fn)(const char *, const struct stat *, int),
	int most)
{
	return is_no(path, __func__) ? -1 : NEXT(ftw)(path, fn, most);
}

int nftw(const char *path,
	 int (*fn)(const char *, const struct stat *, int, struct FTW *),
	 int most, int flags)
{
	return is_no(path, __func__) ? -1 : NEXT(nftw)(path, fn, most, flags);
}

int scandir(const char *path, struct dirent ***list,
	    int (*filter)(const struct dirent *),
	    int (*compare)(const struct dirent **, const struct dirent **))
{
	return is_no(path, __func__)
		       ? -1
		       : NEXT(scandir)(path, list, filter, compare);
}

/* ---- others ---- */

SEEN int bind(int fd, const struct sockaddr *name, socklen_t len);
SEEN int inotify_add_watch(int fd, const char *path, uint32_t events);
SEEN int chroot(const char *path);

/* A socket's name is one of the kernel's. */
int bind(int fd, const struct sockaddr *name, socklen_t len)
{
	const struct sockaddr_un *un = (const void *)name;
	char path[sizeof(un->sun_path) + 1] = "";

	if (name && len > sizeof(sa_family_t) && name->sa_family == AF_UNIX &&
	    len <= sizeof(*un))
		memcpy(path, un->sun_path, len - sizeof(sa_family_t));
	return *path && is_no(path, __func__) ? -1 : NEXT(bind)(fd, name, len);
}

int inotify_add_watch(int fd, const char *path, uint32_t events)
{
	return is_no(path, __func__)
		       ? -1
		       : NEXT(inotify_add_watch)(fd, path, events);
}

int chroot(const char *path)
{
	return is_no(path, __func__) ? -1 : NEXT(chroot)(path);
}

/* ---- requests, which libc makes in threads of its own ---- */

static const struct next *behind;

static bool is_no_request(const struct aiocb *cb, const char *call)
{
	enum whose whose = whose_fd(cb->aio_fildes, call);

	if (whose == OURS)
		refuse_fd(call, cb->aio_fildes, ENOTSUP);
	return whose != KERNELS;
}

static int our_aio_read(struct aiocb *cb)
{
	return is_no_request(cb, "aio_read") ? -1 : behind->aio_read(cb);
}

static int our_aio_write(struct aiocb *cb)
{
	return is_no_request(cb, "aio_write") ? -1 : behind->aio_write(cb);
}

static int our_aio_fsync(int op, struct aiocb *cb)
{
	return is_no_request(cb, "aio_fsync") ? -1 : behind->aio_fsync(op, cb);
}

static int our_listio(int mode, struct aiocb *const *list, int n,
		      struct sigevent *event)
{
	int i;

	for (i = 0; i < n; i++) {
		if (list[i] && list[i]->aio_lio_opcode != LIO_NOP &&
		    is_no_request(list[i], "lio_listio"))
			return -1;
	}
	return behind->lio_listio(mode, list, n, event);
}

void requests_behind(const struct next *before)
{
	behind = before;
	next.aio_read = our_aio_read;
	next.aio_write = our_aio_write;
	next.aio_fsync = our_aio_fsync;
	next.lio_listio = our_listio;
}
