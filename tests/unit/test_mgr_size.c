/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mgr_size.c - the manager's knowledge of sizes: clean and unclean closes, truncation with
 * writers, appends, requests to the iods.
 */
#include <errno.h>

#include "tests/unit/mgr_fixture.h"
#include "mgr/ns/ns_int.h"

static struct fixture fx;
static struct inode ino;

static void setup(void)
{
	fx_open(&fx);
	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	ck_assert_int_eq(fx_stat(&fx, "f", &ino), 0);
}

static void teardown(void)
{
	fx_close(&fx);
}

static bool known(void)
{
	struct ns_path p = fx_path("f");

	ck_assert_int_eq(FX_DO(&fx, (op.asked = true,
				     ns_getattr(&op, &p, true, &ino))),
			 0);
	return !(ino.flags & INODE_ASK);
}

static int stat_f(void)
{
	return fx_stat(&fx, "f", &ino);
}

static uint64_t open_f(uint32_t flags)
{
	uint64_t open;

	ck_assert_int_eq(fx_open_file(&fx, "f", WIRE_O_WRITE | flags, 0, &ino,
				      &open),
			 0);
	return open;
}

static void close_f(uint64_t open, uint64_t end, int64_t mtime)
{
	ck_assert_int_eq(fx_release(&fx, ino.handle, open,
				    end ? WIRE_R_WROTE | WIRE_R_MTIME : 0, end,
				    mtime),
			 0);
}

static int drop(uint64_t session)
{
	return FX_DO(&fx, ns_drop_open(&op, session));
}

static void answer(const struct inode *i, uint64_t size, uint64_t blocks,
		   int64_t mtime)
{
	const struct ns_size now = { size, blocks, mtime };

	ck_assert_int_eq(
		FX_DO(&fx, ns_store_size(&op, i->handle, i->gen, &now)), 0);
}

static void asked(uint64_t size, int64_t mtime)
{
	answer(&ino, size, (size + 511) / 512, mtime);
}

static int append(uint64_t open, uint64_t len, bool was_asked, uint64_t *off)
{
	return FX_DO(&fx, (op.asked = was_asked,
			   ns_append(&op, ino.handle, open, len, off)));
}

START_TEST(test_clean)
{
	uint64_t a, b;

	fx.now = 5000;
	ck_assert(known());
	a = open_f(0);
	ck_assert(!known());
	/* with writers, the manager asks no iod */
	ck_assert_int_eq(stat_f(), 0);
	b = open_f(0);
	close_f(a, 100, 5000);
	ck_assert(!known());
	close_f(b, 40, 4000);
	ck_assert(known());
	ck_assert_uint_eq(ino.size, 100);
	ck_assert_int_eq(ino.mtime, 5000);
	a = open_f(0);
	close_f(a, 0, 0);
	ck_assert(known());
	ck_assert_uint_eq(ino.size, 100);
	a = open_f(0);
	close_f(a, 20, 9000);
	ck_assert(known());
	ck_assert_uint_eq(ino.size, 100);
}
END_TEST

START_TEST(test_bad_release)
{
	uint64_t a = open_f(0);

	ck_assert_int_eq(fx_release(&fx, ino.handle, a + 1, 0, 0, 0), -EBADF);
	ck_assert_int_eq(fx_release(&fx, ino.handle + 1, a, 0, 0, 0), -EBADF);
	ck_assert_int_eq(fx_release(&fx, ino.handle, a, WIRE_R_WROTE,
				    UINT64_MAX, 0),
			 -EINVAL);
	fx.session++;
	ck_assert_int_eq(fx_release(&fx, ino.handle, a, 0, 0, 0), -EBADF);
	fx.session--;
	close_f(a, 0, 0);
	ck_assert_int_eq(fx_release(&fx, ino.handle, a, 0, 0, 0), -EBADF);
}
END_TEST

/* A write failed: the iods are asked for the size, when there are no writers. */
START_TEST(test_doubt)
{
	uint64_t a = open_f(0), b = open_f(0);

	ck_assert_int_eq(fx_release(&fx, ino.handle, a,
				    WIRE_R_WROTE | WIRE_R_MTIME | WIRE_R_DOUBT,
				    10, 2000),
			 0);
	close_f(b, 20, 3000);
	ck_assert_int_eq(stat_f(), NS_ASK);
	ck_assert(!known());
	asked(4096, 7000);
	ck_assert(known());
	ck_assert_uint_eq(ino.size, 4096);
	/* without a successful write */
	a = open_f(0);
	ck_assert_int_eq(fx_release(&fx, ino.handle, a, WIRE_R_DOUBT, 0, 0), 0);
	ck_assert_int_eq(stat_f(), NS_ASK);
}
END_TEST

