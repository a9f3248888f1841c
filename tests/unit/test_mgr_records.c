/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mgr_records.c - sessions and their replies, tombs, intents.
 */
#include <endian.h>
#include <errno.h>
#include <stddef.h>

#include "mgr/db/inode.h"
#include "mgr/db/intents.h"
#include "mgr/db/ended_sessions.h"
#include "mgr/db/sessions.h"
#include "tests/unit/store_fixture.h"

static struct store_fixture fx;

static void setup(void)
{
	store_fx_setup(&fx);
}

static void teardown(void)
{
	store_fx_teardown(&fx);
}

static int count_slot(void *arg, unsigned int slot, const struct reply_rec *rec)
{
	unsigned int *n = arg;

	ck_assert_uint_eq(rec->seq, slot + 100);
	(*n)++;
	return 0;
}

START_TEST(test_sessions)
{
	struct session_rec s = { .id = 9, .uid = 1, .name = "h:1:prog" }, t;
	struct reply_rec r = {
		.kind = REPLY_OPENED, .opened = 3, .len = 5, .bytes = "hallo"
	};
	unsigned int n = 0;

	ck_assert_int_eq(store_begin(fx.st), 0);
	ck_assert_int_eq(session_put(fx.st, &s), 0);
	for (unsigned int slot = 0; slot < 300; slot++) {
		r.seq = slot + 100;
		ck_assert_int_eq(reply_put(fx.st, 9, slot, &r), 0);
		ck_assert_int_eq(reply_put(fx.st, 10, slot, &r), 0);
	}
	ck_assert_int_eq(store_commit(fx.st), 0);
	ck_assert_int_eq(session_get(fx.st, 9, &t), 0);
	ck_assert_str_eq(t.name, s.name);
	ck_assert_int_eq(reply_get(fx.st, 9, 7, &r), 0);
	ck_assert_uint_eq(r.seq, 107);
	ck_assert_int_eq(r.kind, REPLY_OPENED);
	ck_assert_uint_eq(r.opened, 3);
	ck_assert_mem_eq(r.bytes, "hallo", 5);
	ck_assert_int_eq(store_begin(fx.st), 0);
	ck_assert_int_eq(session_del(fx.st, 9), 0);
	ck_assert_int_eq(store_commit(fx.st), 0);
	ck_assert_int_eq(session_get(fx.st, 9, &t), -ENOENT);
	ck_assert_int_eq(reply_walk(fx.st, 9, count_slot, &n), 0);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(reply_walk(fx.st, 10, count_slot, &n), 0);
	ck_assert_uint_eq(n, 300);
}
END_TEST

/* Those with an even number were evicted. */
static int collect(void *arg, const struct ended_session *ended_session)
{
	uint64_t **next = arg;

	ck_assert(ended_session->evicted == !(ended_session->session & 1));
	*(*next)++ = ended_session->session;
	return 0;
}

/* Sessions 1001, 1002, ... are ended.  The clock is set forward by a year each time. */
static uint64_t bury(uint64_t n, uint64_t max, uint64_t left[16])
{
	const int64_t year = 365 * INT64_C(86400000000000);
	uint64_t last = 99, *next = left;

	for (uint64_t i = 1; i <= n; i++) {
		const struct ended_session ended_session = { 1000 + i,
							     (int64_t)i * year,
							     !(i & 1) };

		ck_assert_int_eq(store_begin(fx.st), 0);
		ck_assert_int_eq(
			ended_session_add(fx.st, i, &ended_session, max), 0);
		ck_assert_int_eq(store_commit(fx.st), 0);
	}
	ck_assert_int_eq(ended_session_walk(fx.st, collect, &next, &last), 0);
	ck_assert_uint_eq(last, n);
	return (uint64_t)(next - left);
}

START_TEST(test_tombs)
{
	uint64_t left[16];

	ck_assert_uint_eq(bury(0, 3, left), 0);
	ck_assert_uint_eq(bury(9, 3, left), 3);
	ck_assert_uint_eq(left[0], 1007);
	ck_assert_uint_eq(left[2], 1009);
	ck_assert_uint_eq(bury(11, 100, left), 11);
}
END_TEST

/* Of session 5000 + n, until n, of term 2n; its capabilities live 3n. */
static int see_parting(void *arg, uint64_t n,
		       const struct unfenced_end *unfenced_end)
{
	uint64_t *sum = arg;

	ck_assert_uint_eq(unfenced_end->session, 5000 + n);
	ck_assert_uint_eq(unfenced_end->until, n);
	ck_assert_uint_eq(unfenced_end->term, 2 * n);
	ck_assert_uint_eq(unfenced_end->life, 3 * n);
	*sum += n;
	return n == UNFENCED_ENDS_MAX + 2 ? 7 : 0;
}

