/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod_late.c - the client has given up requests that the disk or the iod's own thread delays. Later
 * requests see the late change as made. The iod no longer touches memory that belongs to the client
 * again.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "server/iod.h"
#include "tests/e2e/iod/iodc.h"
#include "tests/run_suite.h"

#define LEN 131072u /* too long to be sent in a message */
/* a sent request has arrived by then; otherwise the test checks less */
#define SOON_US 50000

/* Objects. */
enum { HELD_UP = 1, WANTED, STANDS_STILL, OTHER };

static char dir[64];
static struct iod *iod;
static struct addr addr;
static struct iodc late, next, third, mgr;

/*
 * The next write waits in its system call, on a thread of the pool. The next read waits on the
 * iod's own thread, which serves nothing then.
 */
static atomic_bool hold_write, hold_read;
static sem_t inside, go_write, go_read;

static void hold(atomic_bool *on, sem_t *go)
{
	if (!atomic_exchange(on, false))
		return;
	sem_post(&inside);
	while (sem_wait(go))
		;
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t off)
{
	hold(&hold_write, &go_write);
	return syscall(SYS_pwrite64, fd, buf, len, off);
}

ssize_t preadv2(int fd, const struct iovec *iov, int n, off_t off, int flags)
{
	hold(&hold_read, &go_read);
	return syscall(SYS_preadv2, fd, iov, n, off, 0, flags);
}

static void wait_inside(void)
{
	while (sem_wait(&inside))
		;
}

static void setup(void)
{
	struct iod_conf conf;

	iodc_mkdir(dir);
	sem_init(&inside, 0, 0);
	sem_init(&go_write, 0, 0);
	sem_init(&go_read, 0, 0);
	iod_conf_defaults(&conf);
	conf.fsid = IODC_FSID;
	conf.threads = 1;
	conf.zones.n = 1; /* exactly one buffer */
	conf.zones.zone[0] = (struct zone_size){ LEN, 1 };
	ck_assert_int_eq(addr_parse("tcp://127.0.0.1:0", 0, &conf.addr), 0);
	strcpy(conf.storage, dir);
	strcpy(conf.mgr_from, "127.0.0.1");
	ck_assert_int_eq(iod_start(&conf, NULL, NULL, &iod), 0);
	iod_addr(iod, &addr);
	iodc_open_mgr(&mgr, &addr);
	iodc_open(&late, &addr, WIRE_ROLE_CLIENT, 0);
	iodc_open(&next, &addr, WIRE_ROLE_CLIENT, 0);
	iodc_open(&third, &addr, WIRE_ROLE_CLIENT, 0);
}

static void teardown(void)
{
	iodc_close(&third);
	iodc_close(&next);
	iodc_close(&late);
	iodc_close(&mgr);
	iod_stop(iod);
	iodc_rmdir(dir);
	sem_destroy(&inside);
	sem_destroy(&go_write);
	sem_destroy(&go_read);
}

static void write_of(struct iodc *c, uint64_t handle, char what, uint32_t len)
{
	memset(c->arena, what, len);
	must(!iodc_pwrite(c, handle, 0, len));
}

static char byte_of(struct iodc *c, uint64_t handle)
{
	uint64_t done;

	c->arena[0] = 0;
	must(!iodc_pread(c, handle, 0, 100, &done));
	return (char)c->arena[0];
}

/* ---- requests that follow a late change ---- */

static void *reads(void *arg)
{
	*(int *)arg = byte_of(&next, HELD_UP) == 'b' ? 0 : -1;
	return NULL;
}

static void *writes(void *arg)
{
	write_of(&next, HELD_UP, 'c', 200);
	*(int *)arg = 0;
	return NULL;
}

static void *asks(void *arg)
{
	uint64_t size = 0;

	must(!iodc_size(&next, HELD_UP, &size));
	*(int *)arg = size == 200 ? 0 : -1;
	return NULL;
}

