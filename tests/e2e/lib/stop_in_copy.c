/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stop_in_copy.c - to be preloaded by a server: it stops (SIGSTOP) just before
 * its next large copy into a client's memory once the file $STOP_IN_COPY is
 * there, and removes that.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define LARGE 65536u

static size_t sum(const struct iovec *iov, unsigned long n)
{
	size_t bytes = 0;

	while (n)
		bytes += iov[--n].iov_len;
	return bytes;
}

__attribute__((visibility("default"))) ssize_t
process_vm_writev(pid_t pid, const struct iovec *here, unsigned long nhere,
		  const struct iovec *there, unsigned long nthere,
		  unsigned long flags)
{
	const char *path = getenv("STOP_IN_COPY");

	if (path && sum(there, nthere) >= LARGE && !unlink(path))
		raise(SIGSTOP);
	return syscall(SYS_process_vm_writev, pid, here, nhere, there, nthere,
		       flags);
}
