/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_copysets.c - the rows of rings and copysets, and COPYSETS. */
#include <errno.h>

#include "mgr/copyset/copyset_design.h"
#include "mgr/copyset/copyset_rows.h"
#include "mgr/op/mgr_ops.h"
#include "tests/unit/store_fixture.h"

#define IODS 6u
#define ROUNDS 5u

static const uint32_t hosts[IODS + 2] = { 0, 0, 2, 2, 4, 4, 6, 6 };
static struct store_fixture fx;

static void setup(void)
{
	store_fx_setup(&fx);
	ck_assert_int_eq(store_begin(fx.st), 0);
	ck_assert_int_eq(meta_put_u64(fx.st, "niods", IODS), 0);
	ck_assert_int_eq(store_commit(fx.st), 0);
}

static void teardown(void)
{
	store_fx_teardown(&fx);
}

static int try_ring(unsigned int copies, uint32_t niods, struct ring *ring)
{
	struct copyset_design design;
	uint32_t crowded;
	int rc;

	ck_assert_int_eq(copyset_design_make(niods, copies, hosts, &design,
					     &crowded),
			 0);
	rc = ring_make(fx.st, copies, &design, ring);
	copyset_design_free(&design);
	return rc;
}

static struct ring make_ring(unsigned int copies)
{
	struct ring ring;

	ck_assert_int_eq(store_begin(fx.st), 0);
	ck_assert_int_eq(try_ring(copies, IODS, &ring), 0);
	ck_assert_int_eq(store_commit(fx.st), 0);
	return ring;
}

static uint64_t revision(void)
{
	uint64_t now;

	ck_assert_int_eq(copyset_revision(fx.st, &now), 0);
	return now;
}

/* The number of copysets that have changed since; they are read in parts of max. */
static unsigned int count_changed(uint64_t since, unsigned int max)
{
	struct copyset set[IODS * ROUNDS * 2];
	unsigned int n = 0;
	uint32_t from = 0, last = 0;

	do {
		int got = copyset_read_changed(fx.st, since, &from, set, max);

		ck_assert_int_ge(got, 0);
		ck_assert_int_le(got, (int)max);
		ck_assert(got || !from);
		for (int i = 0; i < got; i++) {
			ck_assert_uint_gt(set[i].id, last);
			last = set[i].id;
		}
		n += (unsigned int)got;
	} while (from);
	return n;
}

START_TEST(no_rows_for_single_copies)
{
	struct copyset set;
	struct ring ring;

	ck_assert_int_eq(ring_get(fx.st, 0, &ring), 0);
	ck_assert_uint_eq(ring.id, 0);
	ck_assert_uint_eq(ring.copies, 1);
	ck_assert_uint_eq(ring.first, 0);
	ck_assert_uint_eq(ring.n, IODS);
	ck_assert_int_eq(copyset_get(fx.st, 5, &set), 0);
	ck_assert_uint_eq(set.id, 5);
	ck_assert_uint_eq(set.version, 0);
	ck_assert_uint_eq(set.n, 1);
	ck_assert_uint_eq(set.member[0].iod, 5);
	ck_assert_int_eq(set.member[0].state, COPYSET_SERVING);
	ck_assert_int_eq(copyset_change(fx.st, &set), -ENOENT);
	ck_assert_int_eq(copyset_get(fx.st, IODS, &set), -ENOENT);
	ck_assert_int_eq(copyset_get(fx.st, COPYSET_FIRST, &set), -ENOENT);
	ck_assert_int_eq(ring_get(fx.st, 1, &ring), -ENOENT);
	ck_assert_uint_eq(revision(), 0);
	ck_assert_uint_eq(count_changed(0, 10), 0);
}
END_TEST

static void check_ring(const struct ring *want, unsigned int copies)
{
	struct copyset_design design;
	struct copyset set;
	struct ring ring;
	uint32_t crowded;

	ck_assert_int_eq(ring_get(fx.st, want->id, &ring), 0);
	ck_assert_mem_eq(&ring, want, sizeof(ring));
	ck_assert_uint_eq(ring.copies, copies);
	ck_assert_uint_eq(ring.n, IODS * ROUNDS);
	ck_assert_int_eq(
		copyset_design_make(IODS, copies, hosts, &design, &crowded), 0);
	for (uint32_t i = 0; i < ring.n; i++) {
		ck_assert_int_eq(copyset_get(fx.st, ring.first + i, &set), 0);
		ck_assert_uint_eq(set.id, ring.first + i);
		ck_assert_uint_eq(set.version, 1);
		ck_assert_uint_eq(set.losses, 0);
		ck_assert_uint_eq(set.n, copies);
		for (unsigned int k = 0; k < copies; k++) {
			ck_assert_uint_eq(set.member[k].iod,
					  design.member[i][k]);
			ck_assert_int_eq(set.member[k].state, COPYSET_SERVING);
		}
	}
	copyset_design_free(&design);
}

