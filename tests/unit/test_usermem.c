/* SPDX-License-Identifier: BSD-2-Clause */
/* test_usermem.c - memory that is accessible, in part, or not. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "common/util/usermem.h"

#define PAGE 4096u

static int fd;
/* four pages: accessible, inaccessible, read-only, accessible */
static char *mem;

static void setup(void)
{
	fd = usermem_open();
	ck_assert_int_ge(fd, 0);
	mem = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(mem, MAP_FAILED);
	memset(mem, 7, 4 * PAGE);
	ck_assert_int_eq(munmap(mem + PAGE, PAGE), 0);
	ck_assert_int_eq(mprotect(mem + 2 * PAGE, PAGE, PROT_READ), 0);
}

static void teardown(void)
{
	munmap(mem, PAGE);
	munmap(mem + 2 * PAGE, 2 * PAGE);
	close(fd);
}

static const struct {
	size_t off, len;
	bool read, write;
} ranges[] = {
	{ 0, 0, true, true },
	{ PAGE, 0, true, true },
	{ 0, 1, true, true },
	{ 0, PAGE, true, true },
	{ 100, PAGE - 99, false, false },
	{ PAGE, 1, false, false },
	{ PAGE - 1, 2, false, false },
	{ 2 * PAGE, PAGE, true, false },
	{ 2 * PAGE + 5, PAGE, true, false },
	{ 3 * PAGE, PAGE, true, true },
	{ 3 * PAGE + 9, 1, true, true },
	{ 0, 4 * PAGE, false, false },
};
#define NRANGES ((int)(sizeof(ranges) / sizeof(ranges[0])))

START_TEST(one_piece)
{
	struct iovec iov = { mem + ranges[_i].off, ranges[_i].len };
	bool write = ranges[_i].write;

	ck_assert_int_eq(usermem_there(&iov, 1, false), ranges[_i].read);
	ck_assert_int_eq(usermem_there(&iov, 1, true), write);
	/* nothing was changed so far */
	ck_assert_int_eq(mem[0] + mem[PAGE - 1] + mem[2 * PAGE], 21);
	ck_assert_int_eq(usermem_touch(fd, &iov, 1), write ? 0 : -EFAULT);
	ck_assert_int_eq(usermem_zero(fd, iov.iov_base, iov.iov_len),
			 write ? 0 : -EFAULT);
	if (write && iov.iov_len)
		ck_assert_int_eq(*(char *)iov.iov_base, 0);
}
END_TEST

START_TEST(gather)
{
	struct iovec iov[] = { { mem + 1, 3 },
			       { mem + ranges[_i].off, ranges[_i].len },
			       { mem, 2 } };
	size_t len = ranges[_i].len + 5;
	char buf[4 * PAGE + 6] = { 0 };
	int rc = usermem_gather(buf, iov, 3);

	if (!ranges[_i].read) {
		ck_assert_int_eq(rc, -EFAULT);
		return;
	}
	ck_assert_int_eq(rc, 0);
	ck_assert_ptr_null(memchr(buf, 0, len));
	ck_assert_int_eq(buf[len], 0);
}
END_TEST

/* More pages and pieces than one system call accepts; the last one is inaccessible. */
START_TEST(many_pieces)
{
	struct iovec iov[50];
	unsigned int i;

	for (i = 0; i < 49; i++)
		iov[i] = (struct iovec){ mem + i, i % 3 };
	iov[49] = (struct iovec){ mem + PAGE, 1 };
	ck_assert_int_eq(usermem_touch(fd, iov, 49), 0);
	ck_assert_int_eq(usermem_touch(fd, iov, 50), -EFAULT);
	ck_assert(usermem_there(iov, 49, true));
	ck_assert(!usermem_there(iov, 50, false));
	ck_assert_int_eq(mem[60], 7);
}
END_TEST

