/* SPDX-License-Identifier: BSD-2-Clause */
/* test_resolver.c - look-ups that take any time. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/util/resolver.h"
#include "tests/run_suite.h"
#include "tests/unit/slow_names.h"

struct ears {
	struct resolver_watch watch; /* must be first */
	pthread_mutex_t lock;
	pthread_cond_t heard;
	unsigned int n;
};

static struct resolver *resolver;
static struct ears ears = { .lock = PTHREAD_MUTEX_INITIALIZER,
			    .heard = PTHREAD_COND_INITIALIZER };
static struct host_addrs hosts;
static const char *why;

static void ended(struct resolver_watch *watch)
{
	struct ears *e = (struct ears *)watch;

	pthread_mutex_lock(&e->lock);
	e->n++;
	pthread_cond_signal(&e->heard);
	pthread_mutex_unlock(&e->lock);
}

static void until_heard(unsigned int n)
{
	pthread_mutex_lock(&ears.lock);
	while (ears.n < n)
		pthread_cond_wait(&ears.heard, &ears.lock);
	pthread_mutex_unlock(&ears.lock);
}

static void setup(void)
{
	ck_assert_int_eq(resolver_open(&resolver), 0);
	slow_names_hold();
	ears.watch.ended = ended;
	ears.n = 0;
	resolver_watch(resolver, &ears.watch);
}

static void teardown(void)
{
	resolver_unwatch(resolver, &ears.watch);
	resolver_close(resolver);
}

static int get(const char *host)
{
	hosts.n = 77;
	why = NULL;
	return resolver_get(resolver, host, &hosts, &why);
}

START_TEST(test_numeric)
{
	static const char *const text[] = { "127.0.0.1", "::1", "192.0.2.7",
					    "fe80::1" };

	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		ck_assert_int_eq(get(text[i]), 0);
		ck_assert_uint_eq(hosts.n, 1);
		ck_assert_str_eq(hosts.host[0], text[i]);
	}
	ck_assert_uint_eq(slow_names_asked(), 0);
}
END_TEST

START_TEST(test_found)
{
	ck_assert_int_eq(get("a.test"), -EINPROGRESS);
	ck_assert_int_eq(get("a.test"), -EINPROGRESS);
	ck_assert_uint_eq(hosts.n, 77);
	slow_names_go("192.0.2.1");
	until_heard(1);
	ck_assert_int_eq(get("a.test"), 0);
	ck_assert_uint_eq(hosts.n, 1);
	ck_assert_str_eq(hosts.host[0], "192.0.2.1");
	ck_assert_uint_eq(slow_names_asked(), 1);
}
END_TEST

START_TEST(test_unknown)
{
	slow_names_go(NULL);
	ck_assert_int_eq(get("b.test"), -EINPROGRESS);
	until_heard(1);
	ck_assert_int_eq(get("b.test"), -EHOSTUNREACH);
	ck_assert_ptr_nonnull(why);
	ck_assert_uint_eq(hosts.n, 77);
}
END_TEST

/* At most four threads look names up, and each name gets its turn. */
START_TEST(test_many)
{
	char name[32];
	int i;

	for (i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), "n%d.test", i);
		ck_assert_int_eq(get(name), -EINPROGRESS);
	}
	slow_names_until_asked(4);
	ck_assert_uint_eq(slow_names_waiting(), 4);
	slow_names_go("192.0.2.2");
	until_heard(9);
	for (i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), "n%d.test", i);
		ck_assert_int_eq(get(name), 0);
	}
	ck_assert_uint_eq(slow_names_asked(), 9);
}
END_TEST

/* A close does not wait for a look-up that hangs; its thread frees the rest. */
START_TEST(test_close)
{
	struct resolver *other;

	ck_assert_int_eq(resolver_open(&other), 0);
	ck_assert_int_eq(resolver_get(other, "c.test", &hosts, &why),
			 -EINPROGRESS);
	slow_names_until_asked(1);
	resolver_close(other);
	slow_names_go("192.0.2.3");
	slow_names_until_over();
	resolver_close(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("resolver");
	TCase *t = tcase_create("resolver");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_numeric);
	tcase_add_test(t, test_found);
	tcase_add_test(t, test_unknown);
	tcase_add_test(t, test_many);
	tcase_add_test(t, test_close);
	suite_add_tcase(s, t);
	return run_suite(s);
}