START_TEST(test_partings)
{
	static const uint64_t part[] = { 0,
					 1,
					 2,
					 300,
					 UNFENCED_ENDS_MAX - 1,
					 UNFENCED_ENDS_MAX,
					 UNFENCED_ENDS_MAX + 1 };
	uint64_t sum = 0;

	ck_assert_int_eq(store_begin(fx.st), 0);
	/* other values lie on both sides of them */
	ck_assert_int_eq(meta_put_u64(fx.st, "clock", 1), 0);
	ck_assert_int_eq(meta_put_u64(fx.st, "term", 1), 0);
	ck_assert_int_eq(unfenced_end_walk(fx.st, see_parting, &sum), 0);
	ck_assert_uint_eq(sum, 0);
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		const struct unfenced_end p = { 5000 + part[i], part[i],
						2 * part[i], 3 * part[i] };

		ck_assert_int_eq(unfenced_end_put(fx.st, part[i], &p), 0);
	}
	ck_assert_int_eq(store_commit(fx.st), 0);
	/* 0 and 1 have gone */
	ck_assert_int_eq(unfenced_end_walk(fx.st, see_parting, &sum), 0);
	ck_assert_uint_eq(sum, 2 + 300 + 3 * UNFENCED_ENDS_MAX);
}
END_TEST

START_TEST(test_partings_stop)
{
	const struct unfenced_end p = { 5000 + UNFENCED_ENDS_MAX + 2,
					UNFENCED_ENDS_MAX + 2,
					2 * (UNFENCED_ENDS_MAX + 2),
					3 * (UNFENCED_ENDS_MAX + 2) };
	uint64_t sum = 0, le = 0;

	ck_assert_int_eq(store_begin(fx.st), 0);
	ck_assert_int_eq(unfenced_end_put(fx.st, UNFENCED_ENDS_MAX + 2, &p), 0);
	ck_assert_int_eq(unfenced_end_walk(fx.st, see_parting, &sum), 7);
	ck_assert_int_eq(store_put(fx.st, STORE_META, "parted\0\0\0\0\0\0\0\1",
				   14, &le, sizeof(le)),
			 0);
	ck_assert_int_eq(unfenced_end_walk(fx.st, see_parting, &sum), -EIO);
	ck_assert_int_eq(store_commit(fx.st), 0);
}
END_TEST

START_TEST(test_intents)
{
	struct intent in = { .kind = INTENT_REMOVE, .dist.pcount = 4 }, got[10];

	ck_assert_int_eq(store_begin(fx.st), 0);
	for (in.id = 1; in.id <= 25; in.id++) {
		in.handle = in.id * 2;
		ck_assert_int_eq(intent_put(fx.st, &in), 0);
	}
	in.kind = INTENT_RESIZE;
	in.id = 3;
	ck_assert_int_eq(intent_put(fx.st, &in), 0);
	ck_assert_int_eq(intent_del(fx.st, INTENT_REMOVE, 3), 0);
	ck_assert_int_eq(store_commit(fx.st), 0);
	ck_assert_int_eq(intent_read(fx.st, INTENT_REMOVE, 1, got, 10), 10);
	ck_assert_uint_eq(got[0].id, 2);
	ck_assert_uint_eq(got[1].id, 4);
	ck_assert_uint_eq(got[1].handle, 8);
	ck_assert_int_eq(intent_read(fx.st, INTENT_REMOVE, 20, got, 10), 5);
	ck_assert_int_eq(intent_read(fx.st, INTENT_RESIZE, 0, got, 10), 1);
	ck_assert_int_eq(intent_next(fx.st, INTENT_RESIZE, 3, got), -ENOENT);
}
END_TEST

/* The layout of records of earlier versions. */
struct old_intent {
	uint64_t handle;
	uint32_t version, base, pcount, ssize;
	uint64_t size, session, seq;
	uint32_t slot, op;
	uint64_t expiry, host; /* not in version 1 */
};

static void put_old(uint64_t id, uint32_t version, size_t len)
{
	const struct old_intent old = { .handle = htole64(40 + id),
					.version = htole32(version),
					.size = htole64(1000),
					.expiry = htole64(77),
					.host = htole64(88) };
	uint8_t key[9] = { INTENT_RESIZE };

	key_u64(key + 1, id);
	ck_assert_int_eq(store_put(fx.st, STORE_INTENTS, key, sizeof(key), &old,
				   len),
			 0);
}

