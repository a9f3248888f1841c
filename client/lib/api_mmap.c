/* SPDX-License-Identifier: BSD-2-Clause */
/* api_mmap.c - private mappings: anonymous memory filled from the file. */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api_int.h"

static int check(struct file *f, size_t len, int flags, int64_t off)
{
	if (f->type != S_IFREG)
		return -ENODEV;
	if ((atomic_load(&f->flags) & O_ACCMODE) == O_WRONLY)
		return -EACCES;
	if (!len || off < 0 || off % sysconf(_SC_PAGESIZE))
		return -EINVAL;
	return (flags & MAP_TYPE) == MAP_PRIVATE ? 0 : -ENODEV;
}

static void *map(void *addr, size_t len, int prot, int flags, int fd,
		 int64_t off)
{
	void *mem = mmap(addr, len, PROT_READ | PROT_WRITE,
			 flags | MAP_ANONYMOUS, -1, 0);
	int saved;

	if (mem == MAP_FAILED)
		return mem;
	if (pvfs_pread(fd, mem, len, off) >= 0 &&
	    (prot == (PROT_READ | PROT_WRITE) || !mprotect(mem, len, prot)))
		return mem;
	saved = errno;
	munmap(mem, len);
	errno = saved;
	return MAP_FAILED;
}

void *pvfs_mmap(void *addr, size_t len, int prot, int flags, int fd,
		int64_t off)
{
	struct file *f = flags & MAP_ANONYMOUS ? NULL : process_file(fd);
	int rc;

	if (!f || !f->fs) {
		if (f)
			file_put(f);
		return mmap(addr, len, prot, flags, fd, off);
	}
	rc = check(f, len, flags, off);
	file_put(f);
	if (!rc)
		return map(addr, len, prot, flags, fd, off);
	errno = -rc;
	return MAP_FAILED;
}

int pvfs_munmap(void *addr, size_t len)
{
	return munmap(addr, len);
}
