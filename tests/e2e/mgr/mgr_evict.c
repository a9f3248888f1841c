/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_evict.c - EVICT and SESSIONS: which sessions are ended, when the reply is sent, and which
 * clients may send these requests.
 */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/mgr/mgrrig.h"
#include "tests/run_suite.h"

static struct mgrrig rig;
static struct mgrc admin, reader, writer;
static struct mgrc_file f;

static void setup(void)
{
	rig_serve(&rig, "session_timeout = 300\nlease = 3", &admin);
	ck_assert_int_eq(mgrc_make(&admin, "f", 0), 0);
	memset(&reader, 0, sizeof(reader));
	memset(&writer, 0, sizeof(writer));
	mgrc_open(&reader, &rig.addr, 0);
	mgrc_open(&writer, &rig.addr, 0);
	ck_assert_int_eq(mgrc_open_file(&reader, "f", WIRE_O_READ, &f), 0);
	ck_assert_int_eq(mgrc_open_file(&writer, "f", WIRE_O_WRITE, &f), 0);
}

static void teardown(void)
{
	mgrc_close(&reader, false);
	mgrc_close(&writer, false);
	mgrc_close(&admin, true);
	rig_close(&rig);
}

static int evict(struct mgrc *c, struct wire_evict body, const char *text,
		 struct wire_evict_rep *rep)
{
	const struct mgrc_item tail = { text, strlen(text) };
	int rc;

	body.len = htole32((uint32_t)tail.len);
	rc = mgrc_call(c, WIRE_EVICT, &body, sizeof(body), &tail, 1);
	if (!rc)
		memcpy(rep, c->body, sizeof(*rep));
	return rc;
}

static int evict_one(struct mgrc *c, uint64_t session, uint32_t ms,
		     struct wire_evict_rep *rep)
{
	const struct wire_evict body = { .session = htole64(session),
					 .wait_ms = htole32(ms) };

	return evict(c, body, "", rep);
}

static bool was_fenced(struct fakeiod *iod, uint64_t session)
{
	unsigned int n = fakeiod_get(iod, &iod->fences);

	for (unsigned int k = 0; k < n && k < 64; k++)
		if (iod->fenced[k] == session)
			return true;
	return false;
}

static int list(struct mgrc *c, uint64_t after, struct wire_sessions_rep *rep)
{
	const struct wire_sessions body = { htole64(after) };
	int rc = mgrc_call(c, WIRE_SESSIONS, &body, sizeof(body), NULL, 0);

	if (!rc)
		memcpy(rep, c->body, sizeof(*rep));
	return rc;
}

static const struct wire_session *row_of(uint64_t session)
{
	const struct wire_session *row = (const void *)admin.tail;
	struct wire_sessions_rep rep;

	ck_assert_int_eq(list(&admin, 0, &rep), 0);
	for (uint32_t i = 0; i < rep.n; i++)
		if (row[i].id == session)
			return &row[i];
	return NULL;
}

/*
 * After the reply, all iods have fenced the session, even if it only read, and its locks are free.
 */
START_TEST(test_evict)
{
	struct mgrc *c = _i ? &writer : &reader;
	struct wire_lock lock = { .handle = htole64(f.handle),
				  .end = htole64(10),
				  .type = htole32(WIRE_L_EXCLUSIVE) };
	struct wire_evict_rep rep;
	struct wire_attr attr;

	if (_i)
		ck_assert_int_eq(mgrc_call(&writer, WIRE_LOCK, &lock,
					   sizeof(lock), NULL, 0),
				 0);
	ck_assert_int_eq(evict_one(&admin, c->session, 10000, &rep), 0);
	ck_assert_uint_eq(rep.n, 1);
	ck_assert_uint_eq(rep.left, 0);
	ck_assert_uint_eq(rep.niods, 0);
	for (int i = 0; i < RIG_IODS; i++) {
		ck_assert(was_fenced(&rig.iod[i], c->session));
		ck_assert_uint_eq(fakeiod_get(&rig.iod[i],
					      &rig.iod[i].fence_flags),
				  WIRE_FN_EVICT);
	}
	ck_assert_int_eq(
		mgrc_call(&admin, WIRE_LOCK, &lock, sizeof(lock), NULL, 0), 0);
	ck_assert_ptr_null(row_of(c->session));
	ck_assert_int_eq(mgrc_stat(c, "f", &attr), -ESTALE);
	/* the client did not offer WIRE_FT_EVICT */
	ck_assert(!rpc_peer_evicted(c->peer));
	ck_assert_int_eq(evict_one(&admin, c->session, 1000, &rep), -ESRCH);
}
END_TEST

