/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvalike.c - makes the same random calls on two files. One is on a mount and is used through libc,
 * so that its data bypasses the mount. The other one is used through system calls. Results, errors,
 * offsets and contents must be the same.
 *
 * 	usage: pvalike SEED CALLS FILE-OF-A-MOUNT OTHER-FILE [direct|lent]
 * 		direct	both files are on a mount
 * 		lent	as direct, and the object is borrowed, so writes need no request
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/e2e/past/pvalike.h"

/* One of the two files. */
struct side {
	const char *path;
	int fd;
	/* ROOM bytes, followed by GAP bytes of inaccessible memory */
	char *mem;
	ssize_t n;
	int err;
};

static struct side side[2];

static bool direct; /* both files are on the mount */
/*
 * Whether reads and writes may use inaccessible memory. Local file systems access the memory of a
 * write late, and a failed write can extend the file there.
 */
static bool bad[2] = { true, false };
static unsigned long calls;

/* ---- the calls ---- */

static ssize_t one(const struct side *s, const struct ask *a, void *p, size_t n)
{
	if (a->write)
		return a->at ? pwrite(s->fd, p, n, a->off) : write(s->fd, p, n);
	return a->at ? pread(s->fd, p, n, a->off) : read(s->fd, p, n);
}

static ssize_t by_libc(const struct side *s, const struct ask *a,
		       const struct iovec *v)
{
	int fd = s->fd, n = a->niov, flags = a->flags;
	off_t off = a->off;

	if (!a->list)
		return one(s, a, v->iov_base, v->iov_len);
	if (a->v2)
		return a->write ? pwritev2(fd, v, n, off, flags)
				: preadv2(fd, v, n, off, flags);
	if (a->at)
		return a->write ? pwritev(fd, v, n, off)
				: preadv(fd, v, n, off);
	return a->write ? writev(fd, v, n) : readv(fd, v, n);
}

static ssize_t by_kernel(const struct side *s, const struct ask *a,
			 const struct iovec *iov)
{
	static const long single[2][2] = { { SYS_read, SYS_write },
					   { SYS_pread64, SYS_pwrite64 } };
	static const long list[3][2] = { { SYS_readv, SYS_writev },
					 { SYS_preadv, SYS_pwritev },
					 { SYS_preadv2, SYS_pwritev2 } };

	if (!a->list)
		return syscall(single[a->at][a->write], s->fd, iov->iov_base,
			       iov->iov_len, a->off);
	return syscall(list[a->v2 ? 2 : a->at][a->write], s->fd, iov,
		       (long)a->niov, a->off, 0l, (long)a->flags);
}

static void transfer(struct side *s, const struct ask *a, bool known)
{
	static struct iovec many[IOV_MAX + 1];
	const struct iovec *iov = many;

	for (int i = 0; i < 4; i++)
		many[i] = (struct iovec){ a->piece[i].bad
						  ? a->piece[i].bad
						  : s->mem + a->piece[i].from,
					  a->piece[i].len };
	if (a->list_at)
		iov = a->list_at;
	errno = 0;
	s->n = known ? by_libc(s, a, iov) : by_kernel(s, a, iov);
	s->err = s->n < 0 ? errno : 0;
}

/* ---- comparison ---- */

/* The memory after the bytes that were read may have any content. */
static void forget(const struct ask *a)
{
	size_t left = side[1].n > 0 ? (size_t)side[1].n : 0;

	if (!side[1].n && !a->write && side[0].err == EFAULT)
		/* the error was seen before the end of the file */
		side[0].n = side[0].err = 0;
	for (int i = 0; !a->write && i < a->niov && i < 4; i++) {
		size_t from = a->piece[i].from, len = a->piece[i].len;
		size_t keep = len < left ? len : left;

		left -= keep;
		if (len > ROOM - from)
			len = ROOM - from;
		for (int k = 0; len > keep && k < 2; k++)
			memset(side[k].mem + from + keep, 0, len - keep);
	}
}

static off_t where(const struct side *s)
{
	return lseek(s->fd, 0, SEEK_CUR);
}

/* Returns the size of the file, which a failed call may have changed. */
static off_t size_of(const struct side *s)
{
	struct stat st;

	must(!fstat(s->fd, &st));
	return st.st_size;
}

static bool alike(void)
{
	return side[0].n == side[1].n && side[0].err == side[1].err &&
	       where(&side[0]) == where(&side[1]) &&
	       (side[0].n >= 0 || size_of(&side[0]) == size_of(&side[1])) &&
	       fcntl(side[0].fd, F_GETFL) == fcntl(side[1].fd, F_GETFL) &&
	       !memcmp(side[0].mem, side[1].mem, ROOM);
}

