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
#include "client/preload/export.h"
#include "client/preload/paths/unsupported.h"
#include "client/preload/route/libc.h"

EXPORT int execve(const char *path, char *const argv[], char *const envp[]);
EXPORT int execv(const char *path, char *const argv[]);
EXPORT int execvp(const char *file, char *const argv[]);
EXPORT int execvpe(const char *file, char *const argv[], char *const envp[]);
EXPORT int execl(const char *path, const char *arg, ...);
EXPORT int execlp(const char *file, const char *arg, ...);
EXPORT int execle(const char *path, const char *arg, ...);
EXPORT int fexecve(int fd, char *const argv[], char *const envp[]);
EXPORT int execveat(int dir, const char *path, char *const argv[],
		    char *const envp[], int flags);
EXPORT int posix_spawn(pid_t *pid, const char *path,
		       const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, char *const argv[],
		       char *const envp[]);
EXPORT int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions,
					    int fd, const char *path, int flags,
					    mode_t mode);

/* ---- in this process ---- */

#define PAUSED(call)                                                           \
	({                                                                     \
		struct bypass *paused_ = bypass_pause();                       \
		int rc_ = (call);                                              \
                                                                               \
		bypass_resume(paused_);                                        \
		rc_;                                                           \
	})

int execve(const char *path, char *const argv[], char *const envp[])
{
	if (unsupported_path(path, __func__))
		return -1;
	return PAUSED(libc()->execve(path, argv, envp));
}

int execv(const char *path, char *const argv[])
{
	if (unsupported_path(path, __func__))
		return -1;
	return PAUSED(libc()->execv(path, argv));
}

/* The kernel searches the directories of PATH. */
static bool unsupported_program(const char *file, const char *call)
{
	return can_read_path(file) && strchr(file, '/') &&
	       unsupported_path(file, call);
}

int execvp(const char *file, char *const argv[])
{
	if (unsupported_program(file, __func__))
		return -1;
	return PAUSED(libc()->execvp(file, argv));
}

int execvpe(const char *file, char *const argv[], char *const envp[])
{
	if (unsupported_program(file, __func__))
		return -1;
	return PAUSED(libc()->execvpe(file, argv, envp));
}

int fexecve(int fd, char *const argv[], char *const envp[])
{
	return PAUSED(libc()->fexecve(fd, argv, envp));
}

int execveat(int dir, const char *path, char *const argv[], char *const envp[],
	     int flags)
{
	if (unsupported_at(dir, path, __func__))
		return -1;
	return PAUSED(libc()->execveat(dir, path, argv, envp, flags));
}

/* ---- with an argument list, on the stack: a child of vfork() may not allocate ---- */

/* Counts arg and the NULL, too. */
static size_t count_arguments(va_list *ap)
{
	size_t n = 2;

	while (va_arg(*ap, char *))
		n++;
	return n;
}

static char *const *fill_arguments(char **argv, const char *arg, va_list *ap)
{
	size_t n = 0;

	argv[n++] = (char *)(uintptr_t)arg;
	while ((argv[n] = va_arg(*ap, char *)))
		n++;
	return argv;
}

/* Converts the list for execv(); ap is at its end afterwards. */
#define ARGUMENT_LIST(arg, ap)                                                 \
	({                                                                     \
		va_list ahead_;                                                \
		char **argv_;                                                  \
                                                                               \
		va_copy(ahead_, ap);                                           \
		argv_ = alloca(count_arguments(&ahead_) * sizeof(*argv_));     \
		va_end(ahead_);                                                \
		fill_arguments(argv_, arg, &ap);                               \
	})

int execl(const char *path, const char *arg, ...)
{
	va_list ap;
	int rc;

	va_start(ap, arg);
	rc = execv(path, ARGUMENT_LIST(arg, ap));
	va_end(ap);
	return rc;
}

int execlp(const char *file, const char *arg, ...)
{
	va_list ap;
	int rc;

	va_start(ap, arg);
	rc = execvp(file, ARGUMENT_LIST(arg, ap));
	va_end(ap);
	return rc;
}

int execle(const char *path, const char *arg, ...)
{
	char *const *argv;
	va_list ap;
	int rc;

	va_start(ap, arg);
	argv = ARGUMENT_LIST(arg, ap);
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
	return unsupported_path(path, __func__)
		       ? errno
		       : NEXT_FUNCTION(posix_spawn)(pid, path, actions, attr,
						    argv, envp);
}

int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions,
				     int fd, const char *path, int flags,
				     mode_t mode)
{
	return unsupported_path(path, __func__)
		       ? errno
		       : NEXT_FUNCTION(posix_spawn_file_actions_addopen)(
				 actions, fd, path, flags, mode);
}
