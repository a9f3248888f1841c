/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_fuse_locks.c - a lock request to the mount gets exactly one reply, whatever its result is.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "client/fuse/bypass_page.h"
#include "client/fuse/cache/dentry_cache.h"
#include "client/fuse/inval_queue.h"
#include "client/fuse/lock_owners.h"
#include "client/fuse/ops.h"
#include "client/fuse/waiting_locks.h"
#include "client/lib/file/held.h"
#include "tests/run_suite.h"

/* ---- functions that locks.c calls ---- */

static struct {
	int lock; /* reply of the manager */
	int begins; /* result of waiting_locks_add() */
	bool paged; /* the kernel has cached pages */
	bool written; /* a process here has the file open for writing */
	unsigned int drops;
	unsigned int asked; /* calls of dentry_cache_lock_dir() */
	/* names that expired, and that were removed */
	unsigned int expired, removed;
	unsigned int answers;
	int answer; /* the last reply */
} now;

static struct fuse_daemon fuse_daemon;

void call_begin(struct call *c, fuse_req_t req)
{
	*c = (struct call){ .d = &fuse_daemon, .req = req };
}

void call_end(const struct call *c, int rc)
{
	now.answers++;
	now.answer = rc;
}

int fuse_reply_lock(fuse_req_t req, const struct flock *lock)
{
	now.answers++;
	now.answer = 0;
	return 0;
}

void bypass_page_forbid(struct bypass_page *m, uint64_t handle)
{
}

int lock_owners_add(struct lock_owners *o, struct file *f, uint64_t owner)
{
	return 0;
}

int lock_owners_send_lock(struct file *f, struct mgr_lock *lock)
{
	return now.lock;
}

uint64_t file_owner(struct file *f)
{
	return 1;
}

bool file_is_paged(struct fs *fs, uint64_t handle)
{
	return now.paged;
}

bool file_is_written(struct fs *fs, uint64_t handle)
{
	return now.written;
}

/* There is no reply before the invalidation. */
void inval_queue_add(struct inval_queue *q, const struct inval *what)
{
	struct inval inval = *what;

	ck_assert_uint_eq(now.answers, 0);
	now.drops++;
	inval.done(&inval);
}

void dentry_cache_lock_dir(struct dentry_cache *e, const struct dentry_file *f)
{
	ck_assert_uint_eq(f->opened, 3);
	now.asked++;
}

/* Expires the names of a file and of a directory. */
void dentry_cache_expire(struct dentry_cache *e, const struct dentry_file *f,
			 pid_t thread, dentry_expire_fn *expire, void *arg)
{
	ck_assert_uint_eq(now.answers, 0);
	ck_assert_uint_eq(f->opened, 3);
	expire(&(struct dentry){ .dir = 3, .name = "file" }, arg);
	expire(&(struct dentry){ .dir = 3, .name = "d", .is_dir = true }, arg);
}

const struct fuse_ctx *fuse_req_ctx(fuse_req_t req)
{
	static const struct fuse_ctx ctx;

	return &ctx;
}

#if EXPIRY_ARGS
static int note_expired(const char *name, size_t len)
{
	ck_assert_uint_eq(len, strlen(name));
	now.expired++;
	return 0;
}
#endif

#if EXPIRY_ARGS == 5
int fuse_lowlevel_notify_expire_entry(struct fuse_session *se,
				      fuse_ino_t parent, const char *name,
				      size_t len, enum fuse_expire_flags flags)
{
	ck_assert_uint_eq(flags, FUSE_LL_EXPIRE_ONLY);
	return note_expired(name, len);
}
#elif EXPIRY_ARGS == 4
int fuse_lowlevel_notify_expire_entry(struct fuse_session *se,
				      fuse_ino_t parent, const char *name,
				      size_t len)
{
	return note_expired(name, len);
}
#endif

int fuse_lowlevel_notify_inval_entry(struct fuse_session *se, fuse_ino_t parent,
				     const char *name, size_t len)
{
	ck_assert_str_eq(name, "file");
	now.removed++;
	return 0;
}

int waiting_locks_add(const struct call *c, struct file *f,
		      const struct mgr_lock *want, uint64_t session,
		      waiting_lock_end_fn *end)
{
	return now.begins;
}

/* ---- the tests ---- */

static const struct {
	int lock, begins;
	bool wait;
	/* number of replies at once; 0: when the wait ends */
	unsigned int answers;
	int answer;
} cases[] = {
	{ 0, 0, true, 1, 0 },
	{ -EAGAIN, 0, false, 1, -EAGAIN },
	{ -EAGAIN, 0, true, 0, 0 },
	{ -EAGAIN, -ENOLCK, true, 1, -ENOLCK }, /* too many waiting requests */
	{ -ENOLCK, 0, false, 1, -ENOLCK }, /* too many locks */
	{ -ENOLCK, 0, true, 1, -ENOLCK },
	{ -ETIMEDOUT, 0, true, 1, -ETIMEDOUT },
};

