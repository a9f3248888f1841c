/* SPDX-License-Identifier: BSD-2-Clause */
/* test_wire.c - built messages can be parsed, and changed ones are rejected. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/wire_samples.h"

static union {
	uint8_t bytes[SAMPLE_MAX];
	struct wire_hdr hdr;
	uint64_t align;
} m;

static const struct wire_sample *build(const char *name, size_t *len)
{
	const struct wire_sample *s = wire_sample_find(name);

	ck_assert_msg(s != NULL, "no sample '%s'", name);
	*len = wire_sample_build(s, &m);
	return s;
}

static int parse(size_t len, const char **why)
{
	struct wire_msg msg;

	*why = "(no reason)";
	return wire_parse(&m, len, &msg, why);
}

static void set_len(size_t len)
{
	m.hdr.len = htole32((uint32_t)len);
}

START_TEST(round_trip)
{
	const struct wire_sample *s = &wire_samples[_i];
	size_t len = wire_sample_build(s, &m);
	struct wire_msg msg;
	const char *why = "";

	ck_assert_msg(wire_parse(&m, len, &msg, &why) == 0, "%s: %s", s->name,
		      why);
	ck_assert_ptr_eq(msg.hdr, &m);
	ck_assert_uint_eq(le16toh(msg.hdr->op), s->op);
	ck_assert_uint_eq(le16toh(msg.hdr->flags), s->flags);
	ck_assert_uint_eq(msg.body_len, s->body_len);
	ck_assert_int_eq(memcmp(msg.body ? msg.body : "", s->body ?: "",
				s->body_len),
			 0);
	for (unsigned int i = 0; i < WIRE_TAIL_MAX; i++) {
		ck_assert_uint_eq(msg.tail[i].len, s->tail[i].len);
		ck_assert_msg(!s->tail[i].len ||
				      !memcmp(msg.tail[i].ptr, s->tail[i].ptr,
					      s->tail[i].len),
			      "%s: tail %u", s->name, i);
	}
}
END_TEST

/* Every operation must have a sample of both directions. */
START_TEST(samples_are_complete)
{
	for (unsigned int op = 0; op < 200; op++) {
		unsigned int seen = 0;

		for (unsigned int i = 0; i < wire_nsamples; i++) {
			if (wire_samples[i].op == op)
				seen |= wire_samples[i].flags & WIRE_F_REPLY
						? 2
						: 1;
		}
		ck_assert_msg(!strcmp(wire_op_name(op), "op?") == (seen == 0),
			      "operation %u", op);
		ck_assert_msg(seen == 0 || seen == 3, "operation %u", op);
	}
	ck_assert_str_eq(wire_op_name(WIRE_GETATTR), "GETATTR");
	ck_assert_str_eq(wire_op_name(UINT32_MAX), "op?");
}
END_TEST

/* Returns true if the message is cut where the previous version ends it. */
static bool is_before(const struct wire_sample *s, size_t cut)
{
	bool reply = s->flags & WIRE_F_REPLY;
	size_t least = s->op == WIRE_LEASE	      ? WIRE_LEASE_V2
		       : s->op == WIRE_CLAIM && reply ? WIRE_CLAIM_REP_SHORT
		       : s->op == WIRE_CHALLENGE && reply
			       ? WIRE_CHALLENGE_REP_V1
			       : 0;

	if (s->op == WIRE_RAFT && reply)
		return cut == sizeof(m.hdr);
	return least && s->body_len > least && cut == sizeof(m.hdr) + least;
}

/*
 * Returns true for a message of the previous version: with zeros appended, it is one of this
 * version.
 */
static bool is_whole(const struct wire_sample *s)
{
	return (s->op == WIRE_CHALLENGE &&
		s->body_len == WIRE_CHALLENGE_REP_V1) ||
	       (s->op == WIRE_CLAIM && s->body_len == WIRE_CLAIM_REP_SHORT) ||
	       (s->op == WIRE_RAFT && s->flags & WIRE_F_REPLY && !s->body_len);
}

START_TEST(truncation)
{
	size_t len = wire_sample_build(&wire_samples[_i], &m);
	const char *why;

	for (size_t cut = 0; cut < len; cut++) {
		set_len(len);
		ck_assert_int_eq(parse(cut, &why), -EPROTO);
		if (is_before(&wire_samples[_i], cut))
			continue;
		set_len(cut);
		ck_assert_msg(parse(cut, &why) == -EPROTO, "%s cut to %zu",
			      wire_samples[_i].name, cut);
		ck_assert_str_ne(why, "(no reason)");
	}
}
END_TEST

