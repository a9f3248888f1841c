/* SPDX-License-Identifier: BSD-2-Clause */
/* test_wire.c - what is built is parsed; what is changed is refused. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire_samples.h"

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

START_TEST(truncation)
{
	size_t len = wire_sample_build(&wire_samples[_i], &m);
	const char *why;

	for (size_t cut = 0; cut < len; cut++) {
		set_len(len);
		ck_assert_int_eq(parse(cut, &why), -EPROTO);
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
	ck_assert_int_eq(parse(len, &why), -EPROTO);
	ck_assert_str_eq(why, "length: bytes behind the message");
}
END_TEST

static void put_count(const struct wire_sample *s, size_t off, uint32_t val)
{
	val = htole32(val);
	memcpy(m.bytes + sizeof(m.hdr) + off, &val, sizeof(val));
	(void)s;
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
			put_count(s, s->tail[t].count_off,
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

/* One field of a good message set to a bad value. */
struct bad {
	const char *sample;
	size_t off;
	unsigned int width;
	uint64_t val;
	int rc;
	const char *why;
};

#define HDR(sample, field, val, rc, why)                                       \
	{                                                                      \
		sample, offsetof(struct wire_hdr, field),                      \
			sizeof(((struct wire_hdr *)0)->field), val, rc, why    \
	}
#define BODY(sample, type, field, val, why)                                    \
	{                                                                      \
		sample,                                                        \
			sizeof(struct wire_hdr) +                              \
				offsetof(struct type, field),                  \
			sizeof(((struct type *)0)->field), val, -EPROTO, why   \
	}
#define TAIL(sample, body, i, type, field, val, why)                           \
	{                                                                      \
		sample,                                                        \
			sizeof(struct wire_hdr) + sizeof(struct body) +        \
				(i) * sizeof(struct type) +                    \
				offsetof(struct type, field),                  \
			sizeof(((struct type *)0)->field), val, -EPROTO, why   \
	}