START_TEST(test_unclean)
{
	uint64_t a = open_f(0);

	fx.session = 78;
	open_f(0);
	ck_assert_int_eq(drop(78), 0);
	ck_assert_int_eq(drop(78), -ENOENT);
	fx.session = 77;
	close_f(a, 10, 2000);
	fx_reopen(&fx);
	ck_assert_int_eq(stat_f(), NS_ASK);
	ck_assert_uint_eq(fx.wait, ino.handle);
	ck_assert(!known());
	asked(4096, 7000);
	ck_assert_int_eq(stat_f(), 0);
	ck_assert(known());
	ck_assert_uint_eq(ino.size, 4096);
	ck_assert_int_eq(ino.mtime, 7000);
}
END_TEST

START_TEST(test_stale_answer)
{
	struct inode then;
	uint64_t a;

	open_f(0);
	ck_assert_int_eq(drop(77), 0);
	ck_assert(!known());
	then = ino;
	a = open_f(0); /* another client writes meanwhile */
	close_f(a, 9999, 3000);
	answer(&then, 1, 8, 1);
	ck_assert(!known()); /* still tainted */
	asked(9999, 3000);
	ck_assert(known());
	ck_assert_uint_eq(ino.size, 9999);
}
END_TEST

START_TEST(test_truncate)
{
	struct intent in = { 0 }, again;
	uint64_t open;

	close_f(open_f(0), 100, 5000);
	ck_assert_int_eq(fx_truncate(&fx, "f", 100, &in), 0);
	ck_assert_uint_eq(in.id, 0);
	ck_assert_int_eq(fx_truncate(&fx, "f", UINT64_MAX, &in), -EFBIG);
	ck_assert_int_eq(fx_truncate(&fx, "/", 1, &in), -EISDIR);
	ck_assert_int_eq(fx_truncate(&fx, "f", 30, &in), 0);
	ck_assert_uint_ne(in.id, 0);
	ck_assert_int_eq(stat_f(), 0); /* the truncation has not happened yet */
	ck_assert_uint_eq(ino.size, 100);
	ck_assert_int_eq(fx_truncate(&fx, "f", 20, &again), NS_BUSY);
	ck_assert_uint_eq(fx.wait, ino.handle);
	ck_assert_int_eq(fx_open_file(&fx, "f", WIRE_O_WRITE, 0, &ino, &open),
			 NS_BUSY);
	ck_assert_int_eq(fx_open_file(&fx, "f", WIRE_O_READ, 0, &ino, &open),
			 0);
	ck_assert_int_eq(FX_DO(&fx, ns_end_truncate(&op, &in, 0)), 0);
	ck_assert_uint_eq(fx_count_intents(&fx, INTENT_RESIZE), 0);
	ck_assert(known());
	ck_assert_uint_eq(ino.size, 30);
}
END_TEST

START_TEST(test_truncate_fails)
{
	struct intent in;

	ck_assert_int_eq(fx_truncate(&fx, "f", 1 << 30, &in), 0);
	ck_assert_int_eq(FX_DO(&fx, ns_end_truncate(&op, &in, -ENOSPC)), 0);
	ck_assert_int_eq(stat_f(), NS_ASK);
	/* another truncation repairs the state */
	ck_assert_int_eq(fx_truncate(&fx, "f", 0, &in), 0);
	ck_assert_int_eq(FX_DO(&fx, ns_end_truncate(&op, &in, 0)), 0);
	ck_assert_int_eq(stat_f(), 0);
	ck_assert(known());
	ck_assert_uint_eq(ino.size, 0);
}
END_TEST

START_TEST(test_truncate_among_writers)
{
	struct intent in;
	uint64_t a = open_f(0), b = open_f(0);

	ck_assert_int_eq(fx_truncate(&fx, "f", 30, &in), 0);
	/* a close that may be before or after the truncation */
	close_f(a, 100, 5000);
	ck_assert_int_eq(FX_DO(&fx, ns_end_truncate(&op, &in, 0)), 0);
	ck_assert(!known());
	close_f(b, 10, 5000);
	ck_assert_int_eq(stat_f(), NS_ASK);
	a = open_f(0); /* a close during the truncation */
	ck_assert_int_eq(fx_truncate(&fx, "f", 40, &in), 0);
	close_f(a, 50, 6000);
	ck_assert(!known());
	ck_assert_int_eq(FX_DO(&fx, ns_end_truncate(&op, &in, 0)), 0);
	ck_assert_int_eq(stat_f(), NS_ASK);
}
END_TEST