START_TEST(bytes_behind)
{
	size_t len = wire_sample_build(&wire_samples[_i], &m);
	const char *why;

	memset(m.bytes + len, 0, 16);
	ck_assert_int_eq(parse(len + 8, &why), -EPROTO);
	ck_assert_str_eq(why, "wire_hdr.len: not the length received");
	len = wire_pad(len) + 8;
	set_len(len);
	if (is_whole(&wire_samples[_i]))
		return;
	ck_assert_int_eq(parse(len, &why), -EPROTO);
	ck_assert_str_eq(why, "length: bytes after the message");
}
END_TEST

static void put_count(size_t off, uint32_t val)
{
	val = htole32(val);
	memcpy(m.bytes + sizeof(m.hdr) + off, &val, sizeof(val));
}

START_TEST(counts)
{
	static const int64_t delta[] = { -1,	  1,	   2,	      1000,
					 1 << 20, 1 << 28, UINT32_MAX };
	const struct wire_sample *s = &wire_samples[_i];
	size_t len;
	const char *why;
	uint32_t old;

	for (unsigned int t = 0; t < s->ntail; t++) {
		for (unsigned int i = 0; i < 7; i++) {
			len = wire_sample_build(s, &m);
			memcpy(&old,
			       m.bytes + sizeof(m.hdr) + s->tail[t].count_off,
			       4);
			put_count(s->tail[t].count_off,
				  (uint32_t)(le32toh(old) + delta[i]));
			ck_assert_msg(parse(len, &why) == -EPROTO,
				      "%s: count %u + %lld", s->name, t,
				      (long long)delta[i]);
		}
	}
}
END_TEST

START_TEST(padding)
{
	const struct wire_sample *s = &wire_samples[_i];
	size_t at = sizeof(m.hdr) + s->body_len, len;
	unsigned int n = s->ntail - s->gathered;
	const char *why;

	for (unsigned int t = 0; t < n; t++) {
		size_t end = at + s->tail[t].len;

		at += wire_pad(s->tail[t].len);
		for (size_t i = end; i < at; i++) {
			len = wire_sample_build(s, &m);
			m.bytes[i] = 1;
			ck_assert_int_eq(parse(len, &why), -EPROTO);
			ck_assert_str_eq(why, "padding: not zero");
		}
	}
}
END_TEST

START_TEST(nul_in_string)
{
	static const char *const names[] = { "getattr", "open", "hello",
					     "rename", "getattr redirect" };
	size_t len;
	const char *why;

	for (unsigned int i = 0; i < 5; i++) {
		const struct wire_sample *s = build(names[i], &len);
		size_t last = s->ntail - 1u, at = len - 8;

		m.bytes[at + s->tail[last].len / 2] = 0;
		ck_assert_int_eq(parse(len, &why), -EPROTO);
		ck_assert_str_eq(why, "string: holds a NUL");
	}
}
END_TEST

START_TEST(data_may_be_padded)
{
	struct wire_msg msg;
	size_t len;
	const char *why;

	build("write inline", &len);
	ck_assert_uint_ne(len, wire_pad(len));
	memset(m.bytes + len, 0, 8);
	set_len(wire_pad(len));
	ck_assert_int_eq(wire_parse(&m, wire_pad(len), &msg, NULL), 0);
	ck_assert_uint_eq(msg.tail[2].len, 21);
	set_len(len + 1);
	ck_assert_int_eq(parse(len + 1, &why), -EPROTO);
	m.bytes[len] = 1;
	set_len(wire_pad(len));
	ck_assert_int_eq(parse(wire_pad(len), &why), -EPROTO);
	ck_assert_str_eq(why, "padding: not zero");
}
END_TEST

START_TEST(unknown_operation_keeps_the_header)
{
	struct wire_msg msg = { 0 };
	size_t len;

	build("ping", &len);
	m.hdr.op = htole16(999);
	ck_assert_int_eq(wire_parse(&m, len, &msg, NULL), -ENOSYS);
	ck_assert_ptr_eq(msg.hdr, &m.hdr);
}
END_TEST

START_TEST(build_overflow)
{
	struct wire_out out;
	uint64_t small[8];

	wire_begin(&out, small, sizeof(small));
	ck_assert_ptr_eq(wire_put(&out, NULL, 9), small + 6);
	ck_assert_ptr_null(wire_put(&out, NULL, 1));
	ck_assert_int_eq(wire_end(&out, WIRE_PING, 0, 0), -EMSGSIZE);

	wire_begin(&out, small, sizeof(small));
	ck_assert_ptr_null(wire_put(&out, NULL, SIZE_MAX));
	ck_assert_ptr_null(wire_put(&out, NULL, 8));
	ck_assert_int_eq(wire_end(&out, WIRE_PING, 0, 0), -EMSGSIZE);

	wire_begin(&out, small, 47);
	ck_assert_int_eq(wire_end(&out, WIRE_PING, 0, 0), -EMSGSIZE);

	wire_begin(&out, small, sizeof(small));
	ck_assert_int_eq(wire_end(&out, WIRE_PING, 0, WIRE_INLINE_MAX + 1),
			 -EMSGSIZE);
}
END_TEST

