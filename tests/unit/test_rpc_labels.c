/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_labels.c - users and jobs are counted separately, in a bounded table.  A client with an
 * invalid label loses its connection.  A client without administrator rights sees only its own
 * rows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/serve/usage_labels_int.h"
#include "tests/unit/mock_tp.h"
#include "tests/unit/raw_client.h"
#include "tests/run_suite.h"

static struct rig *rig;
static struct raw raw;

static void setup(void)
{
	mock = (struct mock){ 0 };
	rig = calloc(1, sizeof(*rig));
	rig_open(rig, "mock");
}

static void teardown(void)
{
	rig_close(rig);
	ck_assert_int_eq(mock.mrs, 0);
}

/* ---- the table ---- */

static struct labels all;

static struct label_key key_of(uint32_t uid, const char *job)
{
	struct label_key key = { .uid = uid };

	memcpy(key.job, job, strlen(job));
	return key;
}

static struct label *get(uint32_t uid, const char *job)
{
	struct label_key key = key_of(uid, job);

	return labels_get(&all, &key);
}

static void count(struct label *l, unsigned int thread)
{
	atomic_fetch_add(&l->counts[thread].requests, 1);
	atomic_fetch_add(&l->counts[thread].bytes_in, 100);
}

START_TEST(a_label_is_user_and_job)
{
	struct label *a, *b, *c;

	ck_assert_int_eq(labels_init(&all, 2), 0);
	a = get(1, "x");
	b = get(1, "y");
	c = get(2, "x");
	ck_assert(a != b && a != c && b != c);
	ck_assert_ptr_eq(get(1, "x"), a);
	labels_put(&all, a);
	labels_put(&all, a);
	ck_assert_ptr_eq(get(1, "x"), a); /* the label was idle */
	labels_fini(&all);
}
END_TEST

/* The label that is idle for longest is dropped, and its counts are added to the sum. */
START_TEST(the_oldest_idle_one_is_folded)
{
	struct label *l, *kept;
	struct label_sum sum = { 0 };

	ck_assert_int_eq(labels_init(&all, 2), 0);
	kept = get(7, "kept");
	count(kept, 1);
	for (uint32_t i = 1; i < LABELS_MAX; i++) {
		l = get(i, "");
		count(l, i % 2);
		labels_put(&all, l);
	}
	labels_put(&all, get(1, "")); /* now 2 is the oldest */
	ck_assert_uint_eq(all.folded.requests, 0);
	l = get(9999, "new");
	ck_assert_ptr_ne(l, all.others);
	ck_assert_uint_eq(all.folded.requests, 1);
	ck_assert_uint_eq(all.folded.bytes_in, 100);
	l = get(2, "");
	label_total(&all, l, &sum);
	ck_assert_uint_eq(sum.requests, 0); /* it was 2 */
	l = get(1, "");
	label_total(&all, l, &sum);
	ck_assert_uint_eq(sum.requests, 1);
	label_total(&all, kept, &sum);
	ck_assert_uint_eq(sum.requests, 2);
	labels_fini(&all);
}
END_TEST

/* However many jobs a user invents, the counts of others stay. */
START_TEST(a_user_has_so_many)
{
	struct label *l, *kept[8];
	char job[WIRE_JOB_MAX];

	ck_assert_int_eq(labels_init(&all, 1), 0);
	for (uint32_t i = 0; i < 8; i++) {
		kept[i] = get(100 + i, "");
		labels_put(&all, kept[i]);
	}
	for (unsigned int i = 0; i < 10000; i++) {
		snprintf(job, sizeof(job), "job%u", i);
		l = get(7, job);
		ck_assert_ptr_ne(l, all.others);
		labels_put(&all, l);
	}
	ck_assert_uint_eq(HASH_COUNT(all.by_key), 8 + LABELS_OF_ONE);
	for (uint32_t i = 0; i < 8; i++)
		ck_assert_ptr_eq(get(100 + i, ""), kept[i]);
	/* with sessions that last */
	for (unsigned int i = 0; i < LABELS_OF_ONE; i++) {
		snprintf(job, sizeof(job), "long%u", i);
		ck_assert_ptr_ne(get(7, job), all.others);
	}
	ck_assert_ptr_eq(get(7, "one more"), all.others);
	ck_assert_ptr_ne(get(8, "one more"), all.others);
	labels_fini(&all);
}
END_TEST

