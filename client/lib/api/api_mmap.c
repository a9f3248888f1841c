/* SPDX-License-Identifier: BSD-2-Clause */
/* api_mmap.c - private mappings: anonymous memory filled with the content of the file. */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/lib/api/api_int.h"
#include "client/lib/rw/rw.h"

static int mmap_check(struct file *f, size_t len, int flags, int64_t off)
{
	if (f->type != S_IFREG)
		return -ENODEV;
	if ((atomic_load(&f->flags) & O_ACCMODE) == O_WRONLY)
		return -EACCES;
	if (!len || off < 0 || off % sysconf(_SC_PAGESIZE))
		return -EINVAL;
	return (flags & MAP_TYPE) == MAP_PRIVATE ? 0 : -ENODEV;
}

/* Like a mapping by the kernel: offsets count bytes of the file, not of the partition. */
static void *mmap_filled(struct file *f, void *addr, size_t len, int prot,
			 int flags, int64_t off)
{
	struct iovec iov = { .iov_len = len };
	struct rw rw = {
		.iov = &iov, .niov = 1, .at = true, .off = off, .whole = true
	};
	void *mem = mmap(addr, len, PROT_READ | PROT_WRITE,
			 flags | MAP_ANONYMOUS, -1, 0);
	ssize_t n;

	if (mem == MAP_FAILED)
		return mem;
	iov.iov_base = mem;
	n = rw_run(f, -1, &rw);
	if (n >= 0 && prot != (PROT_READ | PROT_WRITE) &&
	    mprotect(mem, len, prot))
		n = -errno;
	if (n >= 0)
		return mem;
	munmap(mem, len);
	errno = (int)-n;
	return MAP_FAILED;
}

void *pvfs_mmap(void *addr, size_t len, int prot, int flags, int fd,
		int64_t off)
{
	struct file *f = flags & MAP_ANONYMOUS ? NULL : process_file(fd);
	void *mem;
	int rc;

	if (!f || !f->fs) {
		if (f)
			file_put(f);
		return mmap(addr, len, prot, flags, fd, off);
	}
	rc = mmap_check(f, len, flags, off);
	mem = rc ? MAP_FAILED : mmap_filled(f, addr, len, prot, flags, off);
	file_put(f);
	if (rc)
		errno = -rc;
	return mem;
}

int pvfs_munmap(void *addr, size_t len)
{
	return munmap(addr, len);
}
