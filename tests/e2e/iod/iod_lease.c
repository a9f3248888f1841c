/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod_lease.c - which manager an iod obeys, and what it does without a manager: leases, terms, and
 * fences that the disk does not store.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "tests/e2e/iod/iod_here.h"
#include "tests/e2e/iod/iodc.h"
#include "tests/run_suite.h"
#include "tests/e2e/iod/stalled.h"

/* shorter than the time after which stalled bulk data ends the connection */
#define LEASE_MS 5000u

static char dir[64];
static struct iod *iod;
static struct addr addr;
static struct iodc client, mgr;
static atomic_bool disk_fails;
static atomic_uint waits, late; /* numbers of these log lines */

int fdatasync(int fd)
{
	if (atomic_load(&disk_fails)) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fdatasync, fd);
}

static void sink(void *arg, enum log_level level, const char *msg)
{
	if (strstr(msg, "the manager was not heard"))
		atomic_fetch_add(&waits, 1);
	if (strstr(msg, "did not bring its data in time"))
		atomic_fetch_add(&late, 1);
}

static void start(void)
{
	static const struct log log = { LOG_LV_WARN, sink, NULL };
	struct iod_conf conf;

	iod_here_conf(&conf, dir);
	conf.threads = 2;
	iod_here_start(&conf, &log, &iod, &addr);
}

static void connect_both(void)
{
	atomic_store(&waits, 0);
	atomic_store(&late, 0);
	start();
	iodc_open(&client, &addr, WIRE_ROLE_CLIENT, 0);
	iodc_open(&mgr, &addr, WIRE_ROLE_MGR, 0);
}

static void setup(void)
{
	iodc_mkdir(dir);
	connect_both();
}

static void setup_memory(void)
{
	must(iodc_mkdir_memory(dir));
	connect_both();
}

static void teardown(void)
{
	atomic_store(&disk_fails, false);
	iodc_close(&client);
	iodc_close(&mgr);
	iod_stop(iod);
	iodc_rmdir(dir);
}

START_TEST(nobody_is_served_before)
{
	client.timeout_ms = 300;
	ck_assert_int_eq(iodc_lease(&mgr, 60000), -EAGAIN);
	ck_assert_int_eq(iodc_fence(&mgr, 77), -EAGAIN);
	ck_assert_int_eq(iodc_claim(&mgr, 1), 0);
	ck_assert_int_eq(iodc_fence(&mgr, client.session), 0);
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 10), -ESTALE);
	iodc_close(&client);
	iodc_open(&client, &addr, WIRE_ROLE_CLIENT, 0);
	client.timeout_ms = 300;
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 10), -ETIMEDOUT);
	client.timeout_ms = 10000;
	ck_assert_int_eq(iodc_lease(&mgr, 60000), 0);
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 10), 0);
}
END_TEST

static void *write_one(void *arg)
{
	struct iodc *c = arg;

	must(!iodc_pwrite(c, 1, 0, 100));
	return NULL;
}

/* After the end of a lease, writes wait, and reads do not. */
START_TEST(a_lease_that_has_passed)
{
	struct iodc reader;
	pthread_t thread;
	uint64_t done;

	ck_assert_int_eq(iodc_claim(&mgr, 1), 0);
	ck_assert_int_eq(iodc_lease(&mgr, 60000), 0);
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 100), 0);
	iodc_close(&client);
	iodc_close(&mgr);
	iod_stop(iod);
	start();
	iodc_open(&mgr, &addr, WIRE_ROLE_MGR, 0);
	iodc_open(&client, &addr, WIRE_ROLE_CLIENT, 0);
	iodc_open(&reader, &addr, WIRE_ROLE_CLIENT, 0);
	ck_assert_int_eq(iodc_claim(&mgr, 1), 0);
	ck_assert_int_eq(iodc_lease(&mgr, 1), 0);
	usleep(2000); /* longer than the lease */
	client.timeout_ms = 200;
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 200), -ETIMEDOUT);
	client.timeout_ms = 20000;
	pthread_create(&thread, NULL, write_one, &client);
	while (!atomic_load(&waits))
		usleep(1000);
	ck_assert_int_eq(iodc_pread(&reader, 1, 0, 300, &done), 0);
	ck_assert_uint_eq(done, 100);
	/* a lease that has ended already does not extend the old one */
	ck_assert_int_eq(iodc_lease(&mgr, 0), 0);
	ck_assert_int_eq(iodc_lease(&mgr, 60000), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(atomic_load(&waits), 1);
	iodc_close(&reader);
}
END_TEST

/* A fence also rejects requests that wait for a lease. */
START_TEST(a_fence_while_it_waits)
{
	ck_assert_int_eq(iodc_claim(&mgr, 1), 0);
	ck_assert_int_eq(iodc_lease(&mgr, 1), 0);
	usleep(2000);
	client.timeout_ms = 200;
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 200), -ETIMEDOUT);
	ck_assert_int_eq(iodc_fence(&mgr, client.session), 0);
	ck_assert_int_eq(iodc_lease(&mgr, 60000), 0);
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 200), -ESTALE);
}
END_TEST

