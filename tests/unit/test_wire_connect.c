/* SPDX-License-Identifier: BSD-2-Clause */
/* test_wire_connect.c - private data of any length, alignment and content. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "tests/run_suite.h"
#include "common/wire/wire.h"

#define ROOM 64

static const struct wire_connect good_connect = {
	.magic = WIRE_MAGIC,
	.version = WIRE_VERSION,
	.role = WIRE_ROLE_IOD,
	.session = 1,
	.reply_max = sizeof(struct wire_hdr),
};

static const struct wire_accept good_accept = {
	.magic = WIRE_MAGIC,
	.version = WIRE_VERSION,
	.fsid = 1,
	.boot = 2,
	.credits = UINT16_MAX,
	.request_max = sizeof(struct wire_hdr),
};

typedef int check_fn(const void *buf, size_t len, const char **why);

static const struct kind {
	check_fn *check;
	const void *good;
	size_t len;
} kinds[] = {
	{ wire_check_connect, &good_connect, sizeof(good_connect) },
	{ wire_check_accept, &good_accept, sizeof(good_accept) },
};

START_TEST(any_alignment)
{
	const struct kind *k = &kinds[_i];
	_Alignas(8) uint8_t buf[ROOM + 8];
	const char *why = "untouched";

	for (size_t off = 0; off < 8; off++) {
		memcpy(buf + off, k->good, k->len);
		ck_assert_int_eq(k->check(buf + off, k->len, &why), 0);
		ck_assert_int_eq(k->check(buf + off, k->len, NULL), 0);
	}
	ck_assert_str_eq(why, "untouched");
}
END_TEST

START_TEST(any_length)
{
	const struct kind *k = &kinds[_i];
	uint8_t buf[ROOM];
	const char *why;
	size_t len;

	memset(buf, 0xff, sizeof(buf));
	memcpy(buf, k->good, k->len);
	for (len = 0; len < k->len; len++) {
		why = NULL;
		ck_assert_int_eq(k->check(buf, len, &why), -EPROTO);
		ck_assert_int_eq(strncmp(why, "length: ", 8), 0);
	}
	for (; len <= ROOM; len++)
		ck_assert_int_eq(k->check(buf, len, &why), 0);
	ck_assert_int_eq(k->check(NULL, 0, NULL), -EPROTO);
}
END_TEST

/* Another version may have another length: the version is checked first. */
START_TEST(another_version)
{
	const struct kind *k = &kinds[_i];
	struct wire_connect c = { .magic = htole32(WIRE_MAGIC),
				  .version = htole16(WIRE_VERSION_NEWEST + 1) };
	const char *why;

	ck_assert_int_eq(k->check(&c, 6, &why), -EPROTONOSUPPORT);
	ck_assert_int_eq(k->check(&c, sizeof(c), &why), -EPROTONOSUPPORT);
	ck_assert_str_eq(why, "version: another protocol version");
	c.version = 0;
	ck_assert_int_eq(k->check(&c, sizeof(c), NULL), -EPROTONOSUPPORT);
	c.magic = 0;
	ck_assert_int_eq(k->check(&c, sizeof(c), &why), -EPROTO);
	ck_assert_str_eq(why, "magic: not this protocol");
}
END_TEST

static void refused(unsigned int kind, const void *buf, const char *want)
{
	const char *why = "(no reason)";

	ck_assert_int_eq(kinds[kind].check(buf, kinds[kind].len, &why),
			 -EPROTO);
	ck_assert_str_eq(why, want);
}

START_TEST(connect_fields)
{
	struct wire_connect c = good_connect;

	c.role = 0;
	refused(0, &c, "wire_connect.role: unknown");
	c.role = htole16(WIRE_ROLE_IOD + 1);
	refused(0, &c, "wire_connect.role: unknown");
	c = good_connect;
	c.session = 0;
	refused(0, &c, "wire_connect.session: zero");
	c = good_connect;
	c.reply_max = htole32(sizeof(struct wire_hdr) - 1);
	refused(0, &c, "wire_connect.reply_max: smaller than a header");
}
END_TEST

START_TEST(accept_fields)
{
	struct wire_accept a = good_accept;

	a.credits = 0;
	refused(1, &a, "wire_accept.credits: not in 1..65535");
	a.credits = htole32(UINT16_MAX + 1);
	refused(1, &a, "wire_accept.credits: not in 1..65535");
	a = good_accept;
	a.request_max = htole32(sizeof(struct wire_hdr) - 1);
	refused(1, &a, "wire_accept.request_max: smaller than a header");
	a.credits = 0;
	a.status = htole16(EAGAIN); /* a reject grants nothing */
	ck_assert_int_eq(wire_check_accept(&a, sizeof(a), NULL), 0);
}
END_TEST

/* A missing or incomplete hail has no features. */
START_TEST(hails)
{
	struct {
		struct wire_connect c;
		struct wire_hail hail;
	} both = { good_connect, { htole32(WIRE_FT_PROOF), { 1, 2, 3 } } };
	static const struct wire_hail none;
	struct wire_hail hail;

	for (size_t len = 0; len <= sizeof(both); len++) {
		wire_take_hail(&both, len, sizeof(both.c), &hail);
		ck_assert_mem_eq(&hail,
				 len == sizeof(both) ? &both.hail : &none,
				 sizeof(hail));
	}
	ck_assert_int_eq(wire_check_connect(&both, sizeof(both), NULL), 0);
}
END_TEST

static Suite *wire_connect_suite(void)
{
	Suite *suite = suite_create("wire_connect");
	TCase *tc = tcase_create("wire_connect");

	tcase_add_loop_test(tc, any_alignment, 0, 2);
	tcase_add_loop_test(tc, any_length, 0, 2);
	tcase_add_loop_test(tc, another_version, 0, 2);
	tcase_add_test(tc, connect_fields);
	tcase_add_test(tc, accept_fields);
	tcase_add_test(tc, hails);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return run_suite(wire_connect_suite());
}