static const struct bad bad[] = {
	HDR("ping", magic, 1, -EPROTO, "magic: not this protocol"),
	HDR("ping", version, 2, -EPROTONOSUPPORT,
	    "version: another protocol version"),
	HDR("ping", op, 0, -ENOSYS, "wire_hdr.op: unknown operation"),
	HDR("ping", op, 5, -ENOSYS, "wire_hdr.op: unknown operation"),
	HDR("ping", op, 71, -ENOSYS, "wire_hdr.op: unknown operation"),
	HDR("ping", op, 65535, -ENOSYS, "wire_hdr.op: unknown operation"),
	HDR("ping", op, WIRE_FENCE, -EPROTO, "length: shorter than the body"),
	HDR("ping", len, 47, -EPROTO, "wire_hdr.len: not the length received"),
	HDR("ping", flags, 4, -EPROTO, "wire_hdr.flags: unknown bits"),
	HDR("ping", flags, 3, -EPROTO, "wire_hdr.flags: unknown bits"),
	HDR("ping", flags, WIRE_F_REPLY, -EPROTO,
	    "length: shorter than the body"),
	HDR("ping", session, 0, -EPROTO, "wire_hdr.session: zero"),
	HDR("ping", credits, 1, -EPROTO,
	    "wire_hdr.credits: not zero in a request"),
	HDR("ping", status, 1, -EPROTO,
	    "wire_hdr.status: not zero in a request"),
	HDR("ping", zero, 1, -EPROTO, "wire_hdr.zero: reserved, not zero"),
	HDR("bye reply", timeout_ms, 1, -EPROTO,
	    "wire_hdr.timeout_ms: not zero in a reply"),
	HDR("bye reply", status, 4097, -EPROTO, "wire_hdr.status: unknown"),
	HDR("bye reply", status, WIRE_REDIRECT, -EPROTO,
	    "wire_hdr.status: no path to redirect"),
	HDR("unlink reply", status, WIRE_REDIRECT, -EPROTO,
	    "length: shorter than the body"),
	HDR("getattr reply", status, 5, -EPROTO,
	    "length: bytes behind the message"),

	BODY("hello", wire_hello, ngroups, WIRE_GROUPS_MAX + 1,
	     "wire_hello.ngroups"),
	BODY("hello", wire_hello, name_len, WIRE_NAME_MAX + 1,
	     "wire_hello.name_len"),
	BODY("hello reply", wire_hello_rep, flags, 2,
	     "wire_hello_rep.flags: unknown bits"),
	BODY("ping reply", wire_ping_rep, zero, 1,
	     "wire_ping_rep.zero: reserved, not zero"),
	BODY("mount reply", wire_mount_rep, root, 0,
	     "wire_mount_rep.root: zero"),
	BODY("mount reply", wire_mount_rep, niods, 0,
	     "wire_mount_rep.niods: not the number of uris"),
	BODY("mount reply", wire_mount_rep, niods, 3,
	     "wire_mount_rep.niods: not the number of uris"),
	BODY("mount reply", wire_mount_rep, niods, WIRE_IOD_MAX + 1,
	     "wire_mount_rep.niods: too large"),
	{ "mount reply", sizeof(struct wire_hdr) + 32 + 19, 1, 'x', -EPROTO,
	  "wire_mount_rep: uris malformed" },
	{ "mount reply", sizeof(struct wire_hdr) + 32, 1, 0, -EPROTO,
	  "wire_mount_rep: uris malformed" },
	{ "mount reply", sizeof(struct wire_hdr) + 32 + 9, 1, 'x', -EPROTO,
	  "wire_mount_rep.niods: not the number of uris" },
	BODY("getattr", wire_path, flags, 2, "wire_path.flags: unknown bits"),
	BODY("getattr", wire_path, path_len, WIRE_PATH_MAX + 1,
	     "wire_path.path_len"),
	BODY("getattr reply", wire_attr_rep, attr.size, 1ull << 63,
	     "wire_attr_rep.attr.size: above 2^63 - 1"),
	BODY("getattr reply", wire_attr_rep, attr.flags, 2,
	     "wire_attr_rep.attr.flags: unknown bits"),
	BODY("getattr reply", wire_attr_rep, attr.zero, 1,
	     "wire_attr_rep.attr.zero: reserved, not zero"),
	BODY("getattr reply", wire_attr_rep, attr.dist.zero, 1,
	     "wire_attr_rep.attr.dist.zero: reserved, not zero"),
	BODY("readlink reply", wire_path_rep, which, 2,
	     "wire_path_rep.which: too large"),
	BODY("open", wire_open, flags, 0x100, "wire_open.flags: unknown bits"),
	BODY("open", wire_open, mode, 010000, "wire_open.mode: unknown bits"),
	BODY("open", wire_open, dist.zero, 1,
	     "wire_open.dist.zero: reserved, not zero"),
	BODY("open", wire_open, zero, 1, "wire_open.zero: reserved, not zero"),
	BODY("open reply", wire_open_rep, attr.zero, 1,
	     "wire_open_rep.attr.zero: reserved, not zero"),
	BODY("release", wire_release, end, UINT64_MAX,
	     "wire_release.end: above 2^63 - 1"),
	BODY("release", wire_release, flags, 4,
	     "wire_release.flags: unknown bits"),
	BODY("release", wire_release, zero, 1,
	     "wire_release.zero: reserved, not zero"),
	BODY("setattr", wire_setattr, valid, 0x80,
	     "wire_setattr.valid: unknown bits"),
	BODY("setattr", wire_setattr, mode, 0100644,
	     "wire_setattr.mode: unknown bits"),
	BODY("setattr", wire_setattr, flags, 2,
	     "wire_setattr.flags: unknown bits"),
	BODY("mkdir", wire_mkdir, mode, 040755,
	     "wire_mkdir.mode: unknown bits"),
	BODY("rename", wire_two, path1_len, WIRE_PATH_MAX + 1,
	     "wire_two.path1_len"),
	BODY("rename", wire_two, path2_len, WIRE_PATH_MAX + 1,
	     "wire_two.path2_len"),
	BODY("readdir", wire_readdir, mem.len, 0, "wire_mem.len: zero"),
	BODY("readdir", wire_readdir, mem.addr, UINT64_MAX - 4095,
	     "wire_mem: the end is above 2^64 - 1"),
	BODY("readdir reply", wire_readdir_rep, eof, 2,
	     "wire_readdir_rep.eof: too large"),
	BODY("readdir reply", wire_readdir_rep, zero, 1,
	     "wire_readdir_rep.zero: reserved, not zero"),
	BODY("truncate", wire_truncate, size, 1ull << 63,
	     "wire_truncate.size: above 2^63 - 1"),
	BODY("truncate", wire_truncate, zero, 1,
	     "wire_truncate.zero: reserved, not zero"),
	BODY("access", wire_access, mask, 8, "wire_access.mask: unknown bits"),
	BODY("append", wire_append, len, 1ull << 63,
	     "wire_append.len: above 2^63 - 1"),
	BODY("append reply", wire_append_rep, offset, 1ull << 63,
	     "wire_append_rep.offset: above 2^63 - 1"),

	BODY("read", wire_io, flags, 2, "wire_io.flags: unknown bits"),
	BODY("read", wire_io, data_len, 1, "wire_io.data_len: too large"),
	BODY("read", wire_io, total, 20,
	     "wire_io.total: not the sum of regions"),
	BODY("read", wire_io, total, 1ull << 63,
	     "wire_io.total: above 2^63 - 1"),
	BODY("read", wire_io, nreg, WIRE_REGION_MAX + 1, "wire_io.nreg"),
	BODY("read", wire_io, nmem, WIRE_MEM_MAX + 1, "wire_io.nmem"),
	BODY("read inline", wire_io, total, WIRE_INLINE_MAX + 1,
	     "wire_io.total: too large for an inline reply"),
	BODY("write", wire_io, data_len, 21, "wire_io.data_len"),
	BODY("write inline", wire_io, total, 22,
	     "wire_io.data_len: not the total, or not 0 with mem"),
	BODY("write inline", wire_io, data_len, WIRE_INLINE_MAX + 1,
	     "wire_io.data_len"),
	TAIL("read", wire_io, 0, wire_region, len, 0, "wire_region.len: zero"),
	TAIL("read", wire_io, 0, wire_region, len, 9,
	     "wire_io.total: not the sum of regions"),
	TAIL("read", wire_io, 1, wire_region, off, INT64_MAX - 10,
	     "wire_region: the end is above 2^63 - 1"),
	TAIL("read", wire_io, 1, wire_region, off, UINT64_MAX,
	     "wire_region: the end is above 2^63 - 1"),
	TAIL("write", wire_io, 1, wire_region, len, UINT64_MAX - 65536,
	     "wire_region: the end is above 2^63 - 1"),
	TAIL("read", wire_io, 2, wire_mem, len, 0, "wire_mem.len: zero"),
	TAIL("read", wire_io, 2, wire_mem, len, 6,
	     "wire_io.total: not the sum of mem"),
	TAIL("write", wire_io, 3, wire_mem, addr, UINT64_MAX - 14,
	     "wire_mem: the end is above 2^64 - 1"),
	BODY("read inline reply", wire_io_rep, done, 20,
	     "wire_io_rep.data_len: neither 0 nor done"),
	BODY("read reply", wire_io_rep, size, 1ull << 63,
	     "wire_io_rep.size: above 2^63 - 1"),
	BODY("read reply", wire_io_rep, zero, 1,
	     "wire_io_rep.zero: reserved, not zero"),
	BODY("write reply", wire_io_rep, data_len, 1,
	     "wire_io_rep.data_len: too large"),
	BODY("write reply", wire_io_rep, done, 1ull << 63,
	     "wire_io_rep.done: above 2^63 - 1"),
	BODY("resize", wire_resize, size, 1ull << 63,
	     "wire_resize.size: above 2^63 - 1"),
	BODY("sync", wire_objects, zero, 1,
	     "wire_objects.zero: reserved, not zero"),
	BODY("remove", wire_objects, n, WIRE_HANDLE_MAX + 1, "wire_objects.n"),
	BODY("getsize reply", wire_getsize_rep, zero, 1,
	     "wire_getsize_rep.zero: reserved, not zero"),
	TAIL("getsize reply", wire_getsize_rep, 2, wire_objsize, size,
	     1ull << 63, "wire_objsize.size: above 2^63 - 1"),
	BODY("fence", wire_fence, session, 0, "wire_fence.session: zero"),
};