/* Of one that does not say when its caller gives up it is too late. */
START_TEST(test_old_intents)
{
	const size_t len_1 = offsetof(struct old_intent, expiry);
	struct intent got;

	ck_assert_int_eq(store_begin(fx.st), 0);
	put_old(1, 1, len_1);
	put_old(2, 2, sizeof(struct old_intent));
	put_old(3, 2, len_1);
	ck_assert_int_eq(store_commit(fx.st), 0);
	ck_assert_int_eq(intent_next(fx.st, INTENT_RESIZE, 0, &got), 0);
	ck_assert_uint_eq(got.handle, 41);
	ck_assert_uint_eq(got.size, 1000);
	ck_assert_uint_eq(got.expiry, 0);
	ck_assert_uint_eq(got.clock, 0);
	ck_assert_int_eq(intent_next(fx.st, INTENT_RESIZE, 1, &got), 0);
	ck_assert_uint_eq(got.handle, 42);
	ck_assert_uint_eq(got.expiry, 77);
	ck_assert_uint_eq(got.clock, 88);
	ck_assert_uint_eq(got.born, 0);
	ck_assert_int_eq(intent_next(fx.st, INTENT_RESIZE, 2, &got), -EIO);
}
END_TEST

/* The length and the version of the row of inode `handle` and of that of intent `handle`. */
static void look_at_rows(uint64_t handle, size_t len[2],
			 unsigned int version[2])
{
	union {
		uint8_t bytes[256];
		uint16_t version;
		struct old_intent intent;
	} row;
	uint8_t key[9] = { INTENT_REMOVE };

	key_u64(key + 1, handle);
	ck_assert_int_eq(store_get(fx.st, STORE_INODES, key + 1, 8, &row,
				   sizeof(row), &len[0]),
			 0);
	version[0] = le16toh(row.version);
	ck_assert_int_eq(store_get(fx.st, STORE_INTENTS, key, sizeof(key), &row,
				   sizeof(row), &len[1]),
			 0);
	version[1] = le32toh(row.intent.version);
}

/* An earlier release reads what this one writes, unless it names another ring. */
START_TEST(test_rings)
{
	struct inode ino = { .mode = S_IFREG | 0644, .tail = 9 };
	struct intent in = { .kind = INTENT_REMOVE, .born = 8 };
	unsigned int version[2];
	size_t len[2];

	ck_assert_int_eq(store_begin(fx.st), 0);
	for (uint32_t ring = 0; ring <= 1; ring++) {
		in.id = in.handle = ino.handle = 10 + ring;
		in.dist.ring = ino.dist.ring = ring * 0x01020304;
		ck_assert_int_eq(inode_put(fx.st, &ino), 0);
		ck_assert_int_eq(intent_put(fx.st, &in), 0);
		look_at_rows(10 + ring, len, version);
		ck_assert_uint_eq(len[0], ring ? 120 : 112);
		ck_assert_uint_eq(version[0], ring ? 2 : 1);
		ck_assert_uint_eq(len[1], ring ? 88 : 80);
		ck_assert_uint_eq(version[1], ring ? 4 : 3);
		ck_assert_int_eq(inode_get(fx.st, 10 + ring, &ino), 0);
		ck_assert_uint_eq(ino.dist.ring, ring * 0x01020304);
		ck_assert_uint_eq(ino.tail, 9);
		ck_assert_int_eq(
			intent_next(fx.st, INTENT_REMOVE, 9 + ring, &in), 0);
		ck_assert_uint_eq(in.dist.ring, ring * 0x01020304);
		ck_assert_uint_eq(in.born, 8);
	}
	ck_assert_int_eq(store_commit(fx.st), 0);
}
END_TEST

/* The version and the length of a row must agree. */
START_TEST(test_damaged_inode)
{
	uint8_t row[120] = { 2 }, key[8];
	struct inode ino;

	key_u64(key, 5);
	ck_assert_int_eq(store_begin(fx.st), 0);
	for (uint8_t version = 1; version <= 3; version++)
		for (size_t len = 111; len <= sizeof(row); len++) {
			row[0] = version;
			ck_assert_int_eq(store_put(fx.st, STORE_INODES, key, 8,
						   row, len),
					 0);
			ck_assert_int_eq(inode_get(fx.st, 5, &ino),
					 (version == 1 && len == 112) ||
							 (version == 2 &&
							  len == 120)
						 ? 0
						 : -EIO);
		}
	ck_assert_int_eq(store_commit(fx.st), 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("store");
	Suite *s = suite_create("mgr_records");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_sessions);
	tcase_add_test(tc, test_tombs);
	tcase_add_test(tc, test_partings);
	tcase_add_test(tc, test_partings_stop);
	tcase_add_test(tc, test_intents);
	tcase_add_test(tc, test_old_intents);
	tcase_add_test(tc, test_rings);
	tcase_add_test(tc, test_damaged_inode);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