/* The session stays ended after a restart of the manager, which knows only its tombstone. */
START_TEST(test_for_good)
{
	struct mgrc *c = _i ? &writer : &reader, again = { 0 };
	uint64_t session = c->session;
	struct wire_evict_rep rep;
	struct wire_attr attr;

	ck_assert_int_eq(evict_one(&admin, session, 10000, &rep), 0);
	ck_assert_uint_eq(rep.left + rep.niods, 0);
	/* after two flushes the tombstone is on disk */
	ck_assert_int_eq(mgrc_make(&admin, "g", 0), 0);
	ck_assert_int_eq(mgrc_make(&admin, "h", 0), 0);
	rig_kill(&rig);
	rig_start(&rig);
	mgrc_open(&again, &rig.addr, session);
	ck_assert_int_eq(mgrc_stat(&again, "f", &attr), -ESTALE);
	mgrc_close(&again, false);
	ck_assert_int_eq(mgrc_stat(&admin, "f", &attr), 0);
}
END_TEST

/* A session that has not reconnected to a restarted manager still belongs to its user. */
START_TEST(test_away)
{
	struct wire_evict body = { .by = htole32(WIRE_EV_USER),
				   .uid = htole32(1000),
				   .wait_ms = htole32(10000) };
	struct wire_evict_rep rep;

	rig_kill(&rig);
	rig_start(&rig);
	ck_assert_int_eq(evict(&admin, body, "", &rep), 0);
	ck_assert_uint_eq(rep.n, 0);
	body.uid = htole32(0);
	ck_assert_int_eq(evict(&admin, body, "", &rep), 0);
	ck_assert_uint_eq(rep.n, 1);
	ck_assert_uint_eq(rep.left + rep.niods, 0);
	ck_assert(was_fenced(&rig.iod[0], writer.session));
}
END_TEST

START_TEST(test_sessions)
{
	const struct wire_session *row;
	struct wire_sessions_rep rep;

	row = row_of(writer.session);
	ck_assert_ptr_nonnull(row);
	ck_assert_uint_eq(row->opens, 1);
	ck_assert_uint_eq(row->locks, 0);
	ck_assert_uint_eq(row->flags, 0);
	ck_assert(!strncmp((const char *)row->peer, "tcp 127.0.0.1:", 14));
	ck_assert_ptr_nonnull(row_of(reader.session));
	ck_assert_ptr_null(row_of(admin.session));
	ck_assert_int_eq(list(&admin, UINT64_MAX, &rep), 0);
	ck_assert_uint_eq(rep.n, 0);
	ck_assert_uint_eq(rep.more, 0);
	mgrc_close(&writer, false);
	rig_until((row = row_of(writer.session)) && row->flags == WIRE_SE_AWAY);
	mgrc_open(&writer, &rig.addr, 0);
}
END_TEST

/*
 * The reply names the iods that have not confirmed the fence. Fencing continues, also after a crash
 * of the manager.
 */
START_TEST(test_iod_is_late)
{
	struct wire_evict_rep rep;
	le32 iod;

	atomic_store(&rig.iod[1].fence_fail, EAGAIN);
	ck_assert_int_eq(evict_one(&admin, writer.session, 300, &rep), 0);
	ck_assert_uint_eq(rep.n, 1);
	ck_assert_uint_eq(rep.left, 1);
	ck_assert_uint_eq(rep.niods, 1);
	/* there are no capabilities in this test */
	ck_assert_uint_eq(rep.until_ns, 0);
	memcpy(&iod, admin.tail, sizeof(iod));
	ck_assert_uint_eq(iod, 1);
	if (_i) {
		rig_kill(&rig);
		rig_start(&rig);
	}
	atomic_store(&rig.iod[1].fence_fail, 0);
	rig_until(was_fenced(&rig.iod[1], writer.session));
	ck_assert_uint_eq(fakeiod_get(&rig.iod[1], &rig.iod[1].fence_flags),
			  WIRE_FN_EVICT);
	rig_until(evict_one(&admin, writer.session, 1000, &rep) == -ESRCH);
}
END_TEST

/* A later EVICT also names these iods, even after a restart of the manager. */
START_TEST(test_iod_still_owes)
{
	const struct wire_evict body = { .by = htole32(WIRE_EV_USER),
					 .uid = htole32(4711),
					 .wait_ms = htole32(100) };
	struct wire_evict_rep rep = { .left = htole32(1) };
	le32 iod;

	atomic_store(&rig.iod[1].fence_fail, EAGAIN);
	ck_assert_int_eq(evict_one(&admin, writer.session, 100, &rep), 0);
	rig_kill(&rig);
	rig_start(&rig);
	rig_until(!evict(&admin, body, "", &rep) && !rep.left);
	ck_assert_uint_eq(rep.n, 0);
	ck_assert_uint_eq(rep.niods, 1);
	memcpy(&iod, admin.tail, sizeof(iod));
	ck_assert_uint_eq(iod, 1);
	ck_assert_int_eq(evict_one(&admin, writer.session, 100, &rep), 0);
	ck_assert_uint_eq(rep.niods, 1);
	atomic_store(&rig.iod[1].fence_fail, 0);
	rig_until(!evict(&admin, body, "", &rep) && !rep.niods);
	ck_assert(was_fenced(&rig.iod[1], writer.session));
	rig_until(evict_one(&admin, writer.session, 100, &rep) == -ESRCH);
}
END_TEST