static void expect(int i)
{
	ck_assert_uint_eq(now.answers, cases[i].answers);
	ck_assert_int_eq(now.answer, cases[i].answer);
}

static void begin(int i)
{
	now.lock = cases[i].lock;
	now.begins = cases[i].begins;
	now.answers = now.drops = now.asked = 0;
	now.answer = 0;
}

START_TEST(answers_once)
{
	struct file file = { .handle = 7, .dir = 3 };
	struct fuse_file_info fi = { .lock_owner = 5, .fh = (uintptr_t)&file };
	struct flock lk = { .l_type = F_WRLCK, .l_len = 1 };

	begin(_i);
	op_setlk(NULL, 1, &fi, &lk, cases[_i].wait);
	expect(_i);
	begin(_i);
	op_flock(NULL, 1, &fi, LOCK_EX | (cases[_i].wait ? 0 : LOCK_NB));
	expect(_i);
	ck_assert_uint_eq(now.asked, 1);
}
END_TEST

static const struct {
	enum cache cache;
	double attr_timeout;
	bool paged;
	bool written;
	int type, flags; /* type of the lock; flags of the open file */
	int lock; /* reply of the manager */
	unsigned int drops;
} kept[] = {
	{ CACHE_NONE, 0, false, true, F_WRLCK, O_RDWR, 0, 0 },
	{ CACHE_NONE, 0, true, false, F_RDLCK, O_RDONLY, 0, 1 },
	{ CACHE_NONE, 1, false, true, F_RDLCK, O_RDONLY, 0, 1 },
	{ CACHE_OPEN, 0, false, true, F_WRLCK, O_RDWR, 0, 1 },
	{ CACHE_OPEN, 0, false, true, F_WRLCK, O_RDWR, -EAGAIN, 0 },
	/* changes through a mapping are written before other hosts get the lock */
	{ CACHE_OPEN, 0, true, true, F_UNLCK, O_RDWR, 0, 1 },
	{ CACHE_OPEN, 0, true, true, F_UNLCK, O_RDONLY, 0, 1 },
	{ CACHE_OPEN, 0, true, false, F_UNLCK, O_RDONLY, 0, 0 },
	{ CACHE_OPEN, 0, false, true, F_UNLCK, O_RDWR, 0, 0 },
};

START_TEST(drops_what_is_kept)
{
	struct file file = { .handle = 7, .dir = 3 };
	struct fuse_file_info fi = { .lock_owner = 5, .fh = (uintptr_t)&file };
	struct flock lk = { .l_type = (short)kept[_i].type, .l_len = 1 };
	int flock_op = kept[_i].type == F_UNLCK ? LOCK_UN : LOCK_EX | LOCK_NB;

	fuse_daemon = (struct fuse_daemon){
		.cache = kept[_i].cache, .attr_timeout = kept[_i].attr_timeout
	};
	atomic_init(&file.flags, kept[_i].flags);
	now.paged = kept[_i].paged;
	now.written = kept[_i].written;
	now.lock = kept[_i].lock;
	now.answers = now.drops = 0;
	op_setlk(NULL, 1, &fi, &lk, 0);
	ck_assert_uint_eq(now.drops, kept[_i].drops);
	ck_assert_uint_eq(now.answers, 1);
	now.answers = now.drops = 0;
	op_flock(NULL, 1, &fi, flock_op);
	ck_assert_uint_eq(now.drops, kept[_i].drops);
	ck_assert_uint_eq(now.answers, 1);
}
END_TEST

/* On an older kernel the names of directories stay, because the directory would lose its place. */
START_TEST(names_expire)
{
	struct file file = { .handle = 7, .dir = 3 };
	struct fuse_file_info fi = { .fh = (uintptr_t)&file };

	begin(0);
	fuse_daemon = (struct fuse_daemon){ .entry_timeout = 1,
					    .can_expire_names = _i };
	now.expired = now.removed = 0;
	op_flock(NULL, 1, &fi, LOCK_EX);
	ck_assert_uint_eq(now.answers, 1);
	ck_assert_uint_eq(now.expired, _i && EXPIRY_ARGS ? 2 : 0);
	ck_assert_uint_eq(now.removed, _i ? 0 : 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fuse_locks");
	TCase *tc = tcase_create("answers");

	tcase_add_loop_test(tc, answers_once, 0,
			    sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tc, drops_what_is_kept, 0,
			    sizeof(kept) / sizeof(kept[0]));
	tcase_add_loop_test(tc, names_expire, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
