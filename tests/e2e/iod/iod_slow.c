/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod_slow.c - the disk of an iod hangs for some objects. The iod still serves other objects and
 * other clients.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "tests/e2e/iod/iod_here.h"
#include "tests/e2e/iod/iodc.h"
#include "tests/run_suite.h"

#define CLIENTS 5u
#define EACH 4u /* objects of each client that hang */
#define HANGS 0x1000u /* objects from here on hang */

static char dir[64];
static struct iod *iod;
static struct addr addr;
static struct iodc client, mgr;
/* the next number: a removed handle is never used again */
static uint64_t handles;

/* Interposed system calls of the iod. */
static atomic_bool slow_flush, slow_write, slow_open;
static sem_t entered, go;

static bool is_object(const char *name, size_t len)
{
	return len >= 16 && strtoull(name + len - 16, NULL, 16) >= HANGS;
}

static bool is_slow(int fd)
{
	char path[64], name[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, name, sizeof(name) - 1);
	if (n < 0)
		return false;
	name[n] = '\0';
	return is_object(name, (size_t)n);
}

static void wait_to_go(void)
{
	sem_post(&entered);
	while (sem_wait(&go))
		;
}

static void hang(const atomic_bool *on, int fd)
{
	if (atomic_load(on) && is_slow(fd))
		wait_to_go();
}

int openat(int dir_fd, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	if (atomic_load(&slow_open) && is_object(path, strlen(path)))
		wait_to_go();
	return (int)syscall(SYS_openat, dir_fd, path, flags, mode);
}

int fdatasync(int fd)
{
	hang(&slow_flush, fd);
	return (int)syscall(SYS_fdatasync, fd);
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t off)
{
	hang(&slow_write, fd);
	return syscall(SYS_pwrite64, fd, buf, len, off);
}

int fstatat(int dir_fd, const char *path, struct stat *st, int flags)
{
	if (atomic_load(&slow_open) && is_object(path, strlen(path)))
		wait_to_go();
	return (int)syscall(SYS_newfstatat, dir_fd, path, st, flags);
}

static void setup(void)
{
	struct iod_conf conf;

	iodc_mkdir(dir);
	handles = 0;
	sem_init(&entered, 0, 0);
	sem_init(&go, 0, 0);
	iod_here_conf(&conf, dir);
	conf.new_store = true;
	conf.threads = 1;
	iod_here_start(&conf, NULL, &iod, &addr);
	iodc_open_mgr(&mgr, &addr);
	iodc_open(&client, &addr, WIRE_ROLE_CLIENT, 0);
}

static void teardown(void)
{
	iodc_close(&client);
	iodc_close(&mgr);
	iod_stop(iod);
	iodc_rmdir(dir);
	sem_destroy(&entered);
	sem_destroy(&go);
}

/* A client with a thread of its own and EACH objects. */
struct hung {
	struct iodc c;
	uint64_t handle; /* the first object */
	void (*run)(struct hung *h);
	bool fenced; /* is set if the session is evicted during the call */
	pthread_t thread;
};

static void *hung_main(void *arg)
{
	struct hung *h = arg;

	h->run(h);
	return NULL;
}

static int ask_all(struct hung *h, unsigned int op)
{
	struct wire_objects body = { .n = htole32(EACH) };
	struct iodc_item item;
	le64 handle[EACH];

	for (unsigned int i = 0; i < EACH; i++)
		handle[i] = htole64(h->handle + i);
	item = (struct iodc_item){ handle, sizeof(handle) };
	return iodc_call(&h->c, op, &body, sizeof(body), &item, 1);
}

static void hung_sync(struct hung *h)
{
	int rc = ask_all(h, WIRE_SYNC);

	must(!rc || h->fenced);
}

static void hung_getsize(struct hung *h)
{
	must(!ask_all(h, WIRE_GETSIZE));
	must(h->c.tail_len == EACH * sizeof(struct wire_objsize));
}

static void hung_write(struct hung *h)
{
	must(!iodc_pwrite(&h->c, h->handle, 100, 100));
}

static void start_all(struct hung *h, void (*run)(struct hung *h))
{
	for (unsigned int i = 0; i < CLIENTS; i++, h++) {
		h->handle = HANGS + i * EACH;
		h->run = run;
		iodc_open(&h->c, &addr, WIRE_ROLE_CLIENT, 0);
		h->c.timeout_ms = 60000;
		for (unsigned int k = 0; k < EACH; k++)
			must(!iodc_pwrite(&h->c, h->handle + k, 0, 100));
	}
}

static void wait_hung(unsigned int n)
{
	while (n)
		if (!sem_wait(&entered))
			n--;
}

static void hang_all(struct hung *h, atomic_bool *on)
{
	atomic_store(on, true);
	for (unsigned int i = 0; i < CLIENTS; i++)
		must(!pthread_create(&h[i].thread, NULL, hung_main, &h[i]));
}

static void let_go(struct hung *h, atomic_bool *on, unsigned int n)
{
	atomic_store(on, false);
	while (n--)
		sem_post(&go);
	for (unsigned int i = 0; i < CLIENTS; i++) {
		pthread_join(h[i].thread, NULL);
		iodc_close(&h[i].c);
	}
}

