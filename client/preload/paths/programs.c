/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * programs.c - starting other programs, in this process or in a new one.  The kernel
 * would not find a program on a path of ours, so the call fails.  The state of this
 * process at the servers ends before exec(), because afterwards nothing would end it.  If
 * exec() fails, the program continues as after its start.  A child of vfork() has no
 * state of its own to end.
 */
#include <alloca.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "client/preload/bypass/bypass.h"
#include "client/preload/paths/refused.h"
#include "client/preload/paths/seen.h"
#include "client/preload/paths/under.h"

SEEN int execve(const char *path, char *const argv[], char *const envp[]);
SEEN int execv(const char *path, char *const argv[]);
SEEN int execvp(const char *file, char *const argv[]);
SEEN int execvpe(const char *file, char *const argv[], char *const envp[]);
SEEN int execl(const char *path, const char *arg, ...);
SEEN int execlp(const char *file, const char *arg, ...);
SEEN int execle(const char *path, const char *arg, ...);
SEEN int fexecve(int fd, char *const argv[], char *const envp[]);
SEEN int execveat(int dir, const char *path, char *const argv[],
		  char *const envp[], int flags);
SEEN int posix_spawn(pid_t *pid, const char *path,
		     const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attr, char *const argv[],
		     char *const envp[]);
SEEN int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions,
					  int fd, const char *path, int flags,
					  mode_t mode);

/* ---- in this process ---- */

#define LEAVING(call)                                                          \
	({                                                                     \
		struct bypass *left_ = bypass_pause();                         \
		int rc_ = (call);                                              \
                                                                               \
		bypass_resume(left_);                                          \
		rc_;                                                           \
	})

int execve(const char *path, char *const argv[], char *const envp[])
{
	if (refused_path(path, __func__))
		return -1;
	return LEAVING(under()->execve(path, argv, envp));
}

int execv(const char *path, char *const argv[])
{
	if (refused_path(path, __func__))
		return -1;
	return LEAVING(under()->execv(path, argv));
}

/* The kernel searches the directories of PATH. */
static bool refused_file(const char *file, const char *call)
{
	return whose_can_read(file) && strchr(file, '/') &&
	       refused_path(file, call);
}

int execvp(const char *file, char *const argv[])
{
	if (refused_file(file, __func__))
		return -1;
	return LEAVING(under()->execvp(file, argv));
}

int execvpe(const char *file, char *const argv[], char *const envp[])
{
	if (refused_file(file, __func__))
		return -1;
	return LEAVING(under()->execvpe(file, argv, envp));
}

int fexecve(int fd, char *const argv[], char *const envp[])
{
	return LEAVING(under()->fexecve(fd, argv, envp));
}

int execveat(int dir, const char *path, char *const argv[], char *const envp[],
	     int flags)
{
	if (refused_at(dir, path, __func__))
		return -1;
	return LEAVING(under()->execveat(dir, path, argv, envp, flags));
}

/* ---- with an argument list, on the stack: a child of vfork() may not allocate ---- */

/* Counts arg and the NULL, too. */
static size_t count(va_list *ap)
{
	size_t n = 2;

	while (va_arg(*ap, char *))
		n++;
	return n;
}

static char *const *fill(char **argv, const char *arg, va_list *ap)
{
	size_t n = 0;

	argv[n++] = (char *)(uintptr_t)arg;
	while ((argv[n] = va_arg(*ap, char *)))
		n++;
	return argv;
}

/* Converts the list for execv(); ap is at its end afterwards. */
#define LISTED(arg, ap)                                                        \
	({                                                                     \
		va_list ahead_;                                                \
		char **argv_;                                                  \
                                                                               \
		va_copy(ahead_, ap);                                           \
		argv_ = alloca(count(&ahead_) * sizeof(*argv_));               \
		va_end(ahead_);                                                \
		fill(argv_, arg, &ap);                                         \
	})

int execl(const char *path, const char *arg, ...)
{
	va_list ap;
	int rc;

	va_start(ap, arg);
	rc = execv(path, LISTED(arg, ap));
	va_end(ap);
	return rc;
}

int execlp(const char *file, const char *arg, ...)
{
	va_list ap;
	int rc;

	va_start(ap, arg);
	rc = execvp(file, LISTED(arg, ap));
	va_end(ap);
	return rc;
}

int execle(const char *path, const char *arg, ...)
{
	char *const *argv;
	va_list ap;
	int rc;

	va_start(ap, arg);
	argv = LISTED(arg, ap);
	rc = execve(path, argv, va_arg(ap, char *const *));
	va_end(ap);
	return rc;
}

/* ---- in a new process ---- */

int posix_spawn(pid_t *pid, const char *path,
		const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attr, char *const argv[],
		char *const envp[])
{
	return refused_path(path, __func__)
		       ? errno
		       : NEXT(posix_spawn)(pid, path, actions, attr, argv,
					   envp);
}

int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions,
				     int fd, const char *path, int flags,
				     mode_t mode)
{
	return refused_path(path, __func__)
		       ? errno
		       : NEXT(posix_spawn_file_actions_addopen)(actions, fd,
								path, flags,
								mode);
}