START_TEST(test_truncate_unlinked)
{
	struct intent in;
	uint64_t h = ino.handle;

	ck_assert_int_eq(fx_truncate(&fx, "f", 30, &in), 0);
	ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	/* objects are removed only when the truncation can create none any more */
	ck_assert_uint_eq(fx_count_intents(&fx, INTENT_REMOVE), 0);
	fx_reopen(&fx);
	ck_assert_int_eq(FX_DO(&fx, ns_end_truncate(&op, &in, 0)), 0);
	ck_assert_uint_eq(fx_count_intents(&fx, INTENT_REMOVE), 1);
	ck_assert_int_eq(fx_stat_handle(&fx, h, &ino), -ESTALE);
}
END_TEST

START_TEST(test_open_truncates)
{
	struct ns_open_args args = { .path = fx_path("f"),
				     .flags = WIRE_O_WRITE | WIRE_O_TRUNC };
	struct ns_path self = { .dir = ino.handle, .path = "" };
	struct intent in;
	uint64_t open;
	bool truncate;

	close_f(open_f(0), 100, 5000);
	ck_assert_int_eq(
		FX_DO(&fx, ns_open(&op, &args, &ino, &open, &truncate)), 0);
	ck_assert(truncate);
	ck_assert_uint_eq(open, 0);
	ck_assert_int_eq(FX_DO(&fx, ns_truncate(&op, &self, 0, 0, &in)), 0);
	ck_assert_int_eq(FX_DO(&fx, ns_end_truncate(&op, &in, 0)), 0);
	ck_assert_int_eq(FX_DO(&fx,
			       (op.truncated = ino.handle,
				ns_open(&op, &args, &ino, &open, &truncate))),
			 0);
	ck_assert(!truncate);
	close_f(open, 0, 0);
	ck_assert(known());
	ck_assert_uint_eq(ino.size, 0);
	/* the file is empty now, so the iods are not needed */
	ck_assert_int_eq(
		FX_DO(&fx, ns_open(&op, &args, &ino, &open, &truncate)), 0);
	ck_assert(!truncate);
	ck_assert_int_eq(ino.mtime, fx.now);
}
END_TEST

START_TEST(test_mtime)
{
	struct ns_setattr_args a = { .valid = WIRE_S_MTIME, .mtime = 99999 };
	struct ns_path p = fx_path("f");
	uint64_t w1 = open_f(0), w2 = open_f(0), w3 = open_f(0);

	close_f(w1, 1, 3000);
	ck_assert(!known());
	ck_assert_int_eq(ino.mtime, 3000);
	fx.now = 4000;
	ck_assert_int_eq(FX_DO(&fx, ns_setattr(&op, &p, true, &a, &ino)), 0);
	ck_assert_int_eq(ino.mtime, 99999);
	close_f(w2, 1, 3500); /* a write before the utimens */
	known();
	ck_assert_int_eq(ino.mtime, 99999);
	close_f(w3, 1, 5000); /* a write after it */
	ck_assert(known());
	ck_assert_int_eq(ino.mtime, 5000);
}
END_TEST

/* The clock of the writer is behind, or all clocks were set back. */
#define SECOND INT64_C(1000000000)

START_TEST(test_mtime_back)
{
	struct ns_setattr_args a = { .valid = WIRE_S_MTIME,
				     .mtime = 2000 * SECOND };
	struct ns_path p = fx_path("f");
	uint64_t w = open_f(0);
	struct inode was;

	fx.now = 5000 * SECOND;
	close_f(w, 1, 5000 * SECOND);
	ck_assert(known());
	for (int i = 0; i < 2; i++) { /* a writer that is behind */
		was = ino;
		close_f(open_f(0), 1, 4000 * SECOND);
		ck_assert(known());
		ck_assert_int_eq(ino.mtime, 5000 * SECOND);
		ck_assert_int_gt(ino.ctime, was.ctime);
	}
	ck_assert_int_eq(FX_DO(&fx, ns_setattr(&op, &p, true, &a, &ino)), 0);
	was = ino;
	close_f(open_f(0), 1, 4000 * SECOND); /* the utimens was later */
	ck_assert(known());
	ck_assert_int_eq(ino.mtime, 2000 * SECOND);
	ck_assert_int_gt(ino.ctime, was.ctime);
	fx.now = 3000 * SECOND; /* a step back */
	close_f(open_f(0), 1, 2500 * SECOND);
	ck_assert(known());
	ck_assert_int_eq(ino.mtime, 2500 * SECOND);
	ck_assert_int_eq(ino.ctime, 2500 * SECOND);
	fx.now = 1000 * SECOND;
	close_f(open_f(0), 1, 900 * SECOND);
	ck_assert(known());
	ck_assert_int_eq(ino.mtime, 900 * SECOND);
	ck_assert_int_eq(ino.ctime, 900 * SECOND);
}
END_TEST