START_TEST(build_zeroes)
{
	struct wire_out out;
	uint8_t *p;

	memset(&m, 0xff, sizeof(m));
	wire_begin(&out, &m, sizeof(m));
	p = wire_put(&out, "abc", 3);
	ck_assert_mem_eq(p, "abc\0\0\0\0\0", 8);
	ck_assert_mem_eq(wire_put(&out, NULL, 8), "\0\0\0\0\0\0\0\0", 8);
	ck_assert_int_eq(wire_end(&out, WIRE_PING, 0, 5), 48 + 8 + 8 + 5);
	ck_assert_uint_eq(m.hdr.credits | m.hdr.session | m.hdr.clock, 0);
}
END_TEST

/* Builds a GETATTR for a user with n groups.  Returns its length. */
static size_t build_as(unsigned int n)
{
	struct wire_path path = { .dir = 1, .path_len = htole32(1) };
	struct wire_as as = { .uid = htole32(1000),
			      .gid = htole32(100),
			      .ngroups = htole32(n) };
	le32 item[4 + WIRE_GROUPS_MAX + 1];
	struct wire_out out;

	memcpy(item, &as, sizeof(as));
	for (unsigned int i = 0; i <= WIRE_GROUPS_MAX; i++)
		item[4 + i] = htole32(7 + i);
	wire_begin(&out, &m, sizeof(m));
	wire_put(&out, &path, sizeof(path));
	wire_put(&out, "a", 1);
	wire_put(&out, item, sizeof(as) + n * sizeof(le32));
	m.hdr.session = 1;
	return (size_t)wire_end(&out, WIRE_GETATTR, WIRE_F_AS, 0);
}

START_TEST(for_somebody)
{
	size_t len = build_as((unsigned int)_i);
	struct wire_msg msg;
	const char *why;

	ck_assert_int_eq(wire_parse(&m, len, &msg, &why), 0);
	ck_assert_uint_eq(le32toh(msg.as->uid), 1000);
	ck_assert_uint_eq(le32toh(msg.as->ngroups), (unsigned int)_i);
	for (int i = 0; i < _i; i++)
		ck_assert_uint_eq(le32toh(msg.groups[i]), 7 + (uint32_t)i);
	m.bytes[len] = 0;
	for (size_t less = 8; less < len - 48 - 24; less += 8) {
		set_len(len - less);
		ck_assert_int_eq(parse(len - less, &why), -EPROTO);
	}
	set_len(len + 8);
	ck_assert_int_eq(parse(len + 8, &why), -EPROTO);
	ck_assert_str_eq(why, "wire_as: not the end of the message");
}
END_TEST

START_TEST(for_somebody_in_too_many_groups)
{
	size_t len = build_as(WIRE_GROUPS_MAX + 1);
	const char *why;

	ck_assert_int_eq(parse(len, &why), -EPROTO);
	ck_assert_str_eq(why, "wire_as.ngroups");
	len = build_as(1);
	m.bytes[len - 1] = 1;
	ck_assert_int_eq(parse(len, &why), -EPROTO);
	ck_assert_str_eq(why, "padding: not zero");
	m.bytes[len - 1] = 0;
	m.hdr.flags = htole16(0);
	ck_assert_int_eq(parse(len, &why), -EPROTO);
	ck_assert_str_eq(why, "length: bytes after the message");
}
END_TEST

static Suite *wire_suite(void)
{
	Suite *suite = suite_create("wire");
	TCase *tc = tcase_create("wire");
	const int n = (int)wire_nsamples;

	tcase_add_loop_test(tc, round_trip, 0, n);
	tcase_add_test(tc, samples_are_complete);
	tcase_add_loop_test(tc, truncation, 0, n);
	tcase_add_loop_test(tc, bytes_behind, 0, n);
	tcase_add_loop_test(tc, counts, 0, n);
	tcase_add_loop_test(tc, padding, 0, n);
	tcase_add_test(tc, nul_in_string);
	tcase_add_test(tc, data_may_be_padded);
	tcase_add_test(tc, unknown_operation_keeps_the_header);
	tcase_add_loop_test(tc, for_somebody, 0, WIRE_GROUPS_MAX + 1);
	tcase_add_test(tc, for_somebody_in_too_many_groups);
	tcase_add_test(tc, build_overflow);
	tcase_add_test(tc, build_zeroes);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return run_suite(wire_suite());
}