static void *cuts(void *arg)
{
	must(!iodc_resize(&mgr, HELD_UP, 50));
	*(int *)arg = 0;
	return NULL;
}

static const struct {
	void *(*run)(void *arg);
	char is; /* the first byte afterwards */
	uint64_t size;
} behind[] = {
	{ reads, 'b', 200 },
	{ writes, 'c', 200 },
	{ asks, 'b', 200 },
	{ cuts, 'b', 50 },
};

START_TEST(who_comes_behind_finds_it_made)
{
	pthread_t thread;
	uint64_t size;
	int rc = 1;

	write_of(&late, HELD_UP, 'a', 100);
	atomic_store(&hold_write, true);
	late.timeout_ms = 200;
	memset(late.arena, 'b', 200);
	ck_assert_int_eq(iodc_pwrite(&late, HELD_UP, 0, 200), -ETIMEDOUT);
	wait_inside();
	pthread_create(&thread, NULL, behind[_i].run, &rc);
	usleep(SOON_US);
	sem_post(&go_write);
	pthread_join(thread, NULL);
	ck_assert_int_eq(rc, 0);
	ck_assert_int_eq(byte_of(&third, HELD_UP), behind[_i].is);
	ck_assert_int_eq(iodc_size(&third, HELD_UP, &size), 0);
	ck_assert_uint_eq(size, behind[_i].size);
}
END_TEST

/* ---- a buffer that comes too late ---- */

static void *fill_held_up(void *arg)
{
	write_of(&third, HELD_UP, 'h', LEN);
	return NULL;
}

static void *read_wanted(void *arg)
{
	uint64_t done;

	late.timeout_ms = 300;
	*(int *)arg = iodc_pread(&late, WANTED, 0, LEN, &done);
	return NULL;
}

static void *stand_still(void *arg)
{
	must(byte_of(&next, STANDS_STILL) == 's');
	return NULL;
}

/* Gets the only buffer, after all other requests that could get it. */
static void read_elsewhere(void)
{
	struct wire_region reg = { 0, htole64(LEN) };
	struct iodc_mem mem = { 1 << 20, LEN };
	struct iodc_io io = { .handle = OTHER,
			      .reg = &reg,
			      .nreg = 1,
			      .mem = &mem,
			      .nmem = 1,
			      .total = LEN };

	late.timeout_ms = 20000;
	ck_assert_int_eq(iodc_read(&late, &io), 0);
	ck_assert_int_eq(late.arena[1 << 20], 'o');
}

START_TEST(a_buffer_that_comes_too_late)
{
	pthread_t held_up, wanted, still;
	int rc = 1;

	write_of(&late, WANTED, 'w', LEN);
	write_of(&late, STANDS_STILL, 's', 100);
	write_of(&late, OTHER, 'o', LEN);
	atomic_store(&hold_write, true);
	pthread_create(&held_up, NULL, fill_held_up, NULL);
	wait_inside();
	pthread_create(&wanted, NULL, read_wanted, &rc);
	usleep(SOON_US);
	atomic_store(&hold_read, true);
	pthread_create(&still, NULL, stand_still, NULL);
	wait_inside();
	pthread_join(wanted, NULL);
	ck_assert_int_eq(rc, -ETIMEDOUT);
	/* after the failed call, the memory belongs to the client again */
	memset(late.arena, 'm', LEN);
	sem_post(&go_write);
	usleep(SOON_US);
	sem_post(&go_read);
	pthread_join(held_up, NULL);
	pthread_join(still, NULL);
	read_elsewhere();
	for (unsigned int i = 0; i < LEN; i++)
		ck_assert_int_eq(late.arena[i], 'm');
}
END_TEST

int main(void)
{
	Suite *s = suite_create("iod_late");
	TCase *tc = tcase_create("late");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, who_comes_behind_finds_it_made, 0,
			    (int)(sizeof(behind) / sizeof(behind[0])));
	tcase_add_test(tc, a_buffer_that_comes_too_late);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