/* All operations of a client and of the manager succeed on other objects. */
static void all_goes_on(void)
{
	uint64_t done, size, next = handles;
	uint32_t len;

	handles += 10;
	for (uint64_t h = next + 1; h < next + 10; h++) {
		len = h % 2 ? 100 : 300000;
		memset(client.arena, (int)h, len);
		ck_assert_int_eq(iodc_pwrite(&client, h, 0, len), 0);
		ck_assert_int_eq(iodc_sync(&client, h), 0);
		memset(client.arena, 0, len);
		ck_assert_int_eq(iodc_pread(&client, h, 0, len, &done), 0);
		ck_assert_uint_eq(done, len);
		ck_assert_int_eq(client.arena[len - 1], (uint8_t)h);
		ck_assert_int_eq(iodc_resize(&mgr, h, 50), 0);
		ck_assert_int_eq(iodc_size(&client, h, &size), 0);
		ck_assert_uint_eq(size, 50);
		ck_assert_int_eq(iodc_fence(&mgr, 0x77770000 + h), 0);
		ck_assert_int_eq(iodc_remove(&mgr, h), 0);
	}
}

START_TEST(slow_flushes_stop_nobody_else)
{
	struct hung *h = calloc(CLIENTS, sizeof(*h));

	ck_assert_ptr_nonnull(h);
	start_all(h, hung_sync);
	hang_all(h, &slow_flush);
	wait_hung(4);
	all_goes_on();
	wait_hung(CLIENTS * EACH - 4);
	all_goes_on();
	/* a fence does not wait for a flush, which changes nothing */
	h[0].fenced = true;
	ck_assert_int_eq(iodc_fence(&mgr, h[0].c.session), 0);
	let_go(h, &slow_flush, CLIENTS * EACH);
	free(h);
}
END_TEST

START_TEST(slow_writes_stop_nobody_else)
{
	struct hung *h = calloc(CLIENTS, sizeof(*h));

	ck_assert_ptr_nonnull(h);
	start_all(h, hung_write);
	hang_all(h, &slow_write);
	wait_hung(4);
	all_goes_on();
	let_go(h, &slow_write, CLIENTS);
	free(h);
}
END_TEST

/* The objects are not open, so the iod has to read their directories. */
START_TEST(slow_opens_stop_nobody_else)
{
	struct hung *h = calloc(CLIENTS, sizeof(*h));

	ck_assert_ptr_nonnull(h);
	for (unsigned int i = 0; i < CLIENTS; i++) {
		h[i].handle = HANGS + i * EACH;
		h[i].run = _i ? hung_sync : hung_getsize;
		iodc_open(&h[i].c, &addr, WIRE_ROLE_CLIENT, 0);
		h[i].c.timeout_ms = 60000;
	}
	hang_all(h, &slow_open);
	wait_hung(4);
	all_goes_on();
	let_go(h, &slow_open, CLIENTS * EACH);
	free(h);
}
END_TEST

/* A COPY in flight. */
struct copying {
	struct rpc_call call;
	uint64_t buf[64];
	bool over;
};

static void copied(struct rpc_call *call)
{
	must(!call->status);
	((struct copying *)call->arg)->over = true;
}

static void start_copy(struct iodc *c, struct copying *k, uint64_t handle)
{
	struct wire_copy body = { .handle = htole64(handle),
				  .from = htole64(1),
				  .len = htole64(100) };
	struct wire_out out;

	wire_begin(&out, k->buf, sizeof(k->buf));
	wire_put(&out, &body, sizeof(body));
	must(wire_end(&out, WIRE_COPY, 0, 0) > 0);
	k->over = false;
	k->call = (struct rpc_call){ .msg = k->buf,
				     .msg_len = out.len,
				     .deadline = clock_after_ms(60000),
				     .done = copied,
				     .arg = k };
	rpc_call_start(c->peer, &k->call);
}

static void wait_copies(struct iodc *c, struct copying *k)
{
	for (unsigned int i = 0; i < EACH; i++)
		while (!k[i].over)
			rpc_ctx_progress(c->ctx, clock_after_ms(100));
}

/* One session sends as many copies as the iod has buffers for copies. */
START_TEST(slow_copies_stop_nobody_else)
{
	static struct copying all[EACH];
	struct wire_copy body = { .handle = htole64(2),
				  .from = htole64(1),
				  .len = htole64(100) };
	struct iodc c;

	handles = 10;
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, 100), 0);
	iodc_open(&c, &addr, WIRE_ROLE_CLIENT, 0);
	atomic_store(&slow_write, true);
	ck_assert_int_eq(iodc_call(&c, WIRE_PING, NULL, 0, NULL, 0), 0);
	for (unsigned int i = 0; i < EACH; i++)
		start_copy(&c, &all[i], HANGS + i);
	rpc_ctx_progress(c.ctx, 0);
	wait_hung(2);
	ck_assert_int_eq(
		iodc_call(&client, WIRE_COPY, &body, sizeof(body), NULL, 0), 0);
	all_goes_on();
	atomic_store(&slow_write, false);
	for (unsigned int i = 0; i < EACH; i++)
		sem_post(&go);
	wait_copies(&c, all);
	iodc_close(&c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("iod_slow");
	TCase *tc = tcase_create("slow");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, slow_flushes_stop_nobody_else);
	tcase_add_loop_test(tc, slow_opens_stop_nobody_else, 0, 2);
	tcase_add_test(tc, slow_writes_stop_nobody_else);
	tcase_add_test(tc, slow_copies_stop_nobody_else);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