START_TEST(test_append)
{
	uint64_t a = open_f(WIRE_O_APPEND), b = open_f(WIRE_O_APPEND), w, off;

	ck_assert_int_eq(append(a, 10, false, &off), 0);
	ck_assert_uint_eq(off, 0);
	ck_assert_int_eq(append(b, 5, false, &off), 0);
	ck_assert_uint_eq(off, 10);
	close_f(a, 10, 2000);
	fx_reopen(&fx); /* reservations survive a restart of the manager */
	ck_assert_int_eq(append(b, 1, false, &off), 0);
	ck_assert_uint_eq(off, 15);
	w = open_f(0);
	ck_assert_int_eq(append(b, 1, false, &off), NS_ASK);
	asked(1000, 2500);
	ck_assert_int_eq(append(b, 1, true, &off), 0);
	ck_assert_uint_eq(off, 1000);
	ck_assert_int_eq(append(b, 1, false, &off), NS_ASK);
	close_f(w, 5000, 3000);
	ck_assert_int_eq(append(b, 1, false, &off), 0);
	ck_assert_uint_eq(off, 5000);
	a = open_f(WIRE_O_APPEND);
	ck_assert_int_eq(append(a, 0, false, &off), 0); /* needs no request */
	ck_assert_int_eq(append(a, 0, false, &off), 0);
	ck_assert_int_eq(append(b, 1, false, &off), NS_ASK);
	close_f(a, 0, 0);
	ck_assert_int_eq(append(b, 1, false, &off), 0);
	ck_assert_uint_eq(off, 5001);
	ck_assert_int_eq(append(b, INT64_MAX, false, &off), -EFBIG);
	ck_assert_int_eq(append(a, 1, false, &off), -EBADF);
	/* reserved bytes that were not written do not count */
	close_f(b, 16, 3000);
	ck_assert(known());
	ck_assert_uint_eq(ino.size, 5000);
}
END_TEST

START_TEST(test_append_after_truncate)
{
	struct intent in;
	uint64_t a, b, off;

	close_f(open_f(0), 100, 1500);
	a = open_f(WIRE_O_APPEND);
	b = open_f(WIRE_O_APPEND);
	ck_assert_int_eq(append(a, 10, false, &off), 0);
	ck_assert_uint_eq(off, 100);
	ck_assert_int_eq(fx_truncate(&fx, "f", 7, &in), 0);
	ck_assert_int_eq(append(a, 1, false, &off), NS_BUSY);
	ck_assert_int_eq(FX_DO(&fx, ns_end_truncate(&op, &in, 0)), 0);
	close_f(b, 100, 1600); /* from before */
	ck_assert_int_eq(append(a, 1, false, &off), NS_ASK);
	asked(7, 1700);
	ck_assert_int_eq(append(a, 1, true, &off), 0);
	ck_assert_uint_eq(off, 7);
	asked(7, 1700); /* not yet written, still reserved */
	ck_assert_int_eq(append(a, 1, true, &off), 0);
	ck_assert_uint_eq(off, 8);
}
END_TEST

/* Returns the size for a session, or UINT64_MAX if it must ask the iods. */
static uint64_t shown_to(uint64_t session)
{
	struct ns_op asks = { .ns = &fx.ns,
			      .session = session,
			      .features = WIRE_FT_SOLE };
	struct wire_attr attr;

	known();
	ns_fill_attr(&asks, &ino, &attr);
	return le32toh(attr.flags) & (WIRE_A_SIZE | WIRE_A_SOLE)
		       ? le64toh(attr.size)
		       : UINT64_MAX;
}

