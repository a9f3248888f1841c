/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fuse_data.c - which pages wait for a write of the mount, and are read again after it. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "client/fuse/bypass_page.h"
#include "client/fuse/cache/inflight_io.h"
#include "client/fuse/libfuse_compat.h"
#include "client/fuse/open.h"
#include "client/fuse/ops.h"
#include "client/fuse/threads/listener.h"
#include "client/lib/rw/rw.h"
#include "tests/run_suite.h"

#define PAGE 4096u
#define HANDLE 7u

/* ---- functions that data.c calls ---- */

static struct fuse_daemon fuse_daemon;
static struct file *file;

static struct {
	uint64_t page; /* this page is requested during the write */
	int told; /* the result */
	ssize_t answer;
} now;

void call_begin(struct call *c, fuse_req_t req)
{
	*c = (struct call){ .d = &fuse_daemon, .req = req };
}

bool call_repeats_timeout(struct call *c, uint64_t what)
{
	return false;
}

void call_end(const struct call *c, int rc)
{
	now.answer = rc;
}

int fuse_reply_buf(fuse_req_t req, const char *buf, size_t size)
{
	now.answer = (ssize_t)size;
	return 0;
}

int fuse_reply_write(fuse_req_t req, size_t count)
{
	now.answer = (ssize_t)count;
	return 0;
}

int fuse_lowlevel_notify_inval_inode(struct fuse_session *se, fuse_ino_t ino,
				     off_t off, off_t len)
{
	return 0;
}

int fuse_lowlevel_notify_store(struct fuse_session *se, fuse_ino_t ino,
			       off_t offset, struct fuse_bufvec *bufv,
			       enum fuse_buf_copy_flags flags)
{
	return 0;
}

const struct fuse_ctx *fuse_req_ctx(fuse_req_t req)
{
	static const struct fuse_ctx ctx;

	return &ctx;
}

void listener_hand_over(void)
{
}

bool bypass_page_is_forbidden(struct bypass_page *m, uint64_t handle)
{
	return false;
}

void bypass_page_forbid(struct bypass_page *m, uint64_t handle)
{
}

bool libfuse_compat_write_kills_setid(void)
{
	return false;
}

int open_kill_setid(struct call *c, struct file *f)
{
	return 0;
}

ssize_t rw_run(struct file *f, int fd, const struct rw *rw)
{
	struct io_range page = { .file = HANDLE,
				 .from = now.page,
				 .to = now.page + PAGE };

	now.told = inflight_io_read_start(fuse_daemon.inflight_io, &page,
					  clock_after_ms(1));
	if (!now.told)
		ck_assert(inflight_io_read_end(fuse_daemon.inflight_io, &page));
	return (ssize_t)rw->iov->iov_len;
}

/* ---- the tests ---- */

static void make(void)
{
	fuse_daemon.inflight_io = inflight_io_new();
	ck_assert_ptr_nonnull(fuse_daemon.inflight_io);
	file = file_new(&fuse_daemon.fs, O_RDWR);
	ck_assert_ptr_nonnull(file);
	file->handle = HANDLE;
}

static void drop(void)
{
	pthread_mutex_destroy(&file->lock);
	pthread_mutex_destroy(&file->pos_lock);
	pthread_cond_destroy(&file->moved);
	free(file);
	inflight_io_free(fuse_daemon.inflight_io);
}

/* 100 bytes are written at 8000. */
static const struct {
	int flags;
	bool writepage;
	uint64_t page;
	bool waits;
} cases[] = {
	{ 0, false, 0, false },
	{ 0, false, PAGE, true },
	{ 0, false, 2 * PAGE, false },
	/* others may have extended the file beyond that */
	{ O_APPEND, false, 0, false },
	{ O_APPEND, false, PAGE, true },
	{ O_APPEND, false, 2 * PAGE, true },
	{ O_APPEND, false, 1000 * PAGE, true },
	/* a write of a mapping keeps its place */
	{ O_APPEND, true, PAGE, true },
	{ O_APPEND, true, 2 * PAGE, false },
};

START_TEST(pages_wait)
{
	struct fuse_file_info fi = { .fh = (uint64_t)(uintptr_t)file,
				     .flags = O_RDWR | cases[_i].flags,
				     .writepage = cases[_i].writepage };
	char bytes[100] = { 0 };

	atomic_store(&file->flags, O_RDWR | cases[_i].flags);
	now.page = cases[_i].page;
	op_write(NULL, HANDLE, bytes, sizeof(bytes), 8000, &fi);
	ck_assert_int_eq(now.answer, sizeof(bytes));
	ck_assert_int_eq(now.told, cases[_i].waits ? -ETIMEDOUT : 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fuse_data");
	TCase *tc = tcase_create("pages");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_loop_test(tc, pages_wait, 0,
			    sizeof(cases) / sizeof(cases[0]));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