START_TEST(rings_follow_each_other)
{
	struct ring two = make_ring(2), three = make_ring(3);
	struct copyset set;

	ck_assert_uint_eq(two.id, 1);
	ck_assert_uint_eq(two.first, COPYSET_FIRST);
	ck_assert_uint_eq(three.id, 2);
	ck_assert_uint_eq(three.first, two.first + two.n);
	ck_assert_uint_eq(revision(), 2);
	store_fx_close(&fx);
	store_fx_open(&fx);
	check_ring(&two, 2);
	check_ring(&three, 3);
	ck_assert_int_eq(copyset_get(fx.st, three.first + three.n, &set),
			 -ENOENT);
	ck_assert_uint_eq(count_changed(0, 7), two.n + three.n);
	ck_assert_uint_eq(count_changed(1, 100), three.n);
	ck_assert_uint_eq(count_changed(2, 100), 0);
}
END_TEST

START_TEST(refused_and_undone_rings)
{
	struct ring ring = { .id = 77 };

	ck_assert_int_eq(store_begin(fx.st), 0);
	ck_assert_int_eq(try_ring(2, IODS + 2, &ring), -EINVAL);
	ck_assert_uint_eq(ring.id, 77);
	ck_assert(!store_changed(fx.st));
	ck_assert_int_eq(try_ring(2, IODS, &ring), 0);
	store_abort(fx.st);
	ck_assert_int_eq(ring_get(fx.st, 1, &ring), -ENOENT);
	ck_assert_uint_eq(revision(), 0);
	for (unsigned int id = 1; id < RINGS_MAX; id++)
		ck_assert_uint_eq(make_ring(2).id, id);
	ck_assert_int_eq(store_begin(fx.st), 0);
	ck_assert_int_eq(try_ring(2, IODS, &ring), -ENOSPC);
	store_abort(fx.st);
}
END_TEST

START_TEST(changes)
{
	struct ring ring = make_ring(3);
	uint32_t id = ring.first + 7, from = 0;
	struct copyset set, old, got[2];

	ck_assert_int_eq(copyset_get(fx.st, id, &set), 0);
	old = set;
	set.losses = 4;
	set.member[0].state = COPYSET_OFFLINE;
	set.member[2] = (struct copyset_member){ 3, COPYSET_SYNCING };
	ck_assert_int_eq(store_begin(fx.st), 0);
	ck_assert_int_eq(copyset_change(fx.st, &set), 0);
	ck_assert_uint_eq(set.version, 2);
	ck_assert_int_eq(copyset_change(fx.st, &old), -ESTALE);
	ck_assert_uint_eq(old.version, 1);
	ck_assert_int_eq(store_commit(fx.st), 0);
	ck_assert_uint_eq(revision(), 2);
	ck_assert_int_eq(copyset_read_changed(fx.st, 1, &from, got, 2), 1);
	ck_assert_uint_eq(from, 0);
	ck_assert_mem_eq(&got[0], &set, sizeof(set));
	ck_assert_int_eq(copyset_get(fx.st, id, &old), 0);
	ck_assert_mem_eq(&old, &set, sizeof(set));
	ck_assert_int_eq(copyset_get(fx.st, id + 1, &old), 0);
	ck_assert_uint_eq(old.version, 1);
}
END_TEST

/* Bytes of the record of copyset COPYSET_FIRST. */
static const struct {
	unsigned int at;
	uint8_t value;
} damage[] = {
	{ 22, 3 }, /* state of a member */
	{ 25, 0 }, /* number of members */
	{ 25, 4 }, { 26, 0 }, /* format */
	{ 26, 2 },
};

START_TEST(damaged_record)
{
	uint8_t block[64 * 32];
	struct copyset set[9];
	uint32_t from = 0;

	make_ring(2);
	ck_assert_int_eq(store_begin(fx.st), 0);
	ck_assert_int_eq(meta_get(fx.st, "copyset.1024", block, sizeof(block)),
			 0);
	block[damage[_i].at] = damage[_i].value;
	ck_assert_int_eq(meta_put(fx.st, "copyset.1024", block, sizeof(block)),
			 0);
	ck_assert_int_eq(copyset_get(fx.st, COPYSET_FIRST, set),
			 damage[_i].at == 26 && !damage[_i].value ? -ENOENT
								  : -EIO);
	ck_assert_int_eq(copyset_read_changed(fx.st, 0, &from, set, 9), -EIO);
	ck_assert_int_eq(store_commit(fx.st), 0);
}
END_TEST

