/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_sessions.c - clients that disconnect, fall silent or reconnect, and many requests in flight
 * over crashes of the manager.
 */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/mgr/mgrrig.h"
#include "tests/run_suite.h"

static struct mgrrig rig;
static struct mgrc c;

static void setup(void)
{
	rig_serve(&rig, "session_timeout = 1\nlease = 3", &c);
}

static void teardown(void)
{
	mgrc_close(&c, true);
	rig_close(&rig);
}

static bool size_known(const char *path)
{
	return le32toh(mgrc_stat_ok(&c, path).flags) & WIRE_A_SIZE;
}

static unsigned int fences(int i)
{
	return fakeiod_get(&rig.iod[i], &rig.iod[i].fences);
}

/* Another client opens the file, and has written size bytes to it. */
static struct mgrc_file writer(struct mgrc *w, const char *path, uint64_t size)
{
	struct mgrc_file f;

	memset(w, 0, sizeof(*w));
	mgrc_open(w, &rig.addr, 0);
	ck_assert_int_eq(
		mgrc_open_file(w, path, WIRE_O_CREAT | WIRE_O_WRITE, &f), 0);
	fakeiod_set(&rig.iod[le32toh(f.attr.dist.base)], f.handle, size);
	return f;
}

static unsigned int getsizes(int i)
{
	return fakeiod_get(&rig.iod[i], &rig.iod[i].getsizes);
}

/*
 * The manager asks each iod for the size once. It asks twice if the iods took more than
 * RPC_WAIT_BRIEF_MS, because the client then repeats its request.
 */
START_TEST(test_bye_with_open_files)
{
	unsigned int asked[RIG_IODS];
	struct mgrc w;

	writer(&w, "f", 4321);
	ck_assert(!size_known("f"));
	mgrc_close(&w, true);
	rig_until(size_known("f"));
	for (int i = 0; i < RIG_IODS; i++) {
		asked[i] = getsizes(i);
		ck_assert_uint_ge(asked[i], 1);
		ck_assert_uint_le(asked[i], 2);
	}
	ck_assert_uint_eq(le64toh(mgrc_stat_ok(&c, "f").size), 4321);
	for (int i = 0; i < RIG_IODS; i++) {
		ck_assert_uint_eq(getsizes(i), asked[i]);
		ck_assert_uint_eq(fences(i), 0);
	}
}
END_TEST

/* Writes without a reply may still reach the iods, so the session is fenced. */
START_TEST(test_bye_with_unanswered_writes)
{
	struct mgrc w;

	writer(&w, "f", 4321);
	rpc_peer_set_unclean(w.peer);
	mgrc_close(&w, true);
	rig_until(size_known("f"));
	for (int i = 0; i < RIG_IODS; i++) {
		ck_assert_uint_eq(fences(i), 1);
		ck_assert_uint_eq(rig.iod[i].fenced[0], w.session);
	}
}
END_TEST

START_TEST(test_silence)
{
	struct mgrc w;

	writer(&w, "f", 99);
	mgrc_close(&w, false);
	ck_assert(!size_known("f"));
	rig_until(size_known("f"));
	ck_assert_uint_eq(le64toh(mgrc_stat_ok(&c, "f").size), 99);
	for (int i = 0; i < RIG_IODS; i++) {
		ck_assert_uint_eq(fences(i), 1);
		ck_assert_uint_eq(rig.iod[i].fenced[0], w.session);
	}
}
END_TEST

/* Creates a file without a name, whose writer falls silent. */
static struct mgrc_file orphan(void)
{
	struct mgrc w;
	struct mgrc_file f = writer(&w, "f", 99);

	for (int i = 0; i < RIG_IODS; i++)
		fakeiod_set(&rig.iod[i], f.handle, 99);
	ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	mgrc_close(&w, false);
	return f;
}

static bool has_object(int i, const struct mgrc_file *f)
{
	return fakeiod_size(&rig.iod[i], f->handle) >= 0;
}

/*
 * An iod that does not run delays nothing. Before it serves again, it gets the fence that it
 * missed, also after a crash of the manager.
 */