START_TEST(when_all_are_in_use_others_count)
{
	struct label *first = NULL, *l;

	ck_assert_int_eq(labels_init(&all, 1), 0);
	for (uint32_t i = 0; i < LABELS_MAX; i++) {
		l = get(i, "");
		first = first ? first : l;
		ck_assert_ptr_ne(l, all.others);
	}
	ck_assert_ptr_eq(get(9999, ""), all.others);
	ck_assert_ptr_eq(get(9998, "job"), all.others);
	labels_put(&all, all.others);
	labels_put(&all, all.others);
	ck_assert_ptr_eq(get(9999, ""), all.others);
	labels_put(&all, all.others);
	labels_put(&all, first);
	ck_assert_ptr_ne(get(9999, ""), all.others);
	labels_fini(&all);
}
END_TEST

START_TEST(what_is_told_stays_apart)
{
	const struct rpc_direct_io told[2] = {
		{ .n = 3, .bytes = 300, .ns = 30 },
		{ .n = 2, .bytes = 20, .ns = 5 }
	};
	struct label_key key = key_of(1, "x"), gone = key_of(5, "never");
	struct label_sum sum = { 0 };
	struct label *l;

	ck_assert_int_eq(labels_init(&all, 1), 0);
	l = get(1, "x");
	labels_add_direct_io(&all, &key, told);
	labels_add_direct_io(&all, &key, told);
	label_total(&all, l, &sum);
	ck_assert_uint_eq(sum.requests, 0);
	ck_assert_uint_eq(l->direct.requests, 10);
	ck_assert_uint_eq(l->direct.bytes_out, 600);
	ck_assert_uint_eq(l->direct.bytes_in, 40);
	ck_assert_uint_eq(l->direct.ns, 70);
	labels_add_direct_io(&all, &gone, told);
	ck_assert_uint_eq(all.others->direct.requests, 5);
	ck_assert_uint_eq(all.direct_io[0].n, 9);
	ck_assert_uint_eq(all.direct_io[1].bytes, 60);
	/* its counts are dropped with its label */
	labels_put(&all, l);
	for (uint32_t i = 0; i < LABELS_MAX; i++)
		get(100 + i, "");
	ck_assert_uint_eq(all.others->direct.requests, 15);
	labels_fini(&all);
}
END_TEST

/* ---- HELLO and METRICS ---- */

/* Builds a HELLO as uid, with len bytes of job.  Returns its length. */
static size_t hello(uint32_t uid, const char *job, uint32_t len)
{
	struct wire_hello body = { .uid = htole32(uid),
				   .name_len = htole32(1) };
	struct wire_job says = { .len = htole32(len) };
	struct wire_out out;
	int end;

	wire_begin(&out, raw.buf->out, RAW_MSG);
	wire_put(&out, &body, sizeof(body));
	wire_put(&out, "r", 1);
	wire_put(&out, &says, sizeof(says));
	wire_put(&out, job, len);
	end = wire_end(&out, WIRE_HELLO, WIRE_F_JOB, 0);
	ck_assert_int_gt(end, 0);
	raw_hdr(&raw)->session = raw.priv.session;
	return (size_t)end;
}

static void greet(uint64_t session, uint32_t uid, const char *job, uint32_t len)
{
	raw_open(&raw, rig, session, 1);
	raw.hail.features = htole32(WIRE_FT_JOB);
	raw_connect(&raw);
	raw_until(&raw, raw.established);
	ck_assert_uint_eq(le32toh(raw.hailed.features), WIRE_FT_JOB);
	raw_send(&raw, hello(uid, job, len));
	raw_until(&raw, raw.received == 1);
}

static struct raw_metric row[16];

/* the session of append_and_ask() is open */
static bool asked;

static void ask_close(void)
{
	if (asked)
		raw_close(&raw);
	asked = false;
}