static void say(void)
{
	for (int i = 0; i < 2; i++)
		fprintf(stderr,
			"%s: %zd, %s, offset %lld, size %lld, flags %#x\n",
			side[i].path, side[i].n, strerror(side[i].err),
			(long long)where(&side[i]),
			(long long)size_of(&side[i]),
			(unsigned int)fcntl(side[i].fd, F_GETFL));
}

static bool same_content(void)
{
	static char got[2][65536];
	struct stat st[2];
	ssize_t n[2];

	for (off_t at = 0;; at += n[0]) {
		for (int i = 0; i < 2; i++) {
			int fd = open(side[i].path, O_RDONLY);

			must(fd >= 0 && !fstat(fd, &st[i]));
			n[i] = syscall(SYS_pread64, fd, got[i], sizeof(got[i]),
				       at);
			must(n[i] >= 0 && !close(fd));
		}
		if (st[0].st_size != st[1].st_size || n[0] != n[1] ||
		    memcmp(got[0], got[1], (size_t)n[0]))
			return false;
		if (!n[0])
			return true;
	}
}

/* ---- other calls on the descriptors ---- */

static void reopen(void)
{
	static const int modes[] = { O_RDWR, O_RDWR,   O_RDWR,
				     O_RDWR, O_RDONLY, O_WRONLY };
	static const int more[] = { O_APPEND, O_SYNC, O_DSYNC, O_NONBLOCK };
	int flags = one_in(30) ? O_PATH : modes[below(6)];

	if (flags != O_PATH && one_in(2))
		flags |= more[below(4)];
	if (flags != O_PATH && direct && one_in(4))
		flags |= O_DIRECT;
	for (int i = 0; i < 2; i++) {
		int fd = open(side[i].path, flags);

		must(fd >= 0);
		if (flags & O_APPEND || one_in(2)) {
			must(dup2(fd, side[i].fd) == side[i].fd);
			must(!close(fd));
			continue;
		}
		must(!close(side[i].fd));
		side[i].fd = fd;
	}
}

static void toggle_append(void)
{
	int flags = fcntl(side[0].fd, F_GETFL);

	if (flags & O_PATH)
		return;
	flags ^= O_APPEND;
	for (int i = 0; i < 2; i++)
		must(!fcntl(side[i].fd, F_SETFL, flags));
}

static void limit(void)
{
	struct rlimit most;

	must(!getrlimit(RLIMIT_FSIZE, &most));
	most.rlim_cur = one_in(2) ? RLIM_INFINITY : 1 + below(300000);
	must(!setrlimit(RLIMIT_FSIZE, &most));
}

static void cut(void)
{
	off_t size = below(200000);

	for (int i = 0; i < 2; i++) {
		side[i].n = ftruncate(side[i].fd, size);
		side[i].err = side[i].n ? errno : 0;
	}
}

static void seek(void)
{
	int whence = one_in(2) ? SEEK_SET : SEEK_END;
	off_t off = whence == SEEK_END ? -(off_t)below(9000)
				       : (off_t)below(200000);

	for (int i = 0; i < 2; i++)
		side[i].n = lseek(side[i].fd, off, whence);
}

static void something_else(void)
{
	static void (*const kinds[])(void) = { reopen, toggle_append, limit,
					       cut,    seek,	      seek };

	side[0].n = side[1].n = side[0].err = side[1].err = 0;
	kinds[below(6)]();
}

static void fill(void)
{
	unsigned int from = below(ROOM), n = below(ROOM - from);

	for (unsigned int i = 0; i < n; i += 1 + below(9))
		side[0].mem[from + i] = (char)random();
	memcpy(side[1].mem, side[0].mem, ROOM);
}

static bool step(struct ask *a)
{
	ask_make(a, bad);
	if (one_in(4)) {
		something_else();
	} else {
		if (a->write)
			fill();
		transfer(&side[0], a, true);
		transfer(&side[1], a, false);
		forget(a);
	}
	return alike();
}

static void begin(struct side *s, const char *path)
{
	s->path = path;
	s->fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	must(s->fd >= 0);
	s->mem = mmap(NULL, ROOM + GAP, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(s->mem != MAP_FAILED && !mprotect(s->mem + ROOM, GAP, PROT_NONE));
}

int main(int argc, char **argv)
{
	struct ask a;
	unsigned long most;

	must(argc == 5 || argc == 6);
	srandom((unsigned int)strtoul(argv[1], NULL, 10));
	most = strtoul(argv[2], NULL, 10);
	begin(&side[0], argv[3]);
	begin(&side[1], argv[4]);
	direct = argc == 6;
	if (direct) {
		bad[0] = false;
		bad[1] = !strcmp(argv[5], "direct");
	}
	must(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	for (calls = 1; calls <= most; calls++) {
		if (step(&a) && (calls % 500 || same_content()))
			continue;
		fprintf(stderr, "call %lu: ", calls);
		ask_say(&a);
		say();
		return 1;
	}
	puts("alike");
	return 0;
}