START_TEST(test_silence_and_no_iod)
{
	struct mgrc_file f;

	fakeiod_down(&rig.iod[2]);
	f = orphan();
	rig_until(!has_object(0, &f) && !has_object(1, &f));
	ck_assert_uint_eq(fences(0), 1);
	if (_i) {
		rig_kill(&rig);
		rig_start(&rig);
	}
	rig.iod[2].leases = 0;
	fakeiod_up(&rig.iod[2]);
	rig_until(fakeiod_get(&rig.iod[2], &rig.iod[2].leases));
	ck_assert_uint_eq(rig.iod[2].fences_at_lease, 1);
	rig_until(!has_object(2, &f));
}
END_TEST

/* The iod has fenced the session only in memory, which does not count. */
START_TEST(test_fence_that_fails)
{
	struct mgrc_file f;

	atomic_store(&rig.iod[1].fence_fail, _i ? EIO : EAGAIN);
	f = orphan();
	rig_until(fakeiod_get(&rig.iod[1], &rig.iod[1].fence_tries) >= 2);
	for (int i = 0; i < RIG_IODS; i++)
		ck_assert(has_object(i, &f));
	rig_kill(&rig);
	rig_start(&rig);
	rig_until(fakeiod_get(&rig.iod[1], &rig.iod[1].fence_tries) >= 4);
	for (int i = 0; i < RIG_IODS; i++)
		ck_assert(has_object(i, &f));
	atomic_store(&rig.iod[1].fence_fail, 0);
	rig_until(!has_object(0, &f) && !has_object(1, &f) &&
		  !has_object(2, &f));
}
END_TEST

/* The iod may still serve, so the manager waits for the end of its lease. */
START_TEST(test_silence_and_a_mute_iod)
{
	struct mgrc_file f;

	rig_until(fakeiod_get(&rig.iod[2], &rig.iod[2].leases));
	atomic_store(&rig.iod[2].mute, true);
	f = orphan();
	rig_until(!has_object(0, &f) && !has_object(1, &f));
	ck_assert_uint_ge(clock_boot(), fakeiod_until(&rig.iod[2]));
	ck_assert_uint_eq(fences(2), 0);
	rig.iod[2].leases = 0;
	fakeiod_release(&rig.iod[2]);
	rig_until(fakeiod_get(&rig.iod[2], &rig.iod[2].leases) >= 2);
	ck_assert_uint_ge(rig.iod[2].fences_at_lease, 1);
	rig_until(!has_object(2, &f));
}
END_TEST

START_TEST(test_back_after_restart)
{
	struct mgrc w, gone;
	struct mgrc_file f = writer(&w, "f", 10);

	writer(&gone, "g", 20);
	mgrc_close(&gone, false);
	rig_kill(&rig);
	rig_start(&rig);
	ck_assert_int_eq(mgrc_release(&w, &f, WIRE_R_WROTE, 10), 0);
	ck_assert_uint_le(w.fresh, 1);
	ck_assert(size_known("f"));
	ck_assert_uint_eq(le64toh(mgrc_stat_ok(&c, "f").size), 10);
	/* after a restart, the other session has a full timeout */
	ck_assert(!size_known("g"));
	rig_until(size_known("g"));
	ck_assert_uint_eq(le64toh(mgrc_stat_ok(&c, "g").size), 20);
	mgrc_close(&w, true);
}
END_TEST

START_TEST(test_too_late)
{
	struct mgrc w, again = { 0 };
	uint64_t session;

	writer(&w, "f", 10);
	session = w.session;
	mgrc_close(&w, false);
	rig_until(size_known("f"));
	mgrc_open(&again, &rig.addr, session);
	again.timeout_ms = 1000;
	ck_assert_int_ne(mgrc_mkdir(&again, "d"), 0);
	mgrc_close(&again, false);
	ck_assert_int_eq(mgrc_stat(&c, "d", NULL), -ENOENT);
}
END_TEST

/*
 * The manager must not execute a request a second time that the client repeats after the end of its
 * session.
 */
