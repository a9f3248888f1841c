/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stop_in_copy.c - preloaded into a server. Once the file $STOP_IN_COPY exists, the server removes
 * it and stops itself (SIGSTOP) directly before its next large copy into a client's memory.
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