START_TEST(an_old_manager)
{
	struct iodc old;
	uint64_t size;

	ck_assert_int_eq(iodc_claim(&mgr, 3), 0);
	ck_assert_int_eq(iodc_lease(&mgr, 60000), 0);
	ck_assert_int_eq(iodc_resize(&mgr, 1, 1000), 0);
	iodc_open(&old, &addr, WIRE_ROLE_MGR, 99);
	ck_assert_int_eq(iodc_claim(&old, 4), 0);
	mgr.timeout_ms = 1000;
	ck_assert_int_eq(iodc_resize(&mgr, 1, 10), -ESTALE);
	ck_assert_int_eq(iodc_claim(&mgr, 3), -ESTALE);
	/* the iod remembers the manager over a restart */
	iodc_close(&mgr);
	iodc_close(&old);
	iod_stop(iod);
	start();
	/* another manager with the same term, such as one with a copy of the database */
	iodc_open(&mgr, &addr, WIRE_ROLE_MGR, 100);
	ck_assert_int_eq(iodc_claim(&mgr, 4), -ESTALE);
	iodc_close(&mgr);
	iodc_open(&mgr, &addr, WIRE_ROLE_MGR, 99);
	ck_assert_int_eq(iodc_claim(&mgr, 3), -ESTALE);
	ck_assert_int_eq(iodc_resize(&mgr, 1, 10), -EAGAIN);
	ck_assert_int_eq(iodc_claim(&mgr, 4), 0);
	ck_assert_int_eq(iodc_size(&mgr, 1, &size), 0);
	ck_assert_uint_eq(size, 1000);
	/* a manager that was started earlier, and claims this iod late */
	iodc_open(&old, &addr, WIRE_ROLE_MGR, 98);
	ck_assert_int_eq(iodc_claim(&old, 4), 0);
	mgr.timeout_ms = 1000;
	ck_assert_int_eq(iodc_resize(&mgr, 1, 10), -ESTALE);
	ck_assert_int_eq(iodc_claim(&mgr, 4), -ESTALE);
	ck_assert_int_eq(iodc_resize(&old, 1, 900), 0);
	iodc_close(&old);
}
END_TEST

/* The iod rejects the session at once, but confirms the fence only when it is durable. */
START_TEST(a_fence_on_a_bad_disk)
{
	ck_assert_int_eq(iodc_claim(&mgr, 1), 0);
	ck_assert_int_eq(iodc_lease(&mgr, 60000), 0);
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 10), 0);
	atomic_store(&disk_fails, true);
	ck_assert_int_eq(iodc_fence(&mgr, client.session), -EAGAIN);
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 20), -ESTALE);
	atomic_store(&disk_fails, false);
	ck_assert_int_eq(iodc_fence(&mgr, client.session), 0);
	iodc_close(&client);
	iodc_close(&mgr);
	iod_stop(iod);
	start();
	iodc_open_mgr(&mgr, &addr);
	iodc_open(&client, &addr, WIRE_ROLE_CLIENT, client.session);
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 20), -ESTALE);
}
END_TEST

/*
 * A client with a deadline of one day stalls in a write whose data would be received directly into
 * the object. The next request waits only until the end of the lease.
 */
START_TEST(late_data_ends_with_the_lease)
{
	static struct stalled s;
	uint64_t size;

	ck_assert_int_eq(iodc_claim(&mgr, 1), 0);
	/* afterwards the object has mapped windows */
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(iodc_lease(&mgr, LEASE_MS), 0);
		ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 1 << 20), 0);
	}
	ck_assert_int_eq(iodc_lease(&mgr, LEASE_MS), 0);
	stall(&s, &addr, 1, 86400000);
	usleep(LEASE_MS * 1000);
	client.timeout_ms = 60000;
	ck_assert_int_eq(iodc_size(&client, 1, &size), 0);
	ck_assert_uint_eq(size, 1 << 20);
	ck_assert_uint_eq(atomic_load(&late), 1);
	iodc_close(&s.c);
}
END_TEST

static void add_memory(Suite *s)
{
	char probe[64];
	TCase *tc;

	if (!iodc_mkdir_memory(probe)) {
		fprintf(stderr, "no tmpfs at /dev/shm: not looked at\n");
		return;
	}
	iodc_rmdir(probe);
	tc = tcase_create("in memory");
	tcase_add_checked_fixture(tc, setup_memory, teardown);
	tcase_set_timeout(tc, 90);
	tcase_add_test(tc, late_data_ends_with_the_lease);
	suite_add_tcase(s, tc);
}

int main(void)
{
	Suite *s = suite_create("iod_lease");
	TCase *tc = tcase_create("lease");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, nobody_is_served_before);
	tcase_add_test(tc, a_lease_that_has_passed);
	tcase_add_test(tc, a_fence_while_it_waits);
	tcase_add_test(tc, an_old_manager);
	tcase_add_test(tc, a_fence_on_a_bad_disk);
	suite_add_tcase(s, tc);
	add_memory(s);
	return run_suite(s);
}