/* No session adopts files of an evicted session, although its rows still exist. */
START_TEST(test_nobody_takes_over)
{
	struct wire_grant grant = { .handle = htole64(f.handle),
				    .open = htole64(f.open),
				    .flags = htole32(WIRE_O_WRITE) };
	struct wire_redeem token = { .flags = htole32(WIRE_O_WRITE) };
	const struct wire_adopt adopt = { .session = htole64(writer.session),
					  .handle = htole64(f.handle),
					  .open = htole64(f.open) };
	struct wire_evict_rep rep;

	ck_assert_int_eq(mgrc_call(&writer, WIRE_GRANT, &grant, sizeof(grant),
				   NULL, 0),
			 0);
	memcpy(token.token, writer.body, WIRE_TOKEN_LEN);
	atomic_store(&rig.iod[1].fence_fail, EAGAIN);
	ck_assert_int_eq(evict_one(&admin, writer.session, 100, &rep), 0);
	ck_assert_uint_eq(rep.left, 1);
	ck_assert_int_eq(mgrc_call(&reader, WIRE_REDEEM, &token, sizeof(token),
				   NULL, 0),
			 -EBADF);
	ck_assert_int_eq(mgrc_call(&reader, WIRE_ADOPT, &adopt, sizeof(adopt),
				   NULL, 0),
			 -ESTALE);
	atomic_store(&rig.iod[1].fence_fail, 0);
}
END_TEST

/* A second EVICT, which matches no session, also waits for the fence of the first one. */
START_TEST(test_two)
{
	struct wire_evict body = { .by = htole32(WIRE_EV_USER),
				   .uid = htole32(4711),
				   .wait_ms = htole32(300) };
	struct wire_evict_rep rep;

	ck_assert_int_eq(evict(&admin, body, "", &rep), 0);
	ck_assert_uint_eq(rep.n + rep.left + rep.niods, 0);
	atomic_store(&rig.iod[0].fence_fail, EAGAIN);
	ck_assert_int_eq(evict_one(&admin, reader.session, 100, &rep), 0);
	ck_assert_int_eq(evict(&admin, body, "", &rep), 0);
	ck_assert_uint_eq(rep.n, 0);
	ck_assert_uint_eq(rep.left, 1);
	atomic_store(&rig.iod[0].fence_fail, 0);
	body.wait_ms = htole32(10000);
	ck_assert_int_eq(evict(&admin, body, "", &rep), 0);
	ck_assert_uint_eq(rep.left + rep.niods, 0);
	ck_assert(was_fenced(&rig.iod[0], reader.session));
}
END_TEST

/* EVICT of a user or a host ends all its sessions, except the one that sends it. */
START_TEST(test_all)
{
	struct wire_evict by[] = {
		{ .by = htole32(WIRE_EV_USER), .wait_ms = htole32(10000) },
		{ .by = htole32(WIRE_EV_HOST), .wait_ms = htole32(10000) },
	};
	struct wire_evict_rep rep;

	ck_assert_int_eq(evict(&admin, by[_i], _i ? "127.0.0.0/8" : "", &rep),
			 0);
	ck_assert_uint_eq(rep.n, 2);
	ck_assert_uint_eq(rep.left + rep.niods, 0);
	ck_assert_int_eq(evict(&admin, by[1], "10.0.0.0/8 local", &rep),
			 -EINVAL);
	ck_assert_int_eq(evict(&admin, by[1], "local", &rep), 0);
	ck_assert_uint_eq(rep.n, 0);
}
END_TEST

START_TEST(test_who_may)
{
	struct mgrc user = { .cred = { .uid = 1000, .gid = 1000 } };
	struct wire_sessions_rep sessions;
	struct wire_evict_rep rep;

	mgrc_open(&user, &rig.addr, 0);
	ck_assert_int_eq(evict_one(&user, writer.session, 1000, &rep), -EPERM);
	ck_assert_int_eq(list(&user, 0, &sessions), -EPERM);
	ck_assert_int_eq(evict_one(&admin, admin.session, 1000, &rep), -EINVAL);
	ck_assert_int_eq(mgrc_release(&writer, &f, 0, 0), 0);
	mgrc_close(&user, true);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_evict");
	TCase *tc = tcase_create("evict");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_evict, 0, 2);
	tcase_add_loop_test(tc, test_for_good, 0, 2);
	tcase_add_test(tc, test_away);
	tcase_add_test(tc, test_sessions);
	tcase_add_loop_test(tc, test_iod_is_late, 0, 2);
	tcase_add_test(tc, test_iod_still_owes);
	tcase_add_test(tc, test_nobody_takes_over);
	tcase_add_test(tc, test_two);
	tcase_add_loop_test(tc, test_all, 0, 2);
	tcase_add_test(tc, test_who_may);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
