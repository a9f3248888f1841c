/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stop_in_write.c - preloaded into a client. Once the file $STOP_IN_WRITE exists, the client
 * removes it and stops itself (SIGSTOP) directly before its next write to a borrowed object, while
 * it is marked as inside the write. For $STOP_BEHIND_WRITE it stops directly after the write, still
 * marked.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void stop_once(const char *name)
{
	const char *path = getenv(name);

	if (path && !unlink(path))
		raise(SIGSTOP);
}

__attribute__((visibility("default"))) long syscall(long n, ...)
{
	long (*next)(long n, ...) = (long (*)(long n, ...))dlsym(RTLD_NEXT,
								 "syscall");
	long a[6];
	va_list ap;
	long rc;

	va_start(ap, n);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (n == SYS_pwritev2 || n == SYS_pwrite64)
		stop_once("STOP_IN_WRITE");
	rc = next(n, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (n == SYS_pwritev2 || n == SYS_pwrite64)
		stop_once("STOP_BEHIND_WRITE");
	return rc;
}
