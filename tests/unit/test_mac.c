/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mac.c - codes over fields, compared with libcrypto's code of the whole. */
#include <endian.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <sodium/core.h>
#include <string.h>

#include "common/trust/mac.h"
#include "common/util/random_id.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"
#include "common/trust/secret.h"

#define ROUNDS 2000
#define BYTES 256u

static size_t put(uint8_t *to, const void *from, size_t len)
{
	uint64_t n = htole64(len);

	memcpy(to, &n, sizeof(n));
	memcpy(to + sizeof(n), from, len);
	return sizeof(n) + len;
}

/* The code as mac.h defines it: each field with its length in front. */
static void model(const uint8_t *key, const char *label,
		  const struct mac_field *field, unsigned int n, uint8_t *out)
{
	uint8_t text[8 * (BYTES + 8)];
	size_t len = put(text, label, strlen(label));
	unsigned int got;

	for (unsigned int i = 0; i < n; i++)
		len += put(text + len, field[i].ptr, field[i].len);
	ck_assert_ptr_nonnull(
		HMAC(EVP_sha256(), key, MAC_KEY_LEN, text, len, out, &got));
	ck_assert_uint_eq(got, MAC_LEN);
}

static void fill(struct rnd *rnd, uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)rnd_next(rnd);
}

START_TEST(test_model)
{
	uint8_t key[MAC_KEY_LEN], bytes[BYTES], want[MAC_LEN], got[MAC_LEN];
	struct mac_field field[4];
	struct rnd rnd;

	rnd_init(&rnd, 41);
	for (int round = 0; round < ROUNDS; round++) {
		unsigned int n = (unsigned int)rnd_in(&rnd, 0, 4);

		fill(&rnd, key, sizeof(key));
		fill(&rnd, bytes, sizeof(bytes));
		for (unsigned int i = 0; i < n; i++)
			field[i] = (struct mac_field){ bytes,
						       rnd_in(&rnd, 0, BYTES) };
		model(key, "a label", field, n, want);
		mac_make(key, "a label", field, n, got);
		ck_assert(mac_equal(want, got));
	}
}
END_TEST

/* The same bytes, divided in another way or for another purpose, have another code. */
START_TEST(test_no_two_lists)
{
	static const uint8_t key[MAC_KEY_LEN] = { 7 };
	const struct mac_field one[] = { { "ab", 2 }, { "c", 1 } };
	const struct mac_field two[] = { { "a", 1 }, { "bc", 2 } };
	const struct mac_field three[] = { { "abc", 3 }, { "", 0 } };
	uint8_t a[MAC_LEN], b[MAC_LEN];

	mac_make(key, "x", one, 2, a);
	mac_make(key, "x", two, 2, b);
	ck_assert(!mac_equal(a, b));
	mac_make(key, "x", three, 2, b);
	ck_assert(!mac_equal(a, b));
	mac_make(key, "x", three, 1, a);
	ck_assert(!mac_equal(a, b));
	mac_make(key, "y", three, 1, b);
	ck_assert(!mac_equal(a, b));
}
END_TEST

/* Compares with libcrypto. */
START_TEST(test_quick)
{
	uint8_t key[MAC_KEY_LEN], text[64], got[MAC_LEN], want[MAC_LEN];
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "BLAKE2BMAC", NULL);
	EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
	struct fast_mac quick;
	size_t size = MAC_LEN, len;
	const OSSL_PARAM params[] = { OSSL_PARAM_construct_size_t("size",
								  &size),
				      OSSL_PARAM_construct_end() };

	ck_assert_int_ge(sodium_init(), 0);
	for (unsigned int i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)i;
	memcpy(key, text, sizeof(key));
	fast_mac_begin(&quick, key);
	for (size_t n = 0; n <= sizeof(text); n++) {
		ck_assert_int_eq(EVP_MAC_init(ctx, key, sizeof(key), params),
				 1);
		ck_assert_int_eq(EVP_MAC_update(ctx, text, n), 1);
		ck_assert_int_eq(EVP_MAC_final(ctx, want, &len, sizeof(want)),
				 1);
		fast_mac(&quick, text, n, got);
		ck_assert_mem_eq(got, want, MAC_LEN);
	}
	EVP_MAC_CTX_free(ctx);
	EVP_MAC_free(mac);
}
END_TEST

START_TEST(test_equal)
{
	uint8_t a[MAC_LEN] = { 0 }, b[MAC_LEN] = { 0 };

	ck_assert(mac_equal(a, b));
	for (unsigned int bit = 0; bit < 8 * MAC_LEN; bit++) {
		b[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ck_assert(!mac_equal(a, b));
		b[bit / 8] = 0;
	}
}
END_TEST

START_TEST(test_random)
{
	uint8_t a[32] = { 0 }, b[32] = { 0 };

	ck_assert_int_eq(random_bytes(a, sizeof(a)), 0);
	ck_assert_int_eq(random_bytes(b, sizeof(b)), 0);
	ck_assert_int_ne(memcmp(a, b, sizeof(a)), 0);
}
END_TEST

/* True if the kernel has the flag for the page: "dd", not dumped; "wf", wiped on fork. */
static bool has_flag(const void *p, const char *flag)
{
	FILE *maps = fopen("/proc/self/smaps", "re");
	uintptr_t from, to, at = (uintptr_t)p;
	bool here = false, has = false;
	char line[512];

	ck_assert_ptr_nonnull(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			here = at >= from && at < to;
		else if (here && !strncmp(line, "VmFlags:", 8))
			has = strstr(line, flag);
	}
	fclose(maps);
	return has;
}

START_TEST(test_secret)
{
	uint8_t *p = secret_new(100);

	ck_assert_ptr_nonnull(p);
	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(p[i], 0);
	ck_assert(has_flag(p, " dd"));
	ck_assert(has_flag(p, " wf"));
	secret_free(p, 100);
	secret_free(NULL, 100);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mac");
	TCase *tc = tcase_create("mac");

	tcase_add_test(tc, test_model);
	tcase_add_test(tc, test_no_two_lists);
	tcase_add_test(tc, test_quick);
	tcase_add_test(tc, test_equal);
	tcase_add_test(tc, test_random);
	tcase_add_test(tc, test_secret);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
