/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod_again.c - a client repeats a change because the reply was lost. The iod must not execute the
 * change a second time over changes that it has acknowledged to others meanwhile.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/iod/deaf_proxy.h"
#include "tests/e2e/iod/iod_here.h"
#include "tests/e2e/iod/iodc.h"
#include "tests/run_suite.h"

#define HANDLE 5
#define LEN 4096u

static char dir[64];
static struct iod *iod;
static struct addr addr; /* the address of the iod, not of the proxy */
static struct deaf_proxy proxy;
static struct iodc victim; /* its replies are lost */
static struct iodc other, mgr;

static void start(void)
{
	struct iod_conf conf;

	iod_here_conf(&conf, dir);
	conf.threads = 1;
	iod_here_start(&conf, NULL, &iod, &addr);
	iodc_open_mgr(&mgr, &addr);
	iodc_open(&other, &addr, WIRE_ROLE_CLIENT, 0);
}

static void stop(void)
{
	iodc_close(&other);
	iodc_close(&mgr);
	iod_stop(iod);
}

static void setup(void)
{
	struct addr through;

	iodc_mkdir(dir);
	start();
	deaf_proxy_start(&proxy, addr.port);
	through = addr;
	through.port = (uint16_t)proxy.port;
	iodc_open(&victim, &through, WIRE_ROLE_CLIENT, 0);
}

static void teardown(void)
{
	iodc_close(&victim);
	deaf_proxy_stop(&proxy);
	stop();
	iodc_rmdir(dir);
}

static int write_at(struct iodc *c, uint64_t off, char what)
{
	memset(c->arena, what, LEN);
	return iodc_pwrite(c, HANDLE, off, LEN);
}

static char look_at(uint64_t off)
{
	uint64_t done;

	other.arena[0] = 0;
	ck_assert_int_eq(iodc_pread(&other, HANDLE, off, LEN, &done), 0);
	return (char)other.arena[0];
}

/* ---- a write, and the iod ends before its answer arrives ---- */

static void *write_a(void *arg)
{
	*(int *)arg = write_at(&victim, 0, 'a');
	return NULL;
}

/*
 * The iod restarts after it has executed a write of the victim, whose reply is lost. The next
 * process executes between(), and then gets the write again. Returns the result of the write.
 */
static int write_over_restart(void (*between)(void))
{
	pthread_t thread;
	int rc = 1;

	ck_assert_int_eq(write_at(&victim, 0, '0'), 0);
	atomic_store(&proxy.deaf, true);
	pthread_create(&thread, NULL, write_a, &rc);
	while (look_at(0) != 'a')
		usleep(1000);
	atomic_store(&proxy.server, 0);
	stop();
	start();
	between();
	atomic_store(&proxy.deaf, false);
	atomic_store(&proxy.server, addr.port);
	pthread_join(thread, NULL);
	return rc;
}

static void nothing(void)
{
}

static void same_bytes(void)
{
	ck_assert_int_eq(write_at(&other, LEN / 2, 'b'), 0);
}

static void cut(void)
{
	ck_assert_int_eq(iodc_resize(&mgr, HANDLE, 100), 0);
}

static void other_bytes(void)
{
	ck_assert_int_eq(write_at(&other, LEN, 'b'), 0);
	memset(other.arena, 'b', LEN);
	ck_assert_int_eq(iodc_pwrite(&other, HANDLE + 1, 0, LEN), 0);
}

START_TEST(write_alone)
{
	ck_assert_int_eq(write_over_restart(nothing), 0);
	ck_assert_int_eq(look_at(0), 'a');
}
END_TEST

START_TEST(write_beside_others)
{
	ck_assert_int_eq(write_over_restart(other_bytes), 0);
	ck_assert_int_eq(look_at(0), 'a');
	ck_assert_int_eq(look_at(LEN), 'b');
}
END_TEST

START_TEST(write_over_others)
{
	ck_assert_int_eq(write_over_restart(same_bytes), -EIO);
	ck_assert_int_eq(look_at(LEN / 2), 'b');
}
END_TEST

START_TEST(write_over_a_cut)
{
	uint64_t size;

	ck_assert_int_eq(write_over_restart(cut), -EIO);
	ck_assert_int_eq(iodc_size(&other, HANDLE, &size), 0);
	ck_assert_uint_eq(size, 100);
}
END_TEST

/* ---- truncations ---- */

#define MANY_NS (20 * 1000000000ull) /* longer than this iod has run */

static int resize(uint64_t id, uint64_t span, uint32_t flags)
{
	return iodc_resize_once(&mgr, HANDLE, 0, id, span, flags);
}

START_TEST(resize_once)
{
	ck_assert_int_eq(resize(7, MANY_NS, 0), 0);
	ck_assert_int_eq(write_at(&other, 0, 'b'), 0);
	ck_assert_int_eq(resize(7, MANY_NS, WIRE_RZ_AGAIN), 0);
	ck_assert_int_eq(look_at(0), 'b');
	ck_assert_int_eq(resize(8, MANY_NS, 0), 0);
	ck_assert_int_eq(look_at(0), 0);
}
END_TEST

/*
 * An earlier process of the iod may have executed the truncation, so the iod refuses to repeat it.
 */
START_TEST(resize_perhaps)
{
	ck_assert_int_eq(write_at(&other, 0, 'b'), 0);
	ck_assert_int_eq(resize(7, MANY_NS, WIRE_RZ_AGAIN), -EIO);
	ck_assert_int_eq(look_at(0), 'b');
}
END_TEST

static void iod_anew(void)
{
	atomic_store(&proxy.server, 0);
	stop();
	start();
	atomic_store(&proxy.server, addr.port);
}

/* Nobody has changed the object since, so the iod repeats the truncation. */
START_TEST(resize_perhaps_alone)
{
	ck_assert_int_eq(write_at(&other, 0, 'a'), 0);
	iod_anew();
	ck_assert_int_eq(resize(7, MANY_NS, WIRE_RZ_AGAIN), 0);
	ck_assert_int_eq(look_at(0), 0);
}
END_TEST

/* The truncation began after the start of this process, so no earlier process has executed it. */
START_TEST(resize_for_the_first_time)
{
	ck_assert_int_eq(write_at(&other, 0, 'b'), 0);
	ck_assert_int_eq(resize(7, 0, WIRE_RZ_AGAIN), 0);
	ck_assert_int_eq(look_at(0), 0);
}
END_TEST

static Suite *again_suite(void)
{
	Suite *s = suite_create("iod_again");
	TCase *tc = tcase_create("again");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, write_alone);
	tcase_add_test(tc, write_beside_others);
	tcase_add_test(tc, write_over_others);
	tcase_add_test(tc, write_over_a_cut);
	tcase_add_test(tc, resize_once);
	tcase_add_test(tc, resize_perhaps);
	tcase_add_test(tc, resize_perhaps_alone);
	tcase_add_test(tc, resize_for_the_first_time);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	return run_suite(again_suite());
}
