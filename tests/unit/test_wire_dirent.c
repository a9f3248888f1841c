/* SPDX-License-Identifier: BSD-2-Clause */
/* test_wire_dirent.c - records of directories: every field is checked. */
#include <check.h>
#include <string.h>

#include "tests/run_suite.h"
#include "common/wire/wire.h"

static const size_t kinds[] = { sizeof(struct wire_dirent),
				sizeof(struct wire_direntplus) };

/* A record with a name of len bytes, and room after it. */
struct record {
	_Alignas(8) uint8_t at[1024];
	struct wire_dirent *d;
	char *name;
	size_t fixed, len;
};

static void make(struct record *r, size_t fixed, size_t len)
{
	memset(r->at, 'x', sizeof(r->at));
	memset(r->at, 0, fixed);
	r->d = (struct wire_dirent *)r->at;
	r->name = (char *)r->at + fixed;
	r->fixed = fixed;
	r->len = wire_pad(fixed + len + 1);
	memset(r->name, 'n', len);
	memset(r->name + len, 0, r->len - fixed - len);
	r->d->cookie = htole64(77);
	r->d->name_len = htole16((uint16_t)len);
	r->d->reclen = htole16((uint16_t)r->len);
}

static bool ok(const struct record *r, size_t left)
{
	return wire_dirent_ok(r->d, left, r->fixed);
}

START_TEST(lengths)
{
	struct record r;

	for (size_t len = 1; len <= WIRE_NAME_MAX; len++) {
		make(&r, kinds[_i], len);
		ck_assert(ok(&r, r.len));
		ck_assert(ok(&r, sizeof(r.at)));
		for (size_t left = 0; left < r.len; left++)
			ck_assert(!ok(&r, left));
	}
	make(&r, kinds[_i], 0);
	ck_assert(!ok(&r, sizeof(r.at)));
	make(&r, kinds[_i], WIRE_NAME_MAX + 1);
	ck_assert(!ok(&r, sizeof(r.at)));
}
END_TEST

START_TEST(names)
{
	struct record r;

	make(&r, kinds[_i], 5);
	r.name[4] = '/';
	ck_assert(!ok(&r, r.len));
	r.name[4] = '\0';
	ck_assert(!ok(&r, r.len));
	make(&r, kinds[_i], 5);
	r.name[5] = 'n'; /* no NUL at the end */
	ck_assert(!ok(&r, r.len));
}
END_TEST

START_TEST(fields)
{
	struct record r;

	make(&r, kinds[_i], 20);
	for (unsigned int n = 0; n <= UINT16_MAX; n++) {
		r.d->reclen = htole16((uint16_t)n);
		ck_assert_int_eq(ok(&r, r.len), n == r.len);
	}
	make(&r, kinds[_i], 20);
	for (unsigned int n = 0; n <= UINT16_MAX; n++) {
		r.d->name_len = htole16((uint16_t)n);
		ck_assert_int_eq(ok(&r, r.len), n == 20);
	}
	make(&r, kinds[_i], 20);
	r.d->cookie = htole64((uint64_t)INT64_MAX);
	ck_assert(ok(&r, r.len));
	r.d->cookie = htole64((uint64_t)INT64_MAX + 1);
	ck_assert(!ok(&r, r.len));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("dirent");
	Suite *suite = suite_create("wire_dirent");

	tcase_add_loop_test(tc, lengths, 0, 2);
	tcase_add_loop_test(tc, names, 0, 2);
	tcase_add_loop_test(tc, fields, 0, 2);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