START_TEST(test_sole)
{
	uint64_t a = open_f(0), b;

	ck_assert_uint_eq(shown_to(77), 0);
	ck_assert_uint_eq(shown_to(78), UINT64_MAX);
	b = open_f(0);
	ck_assert_uint_eq(shown_to(77), UINT64_MAX);
	close_f(a, 100, 1);
	ck_assert_uint_eq(shown_to(77), 100);
	fx.session = 78;
	a = open_f(0);
	close_f(a, 200, 1);
	ck_assert_uint_eq(shown_to(77),
			  /* the last writer's session is forgotten */
			  UINT64_MAX);
	fx.session = 77;
	close_f(b, 0, 0);
	ck_assert_uint_eq(shown_to(78), 200);
	open_f(0);
	ck_assert_uint_eq(shown_to(77), 200);
	ck_assert_uint_eq(shown_to(78), UINT64_MAX);
	size_begin_resize(&ino);
	ck_assert(!size_is_sole(&ino, 77));
	size_end_resize(&ino, 5, 0);
	ck_assert(!size_is_sole(&ino, 77));
}
END_TEST

/* 8 MiB on one iod: in which cases the space follows from the size. */
static const struct {
	uint64_t blocks;
	bool holes;
} takes[] = {
	{ 16384, false },      { 16384 + 128, false },
	{ 16384 + 129, true }, { 16383, true },
	{ 8, true },	       { UINT64_MAX, true },
};

static void close_with(uint64_t open, uint32_t flags, uint64_t end)
{
	ck_assert_int_eq(fx_release(&fx, ino.handle, open, flags, end, 0), 0);
	ck_assert_int_eq(stat_f(), 0);
}

static bool holes(void)
{
	return ino.flags & INODE_HOLES;
}

static void asked_blocks(uint64_t size, uint64_t blocks)
{
	answer(&ino, size, blocks, 1);
	ck_assert(known());
}

START_TEST(test_space)
{
	ino.dist.pcount = 1;
	ck_assert_int_eq(FX_DO(&fx, inode_put(op.ns->st, &ino)), 0);
	close_with(open_f(0), WIRE_R_WROTE, 8 << 20);
	ck_assert(!holes() && !ns_is_unsure(&ino));
	close_with(open_f(0), WIRE_R_WROTE | WIRE_R_SPACE, 8 << 20);
	ck_assert(known() && holes() && ns_is_unsure(&ino));
	asked_blocks(8 << 20, takes[_i].blocks);
	ck_assert(!ns_is_unsure(&ino));
	ck_assert_int_eq(holes(), takes[_i].holes);
}
END_TEST

/* Size and space are read from the iods in one request. */
START_TEST(test_space_of_dead)
{
	open_f(0);
	ck_assert_int_eq(drop(77), 0);
	ck_assert(!known());
	asked_blocks(8 << 20, 8);
	ck_assert(holes() && !ns_is_unsure(&ino));
}
END_TEST

/* A hole may be filled by a write, or cut off; an empty file has none. */
START_TEST(test_space_again)
{
	close_with(open_f(0), WIRE_R_WROTE | WIRE_R_SPACE, 8 << 20);
	asked_blocks(8 << 20, 8);
	close_with(open_f(0), 0, 0);
	ck_assert(holes() && !ns_is_unsure(&ino));
	close_with(open_f(0), WIRE_R_WROTE, 8 << 20);
	ck_assert(holes() && ns_is_unsure(&ino));
	open_f(0);
	ck_assert(known() || !ns_is_unsure(&ino)); /* not with writers */
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("size");
	TCase *cases[] = { tc, NULL };

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_clean);
	tcase_add_test(tc, test_bad_release);
	tcase_add_test(tc, test_doubt);
	tcase_add_test(tc, test_unclean);
	tcase_add_test(tc, test_stale_answer);
	tcase_add_test(tc, test_truncate);
	tcase_add_test(tc, test_truncate_fails);
	tcase_add_test(tc, test_truncate_among_writers);
	tcase_add_test(tc, test_truncate_unlinked);
	tcase_add_test(tc, test_open_truncates);
	tcase_add_test(tc, test_sole);
	tcase_add_test(tc, test_mtime);
	tcase_add_test(tc, test_mtime_back);
	tcase_add_test(tc, test_append);
	tcase_add_test(tc, test_append_after_truncate);
	tcase_add_loop_test(tc, test_space, 0,
			    sizeof(takes) / sizeof(takes[0]));
	tcase_add_test(tc, test_space_of_dead);
	tcase_add_test(tc, test_space_again);
	return fx_main("mgr_size", cases);
}