static void poke(size_t off, unsigned int width, uint64_t val)
{
	val = htole64(val);
	memcpy(m.bytes + off, &val, width);
}

START_TEST(bad_fields)
{
	const struct bad *b = &bad[_i];
	const char *why;
	size_t len;
	int rc;

	build(b->sample, &len);
	poke(b->off, b->width, b->val);
	rc = parse(len, &why);
	ck_assert_msg(rc == b->rc && !strcmp(why, b->why),
		      "%s: got %d '%s', wanted %d '%s'", b->sample, rc, why,
		      b->rc, b->why);
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

/* Two regions, each good, whose sum is beyond 2^63 - 1. */
START_TEST(sum_of_regions)
{
	const size_t reg = sizeof(m.hdr) + sizeof(struct wire_io);
	const char *why;
	size_t len;

	build("read", &len);
	poke(reg + 8, 8, INT64_MAX);
	poke(reg + 16, 8, 0);
	poke(reg + 24, 8, INT64_MAX);
	ck_assert_int_eq(parse(len, &why), -EPROTO);
	ck_assert_str_eq(why, "wire_region: the sum is above 2^63 - 1");
}
END_TEST

START_TEST(no_io_of_nothing)
{
	struct wire_io io = { .handle = 1 };
	struct wire_out out;
	const char *why;
	int len;

	wire_begin(&out, &m, sizeof(m));
	wire_put(&out, &io, sizeof(io));
	m.hdr.session = 1;
	len = wire_end(&out, WIRE_READ, 0, 0);
	ck_assert_int_gt(len, 0);
	ck_assert_int_eq(parse((size_t)len, &why), -EPROTO);
	ck_assert_str_eq(why, "wire_io.total: zero");
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
	ck_assert_uint_eq(m.hdr.credits | m.hdr.session | m.hdr.zero, 0);
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
	tcase_add_loop_test(tc, bad_fields, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tc, unknown_operation_keeps_the_header);
	tcase_add_test(tc, sum_of_regions);
	tcase_add_test(tc, no_io_of_nothing);
	tcase_add_test(tc, build_overflow);
	tcase_add_test(tc, build_zeroes);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	SRunner *runner = srunner_create(wire_suite());
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