START_TEST(damaged_ring)
{
	static const uint32_t bad[][4] = { { 2, 2, 1024, 30 },
					   { 1, 2, 1024, 0 },
					   { 1, 2, 1023, 30 },
					   { 1, 2, 1024, UINT32_MAX },
					   { 1, 2, UINT32_MAX, 30 } };
	struct ring ring;

	ck_assert_int_eq(store_begin(fx.st), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(meta_put(fx.st, "ring.1", bad[i], 16), 0);
		ck_assert_int_eq(ring_get(fx.st, 1, &ring), -EIO);
	}
	ck_assert_int_eq(store_commit(fx.st), 0);
}
END_TEST

/* ---- COPYSETS ---- */

static struct {
	uint64_t revision;
	uint32_t rings;
	uint32_t n, last, parts; /* copysets, the last one, replies */
	struct copyset set; /* the copyset `last`, without its losses */
} told;

static void look_at_reply(const struct wire_msg *msg, bool first)
{
	const struct wire_copysets_rep *rep = msg->body;
	const struct wire_copyset *set = msg->tail[1].ptr;
	uint32_t n = le32toh(rep->n);

	if (first)
		told.revision = le64toh(rep->revision);
	told.rings = le32toh(rep->rings);
	told.parts++;
	told.n += n;
	if (!n)
		return;
	ck_assert_uint_gt(le32toh(set[0].id), told.last);
	told.last = le32toh(set[n - 1].id);
	told.set.version = le32toh(set[n - 1].version);
	for (unsigned int i = 0; i < le32toh(set[n - 1].n); i++) {
		told.set.member[i].iod = le16toh(set[n - 1].member[i].iod);
		told.set.member[i].state = le16toh(set[n - 1].member[i].state);
	}
}

static void ask(uint64_t since)
{
	static uint64_t buf[(sizeof(struct wire_hdr) + WIRE_BODY_MAX) / 8];
	static struct mgr mgr;
	struct wire_copysets body = { .since = htole64(since) };
	struct rpc_req rpc = { .msg.body = &body };
	struct wire_out out;
	struct mgr_op op = { .mgr = &mgr, .rpc = &rpc, .out = &out };
	struct wire_msg msg;
	const char *why = NULL;
	int len;

	mgr.st = fx.st;
	memset(&told, 0, sizeof(told));
	do {
		wire_begin(&out, buf, sizeof(buf));
		ck_assert_int_eq(op_copysets(&op), 0);
		len = wire_end(&out, WIRE_COPYSETS, WIRE_F_REPLY, 0);
		ck_assert_int_gt(len, 0);
		((struct wire_hdr *)buf)->session = 1;
		ck_assert_msg(!wire_parse(buf, (size_t)len, &msg, &why), "%s",
			      why);
		look_at_reply(&msg, !body.from);
		body.from = ((const struct wire_copysets_rep *)msg.body)->next;
	} while (body.from);
}

/* 9 rings have 270 copysets. */
START_TEST(answers)
{
	struct ring ring = { 0 };
	struct copyset set;

	ask(0);
	ck_assert_uint_eq(told.rings, 1);
	ck_assert_uint_eq(told.n, 0);
	for (unsigned int i = 0; i < 9; i++)
		ring = make_ring(2);
	ask(0);
	ck_assert_uint_eq(told.revision, 9);
	ck_assert_uint_eq(told.rings, 10);
	ck_assert_uint_eq(told.parts, 2);
	ck_assert_uint_eq(told.n, 270);
	ck_assert_uint_eq(told.last, ring.first + ring.n - 1);
	ask(8);
	ck_assert_uint_eq(told.parts, 1);
	ck_assert_uint_eq(told.n, ring.n);
	ask(9);
	ck_assert_uint_eq(told.revision, 9);
	ck_assert_uint_eq(told.rings, 0);
	ck_assert_uint_eq(told.n, 0);
	ask(10); /* of a database that was lost */
	ck_assert_uint_eq(told.n, 270);
	ck_assert_int_eq(copyset_get(fx.st, ring.first + 3, &set), 0);
	set.member[1].state = COPYSET_SYNCING;
	ck_assert_int_eq(store_begin(fx.st), 0);
	ck_assert_int_eq(copyset_change(fx.st, &set), 0);
	ck_assert_int_eq(store_commit(fx.st), 0);
	ask(9);
	ck_assert_uint_eq(told.n, 1);
	ck_assert_uint_eq(told.last, set.id);
	ck_assert_uint_eq(told.set.version, 2);
	ck_assert_mem_eq(told.set.member, set.member, sizeof(set.member));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_copysets");
	TCase *tc = tcase_create("mgr_copysets");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, no_rows_for_single_copies);
	tcase_add_test(tc, rings_follow_each_other);
	tcase_add_test(tc, refused_and_undone_rings);
	tcase_add_test(tc, changes);
	tcase_add_loop_test(tc, damaged_record, 0,
			    (int)(sizeof(damage) / sizeof(damage[0])));
	tcase_add_test(tc, damaged_ring);
	tcase_add_test(tc, answers);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
