/* SPDX-License-Identifier: BSD-2-Clause */
/* usermem.c - lets the kernel test memory: see usermem.h. */
#include "common/util/usermem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ /* Linux 5.14 */
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

#define PAGE 4096u /* the page size, or a divisor of it */
#define TRIES 16u /* per system call */
/* from this length on, one call for all pages pays off */
#define AT_ONCE (64u << 10)
#define SIGSET ((size_t)_NSIG / 8) /* bytes, in the kernel's format */

/* Iterates over the pages of a list of pieces: the first byte in each. */
struct pages {
	const struct iovec *iov;
	unsigned int n;
	size_t at; /* in iov */
};

static bool next_page(struct pages *p, char **mem)
{
	while (p->n && p->at >= p->iov->iov_len) {
		p->iov++;
		p->n--;
		p->at = 0;
	}
	if (!p->n)
		return false;
	*mem = (char *)p->iov->iov_base + p->at;
	p->at += PAGE - (uintptr_t)*mem % PAGE;
	return true;
}

int usermem_open(void)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int usermem_zero(int fd, void *addr, size_t len)
{
	char *mem = addr;
	ssize_t n;

	if (fd < 0) {
		memset(addr, 0, len);
		return 0;
	}
	while (len) {
		n = read(fd, mem, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EFAULT;
		mem += n;
		len -= (size_t)n;
	}
	return 0;
}

/*
 * rt_sigprocmask() reads the set before it rejects the invalid first argument. It takes a tenth of
 * the time of process_vm_readv() for a page.
 */
static bool is_readable(const char *mem)
{
	/* use the end of the page: a NULL set is not read */
	uintptr_t set = (uintptr_t)mem / PAGE * PAGE + (PAGE - SIGSET);

	return !syscall(SYS_rt_sigprocmask, -1, set, NULL, SIGSET) ||
	       errno != EFAULT;
}

/* False also if the kernel cannot test all pages in one call. */
static bool all_at_once(const struct iovec *piece, int advice)
{
	uintptr_t at = (uintptr_t)piece->iov_base;
	size_t before = at % (uintptr_t)sysconf(_SC_PAGESIZE);

	return piece->iov_len >= AT_ONCE &&
	       !madvise((void *)(at - before), before + piece->iov_len, advice);
}

static bool each_readable(int fd, const struct iovec *piece, unsigned int n)
{
	struct pages pages = { piece, n, 0 };
	uintptr_t page, last = UINTPTR_MAX;
	char *mem;

	while (next_page(&pages, &mem)) {
		page = (uintptr_t)mem / PAGE;
		if (page != last && !is_readable(mem))
			return false;
		last = page;
	}
	return true;
}

/* Reads zeros from fd into each page. */
static bool each_writable(int fd, const struct iovec *piece, unsigned int n)
{
	struct pages pages = { piece, n, 0 };
	struct iovec try[TRIES];
	unsigned int k;
	char *mem;

	do {
		for (k = 0; k < TRIES && next_page(&pages, &mem); k++)
			try[k] = (struct iovec){ mem, 1 };
		if (k && readv(fd, try, (int)k) != (ssize_t)k)
			return false;
	} while (k == TRIES);
	return true;
}

/* Tests long pieces in one call each, and the others page by page. */
static bool
try_all(const struct iovec *piece, unsigned int n, int advice,
	bool (*each)(int fd, const struct iovec *piece, unsigned int n), int fd)
{
	unsigned int i, first = 0;

	for (i = 0; i < n; i++) {
		if (!all_at_once(&piece[i], advice))
			continue;
		if (!each(fd, piece + first, i - first))
			return false;
		first = i + 1;
	}
	return each(fd, piece + first, n - first);
}

bool usermem_readable(const struct iovec *piece, unsigned int n)
{
	return try_all(piece, n, MADV_POPULATE_READ, each_readable, -1);
}

int usermem_touch(int fd, const struct iovec *iov, unsigned int n)
{
	if (fd < 0 || try_all(iov, n, MADV_POPULATE_WRITE, each_writable, fd))
		return 0;
	return -EFAULT;
}

int usermem_gather(void *buf, const struct iovec *piece, unsigned int n)
{
	char *at = buf;
	unsigned int i;

	if (!usermem_readable(piece, n))
		return -EFAULT;
	for (i = 0; i < n; at += piece[i].iov_len, i++)
		memcpy(at, piece[i].iov_base, piece[i].iov_len);
	return 0;
}

bool usermem_text(const char *s, size_t max)
{
	int saved = errno;
	size_t n = 0;
	bool ended = false;

	for (; !ended && max && is_readable(s + n); max -= n) {
		s += n;
		n = PAGE - (uintptr_t)s % PAGE;
		n = n < max ? n : max;
		ended = memchr(s, '\0', n);
	}
	errno = saved;
	return ended;
}

int usermem_put(void *to, const void *from, size_t len)
{
	const struct iovec src = { (void *)(uintptr_t)from, len };
	const struct iovec dst = { to, len };
	int saved = errno;
	ssize_t n = process_vm_writev(getpid(), &src, 1, &dst, 1, 0);
	bool bad = n < 0 ? errno == EFAULT : (size_t)n < len;

	if (n < 0 && !bad) /* process_vm_writev() is forbidden here */
		memcpy(to, from, len);
	errno = saved;
	return bad ? -EFAULT : 0;
}

static bool is_fault(ssize_t n)
{
	return n < 0 && errno == EFAULT;
}

bool usermem_there(const struct iovec *iov, unsigned int n, bool write)
{
	struct pages pages = { iov, n, 0 };
	int fd = memfd_create("usermem", MFD_CLOEXEC);
	bool there = true;
	char *mem;

	while (fd >= 0 && there && next_page(&pages, &mem))
		there = !is_fault(pwrite(fd, mem, 1, 0)) &&
			!(write && is_fault(pread(fd, mem, 1, 0)));
	if (fd >= 0)
		close(fd);
	return there;
}