/* Sends an APPEND.  Returns the number of rows that the session sees. */
static unsigned int append_and_ask(uint64_t session, uint32_t uid,
				   const char *job)
{
	ask_close();
	asked = true;
	greet(session, uid, job, (uint32_t)strlen(job));
	ck_assert_int_eq(raw_status(&raw, 0), 0);
	raw_send(&raw, raw_append(&raw, 0, 1));
	raw_until(&raw, raw.received == 2);
	return raw_metrics(&raw, 2, WIRE_MG_USERS, row, 16);
}

START_TEST(who_sees_whom)
{
	static const char longest[] = "0123456789 bcdef0123456789abcdef"
				      "0123456789abcdef0123456789abcde~";

	ck_assert_uint_eq(sizeof(longest) - 1, WIRE_JOB_MAX);
	ck_assert_uint_eq(append_and_ask(0x11, 70001, longest), 1);
	ck_assert_str_eq(row[0].label[1], "70001");
	ck_assert_str_eq(row[0].label[3], longest);
	ck_assert_uint_eq(row[0].n, 1);
	ck_assert_uint_eq(append_and_ask(0x12, 70002, "b"), 1);
	ck_assert_str_eq(row[0].label[1], "70002");
	ck_assert_uint_eq(append_and_ask(0x13, 70002, "c"), 2);
	ck_assert_uint_eq(append_and_ask(0x14, 70002, "b"), 2);
	ck_assert_uint_eq(row[0].n, 3); /* and METRICS */
	ck_assert_uint_eq(append_and_ask(0x15, 0, "d"), 4);
	ask_close();
}
END_TEST

/* A user sees one row more: for himself, and for the sum of others. */
START_TEST(who_is_told)
{
	const struct rpc_label who = { .uid = 70003, .job = "d" };
	const struct rpc_direct_io told[2] = {
		{ .n = 3, .bytes = 300, .ns = 30 },
		{ .n = 2, .bytes = 20, .ns = 5 }
	};

	ck_assert_uint_eq(append_and_ask(0x31, 70003, "d"), 1);
	rpc_server_add_direct_io(rig->server, &who, told);
	ck_assert_uint_eq(append_and_ask(0x32, 70003, "d"), 2);
	ck_assert_uint_eq(row[0].labels, 2);
	ck_assert_uint_eq(row[1].labels, 3);
	ck_assert_str_eq(row[1].label[5], "direct");
	ck_assert_str_eq(row[1].label[1], "70003");
	ck_assert_uint_eq(row[1].n, 5);
	ck_assert_uint_eq(row[1].bytes_out, 300);
	ck_assert_uint_eq(row[1].bytes_in, 20);
	ck_assert_uint_eq(append_and_ask(0x33, 70004, "d"), 1);
	ask_close();
}
END_TEST

static void refused(const char *job, uint32_t len, const char *why)
{
	greet(0x21, 70001, job, len);
	raw_until(&raw, raw.disconnected);
	ck_assert_int_eq(raw_status(&raw, 0), EPROTO);
	ck_assert_msg(rig_logged(rig, why) == 1, "%s", rig->text);
	raw_close(&raw);
	rig->text_len = 0;
}

START_TEST(hostile_jobs)
{
	static const char many[WIRE_JOB_MAX + 1] = { "x" };

	refused("", 0, "wire_job.len: zero, or too large");
	refused(many, WIRE_JOB_MAX + 1, "wire_job.len: zero, or too large");
	refused("a\033[2Jb", 6, "wire_job: unprintable characters");
	refused("a\nb", 3, "wire_job: unprintable characters");
	refused("a\0b", 3, "wire_job: unprintable characters");
	refused("\xc3\xa4", 2, "wire_job: unprintable characters");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_labels");
	TCase *tc = tcase_create("labels");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_label_is_user_and_job);
	tcase_add_test(tc, the_oldest_idle_one_is_folded);
	tcase_add_test(tc, a_user_has_so_many);
	tcase_add_test(tc, when_all_are_in_use_others_count);
	tcase_add_test(tc, what_is_told_stays_apart);
	tcase_add_test(tc, who_sees_whom);
	tcase_add_test(tc, who_is_told);
	tcase_add_test(tc, hostile_jobs);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