START_TEST(test_too_late_after_restart)
{
	struct mgrc w = { 0 }, again = { 0 };
	uint64_t session;

	mgrc_open(&w, &rig.addr, 0);
	session = w.session;
	if (_i) /* a session with an open file is first fenced at the iods */
		ck_assert_int_eq(mgrc_open_file(&w, "f",
						WIRE_O_CREAT | WIRE_O_WRITE,
						&(struct mgrc_file){ 0 }),
				 0);
	ck_assert_int_eq(mgrc_mkdir(&w, "d"), 0);
	mgrc_close(&w, false);
	ck_assert(rig_says(&rig, "without a connection"));
	if (_i)
		rig_until(size_known("f"));
	/* after two flushes the tombstone is on disk */
	ck_assert_int_eq(mgrc_rmdir(&c, "d"), 0);
	ck_assert_int_eq(mgrc_make(&c, "g", 0), 0);
	for (int i = 0; i < 2; i++) {
		rig_kill(&rig);
		rig_start(&rig);
		mgrc_open(&again, &rig.addr, session);
		ck_assert_int_eq(mgrc_mkdir(&again, "d"), -ESTALE);
		mgrc_close(&again, false);
	}
	mgrc_open(&again, &rig.addr, 0);
	ck_assert_int_eq(mgrc_stat(&again, "d", NULL), -ENOENT);
	mgrc_close(&again, true);
}
END_TEST

/* The next process of the manager completes the end of a session. */
START_TEST(test_too_late_after_resumed_end)
{
	struct mgrc w, again = { 0 };
	uint64_t session;

	atomic_store(&rig.iod[1].fence_fail, EAGAIN);
	writer(&w, "f", 10);
	session = w.session;
	mgrc_close(&w, false);
	rig_until(fakeiod_get(&rig.iod[1], &rig.iod[1].fence_tries) >= 1);
	rig_kill(&rig);
	rig_start(&rig);
	atomic_store(&rig.iod[1].fence_fail, 0);
	/* so the manager has closed its open files */
	rig_until(size_known("f"));
	ck_assert_int_eq(mgrc_make(&c, "g", 0), 0);
	mgrc_open(&again, &rig.addr, session);
	ck_assert_int_eq(mgrc_mkdir(&again, "d"), -ESTALE);
	mgrc_close(&again, false);
	ck_assert_int_eq(mgrc_stat(&c, "d", NULL), -ENOENT);
}
END_TEST

/*
 * A client claims that an earlier process of the manager recorded its session, but this process has
 * no record.
 */
START_TEST(test_record_lost)
{
	struct mgrc w = { .features = WIRE_FT_RECORDED }, again = { 0 };

	mgrc_open(&w, &rig.addr, 0);
	ck_assert_int_eq(mgrc_mkdir(&w, "d"), -ESTALE);
	for (int i = 0; i < RIG_IODS; i++) {
		rig_until(fences(i));
		ck_assert_uint_eq(rig.iod[i].fenced[0], w.session);
	}
	if (_i) {
		rig_kill(&rig);
		rig_start(&rig);
	}
	mgrc_open(&again, &rig.addr, w.session);
	ck_assert_int_eq(mgrc_mkdir(&again, "d"), -ESTALE);
	mgrc_close(&again, false);
	mgrc_close(&w, false);
	ck_assert_int_eq(mgrc_stat(&c, "d", NULL), -ENOENT);
}
END_TEST

START_TEST(test_orphan)
{
	struct mgrc w;
	struct mgrc_file f = writer(&w, "f", 10);
	struct wire_attr attr;

	ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	rig_kill(&rig);
	rig_start(&rig);
	ck_assert_int_eq(mgrc_stat_handle(&w, f.handle, &attr), 0);
	ck_assert_uint_eq(le32toh(attr.nlink), 0);
	if (_i) { /* the file is removed when the last writer closes it */
		ck_assert_int_eq(mgrc_release(&w, &f, WIRE_R_WROTE, 10), 0);
		mgrc_close(&w, true);
	} else { /* or when the writer dies */
		mgrc_close(&w, false);
	}
	rig_until(fakeiod_count(&rig.iod[le32toh(f.attr.dist.base)]) == 0);
	ck_assert_int_eq(mgrc_stat_handle(&c, f.handle, &attr), -ESTALE);
}
END_TEST

