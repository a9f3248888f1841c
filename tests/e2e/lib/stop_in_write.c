/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stop_in_write.c - to be preloaded by a client: it stops (SIGSTOP) immediately
 * before it writes to a borrowed object, inside, once the file $STOP_IN_WRITE is
 * there, and removes that.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void stop_once(void)
{
	const char *path = getenv("STOP_IN_WRITE");

	if (path && !unlink(path))
		raise(SIGSTOP);
}

__attribute__((visibility("default"))) long syscall(long n, ...)
{
	long (*next)(long n, ...) = (long (*)(long n, ...))dlsym(RTLD_NEXT,
								 "syscall");
	long a[6];
	va_list ap;

	va_start(ap, n);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (n == SYS_pwritev2)
		stop_once();
	return next(n, a[0], a[1], a[2], a[3], a[4], a[5]);
}