/* A piece that is so long that it is tried at once: accessible, and with inaccessible pages. */
START_TEST(long_piece)
{
	const size_t good = 40 * PAGE, all = good + PAGE;
	char *m = mmap(NULL, all, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec iov[] = { { m + 5, 2 }, { m + 9, good - 9 }, { m, 3 } };
	char *buf = malloc(all);

	ck_assert_ptr_ne(m, MAP_FAILED);
	ck_assert_int_eq(mprotect(m + good, PAGE, PROT_NONE), 0);
	ck_assert_int_eq(usermem_touch(fd, iov, 3), 0);
	ck_assert_int_eq(usermem_gather(buf, iov, 3), 0);
	iov[1].iov_len += 1;
	ck_assert_int_eq(usermem_touch(fd, iov, 3), -EFAULT);
	ck_assert_int_eq(usermem_gather(buf, iov, 3), -EFAULT);
	iov[1].iov_len -= 1;
	memset(m, 7, good);
	ck_assert_int_eq(mprotect(m, good, PROT_READ), 0);
	ck_assert_int_eq(usermem_touch(fd, iov, 3), -EFAULT);
	ck_assert_int_eq(usermem_gather(buf, iov, 3), 0);
	ck_assert_ptr_null(memchr(buf, 0, good - 4));
	free(buf);
	munmap(m, all);
}
END_TEST

START_TEST(null)
{
	struct iovec iov = { NULL, 1 };
	char byte;

	ck_assert_int_eq(usermem_gather(&byte, &iov, 1), -EFAULT);
	ck_assert_int_eq(usermem_touch(fd, &iov, 1), -EFAULT);
	ck_assert(!usermem_there(&iov, 1, false));
	iov.iov_len = 0;
	ck_assert_int_eq(usermem_touch(fd, &iov, 1), 0);
	ck_assert(usermem_there(&iov, 1, true));
}
END_TEST

/* Without the descriptor nothing is known, and no check fails. */
START_TEST(no_descriptor)
{
	struct iovec iov = { mem + PAGE, 1 };

	ck_assert_int_eq(usermem_touch(-1, &iov, 1), 0);
	ck_assert_int_eq(usermem_zero(-1, mem, 3), 0);
	ck_assert_int_eq(mem[2] + mem[3], 7);
}
END_TEST

/* A text ends in its page, in the next one, or cannot be read to its end. */
START_TEST(text)
{
	memset(mem, 'x', PAGE);
	errno = 7;
	ck_assert(!usermem_text(mem, 2 * PAGE));
	ck_assert(!usermem_text(mem, PAGE));
	ck_assert(!usermem_text(mem + PAGE, 5));
	ck_assert(!usermem_text(NULL, 5));
	ck_assert(!usermem_text((char *)UINTPTR_MAX - 5, 4));
	ck_assert(!usermem_text(mem, 0));
	mem[PAGE - 1] = '\0';
	ck_assert(usermem_text(mem, PAGE));
	ck_assert(usermem_text(mem + PAGE - 1, 1));
	ck_assert(!usermem_text(mem, PAGE - 1));
	ck_assert_int_eq(errno, 7);
}
END_TEST

START_TEST(copied_out)
{
	char from[8] = "1234567";

	ck_assert_int_eq(usermem_put(mem + PAGE - 8, from, 8), 0);
	ck_assert_str_eq(mem + PAGE - 8, from);
	ck_assert_int_eq(usermem_put(mem + PAGE - 7, from, 8), -EFAULT);
	ck_assert_int_eq(usermem_put(NULL, from, 8), -EFAULT);
	ck_assert_int_eq(usermem_put(NULL, from, 0), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("usermem");
	TCase *tc = tcase_create("usermem");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, one_piece, 0, NRANGES);
	tcase_add_loop_test(tc, gather, 0, NRANGES);
	tcase_add_test(tc, many_pieces);
	tcase_add_test(tc, long_piece);
	tcase_add_test(tc, null);
	tcase_add_test(tc, no_descriptor);
	tcase_add_test(tc, text);
	tcase_add_test(tc, copied_out);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