/* A reader holds the file, too, if it asked for that. */
START_TEST(test_held)
{
	struct mgrc_file f = { 0 };
	struct wire_attr attr;
	struct mgrc r = { 0 };

	ck_assert_int_eq(mgrc_make(&c, "f", 10), 0);
	mgrc_open(&r, &rig.addr, 0);
	ck_assert_int_eq(mgrc_open_file(&r, "f", WIRE_O_READ | WIRE_O_HOLD, &f),
			 0);
	ck_assert_uint_ne(f.open, 0);
	ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	if (_i & 2) {
		rig_kill(&rig);
		rig_start(&rig);
	}
	ck_assert_int_eq(mgrc_stat_handle(&r, f.handle, &attr), 0);
	ck_assert_uint_eq(le32toh(attr.nlink), 0);
	ck_assert(le32toh(attr.flags) & WIRE_A_SIZE);
	if (_i & 1)
		ck_assert_int_eq(mgrc_release(&r, &f, 0, 0), 0);
	mgrc_close(&r, _i & 1);
	rig_until(mgrc_stat_handle(&c, f.handle, &attr) == -ESTALE);
}
END_TEST

#define FLYING 16
#define APPENDS 600

struct flight {
	struct rpc_call call;
	uint64_t msg[16];
	unsigned int *done;
	bool *taken;
};

static void landed(struct rpc_call *call)
{
	struct flight *f = call->arg;
	struct wire_append_rep rep;
	uint64_t off;

	must(!call->status);
	memcpy(&rep, call->reply.body, sizeof(rep));
	off = le64toh(rep.offset);
	must(off < APPENDS && !f->taken[off]);
	f->taken[off] = true;
	(*f->done)++;
	call->arg = NULL;
}

static void take_off(struct flight *f, const struct mgrc_file *file)
{
	struct wire_append body = { .handle = htole64(file->handle),
				    .open = htole64(file->open),
				    .len = htole64(1) };

	f->call = (struct rpc_call){ .msg = f->msg,
				     .deadline = clock_after_ms(30000),
				     .done = landed,
				     .arg = f };
	f->call.msg_len = mgrc_build(f->msg, WIRE_APPEND, &body, sizeof(body),
				     NULL, 0);
	rpc_call_start(c.peer, &f->call);
}

/* The ranges of all appends cover each byte once, although requests are repeated. */
START_TEST(test_many_in_flight)
{
	static bool taken[APPENDS];
	struct flight f[FLYING] = { 0 };
	struct mgrc_file file;
	unsigned int done = 0, sent = 0, kills = 0;

	memset(taken, 0, sizeof(taken));
	ck_assert_int_eq(mgrc_open_file(&c, "f",
					WIRE_O_CREAT | WIRE_O_WRITE |
						WIRE_O_APPEND,
					&file),
			 0);
	while (done < APPENDS) {
		for (int i = 0; i < FLYING && sent < APPENDS; i++) {
			if (f[i].call.arg)
				continue;
			f[i].done = &done;
			f[i].taken = taken;
			take_off(&f[i], &file);
			sent++;
		}
		rpc_ctx_progress(c.ctx, clock_after_ms(100));
		if (done > 60 * (kills + 1)) {
			rig_kill(&rig);
			rig_start(&rig);
			kills++;
		}
	}
	ck_assert_uint_ge(kills, 5);
	for (int i = 0; i < APPENDS; i++)
		ck_assert(taken[i]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_sessions");
	TCase *tc = tcase_create("sessions");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_bye_with_open_files);
	tcase_add_test(tc, test_bye_with_unanswered_writes);
	tcase_add_test(tc, test_silence);
	tcase_add_loop_test(tc, test_silence_and_no_iod, 0, 2);
	tcase_add_loop_test(tc, test_fence_that_fails, 0, 2);
	tcase_add_test(tc, test_silence_and_a_mute_iod);
	tcase_add_test(tc, test_back_after_restart);
	tcase_add_test(tc, test_too_late);
	tcase_add_loop_test(tc, test_too_late_after_restart, 0, 2);
	tcase_add_test(tc, test_too_late_after_resumed_end);
	tcase_add_loop_test(tc, test_record_lost, 0, 2);
	tcase_add_loop_test(tc, test_orphan, 0, 2);
	tcase_add_loop_test(tc, test_held, 0, 4);
	tcase_add_test(tc, test_many_in_flight);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
