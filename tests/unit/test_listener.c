/* SPDX-License-Identifier: BSD-2-Clause */
/* test_listener.c - requests are served whatever the thread of an earlier request does. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

#include "client/fuse/threads/listener.h"
#include "client/lib/file/fs.h"
#include "client/lib/session/coroutine.h"
#include "common/util/watched_descriptor.h"
#include "tests/run_suite.h"

/* What a request does before it counts as done. */
enum request {
	AT_ONCE,
	LEAVES, /* its thread announces that it will wait, and waits for go */
	WAITS, /* waits without an announcement */
	SHARES, /* announces that it takes long */
	ASIDE, /* waits, without a thread if possible */
};

struct asked {
	struct fuse_in_header hdr;
	enum request what;
};

static int kernel[2]; /* our end, and that of the listener */
static sem_t begun, go, done;
static atomic_bool over;
static pthread_t thread;

/* ---- libfuse ---- */

int fuse_session_fd(struct fuse_session *se)
{
	return kernel[1];
}

int fuse_session_exited(struct fuse_session *se)
{
	return over;
}

int fuse_session_receive_buf(struct fuse_session *se, struct fuse_buf *buf)
{
	ssize_t n;

	if (!buf->mem)
		buf->mem = malloc(64);
	n = recv(kernel[1], buf->mem, 64, 0);
	if (!n)
		over = true;
	if (n > 0)
		buf->size = (size_t)n;
	return n < 0 ? -errno : (int)n;
}

static int wait_to_go(void *arg)
{
	while (sem_wait(&go))
		;
	return 0;
}

void fuse_session_process_buf(struct fuse_session *se,
			      const struct fuse_buf *buf)
{
	const struct asked *r = buf->mem;

	sem_post(&begun);
	if (r->what == LEAVES)
		watched_descriptor_hand_over();
	if (r->what == SHARES)
		listener_hand_over();
	if (r->what == ASIDE)
		coroutine_aside(wait_to_go, NULL);
	else if (r->what != AT_ONCE)
		wait_to_go(NULL);
	sem_post(&done);
}

/* ---- the tests ---- */

static void *run(void *arg)
{
	static struct fs fs;
	unsigned int *threads = arg;

	ck_assert_int_eq(listener_run(NULL, &fs, *threads), 0);
	return NULL;
}

static void start(unsigned int *threads)
{
	over = false;
	sem_init(&begun, 0, 0);
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	ck_assert(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, kernel));
	ck_assert(!pthread_create(&thread, NULL, run, threads));
}

static void ask_for(uint32_t opcode, uint32_t pid, enum request what)
{
	struct asked r = { .hdr = { .opcode = opcode, .pid = pid },
			   .what = what };

	ck_assert_int_eq(send(kernel[0], &r, sizeof(r), 0), sizeof(r));
}

static void ask(enum request what)
{
	ask_for(0, 0, what);
}

/* A program looks a name up. */
static void ask_name(enum request what)
{
	ask_for(FUSE_LOOKUP, 1, what);
}

/* Stops the listener as an umount does. */
static void stop(void)
{
	close(kernel[0]);
	pthread_join(thread, NULL);
	close(kernel[1]);
}

static void wait_for(sem_t *sem, unsigned int n)
{
	while (n--)
		while (sem_wait(sem))
			;
}

START_TEST(one_after_the_other)
{
	unsigned int threads = 1 + (unsigned int)_i, i;

	start(&threads);
	for (i = 0; i < 1000; i++)
		ask(AT_ONCE);
	wait_for(&done, 1000);
	stop();
}
END_TEST

/* Other requests are served while one waits, with or without an announcement. */
START_TEST(others_meanwhile)
{
	static const enum request waiting[] = { LEAVES, WAITS };
	unsigned int threads = 4, i;

	start(&threads);
	for (i = 0; i < 3; i++) {
		ask(waiting[_i]);
		wait_for(&begun, 1);
		ask(AT_ONCE);
		wait_for(&done, 1);
	}
	for (i = 0; i < 3; i++)
		sem_post(&go);
	wait_for(&done, 3);
	stop();
}
END_TEST

/* Requests that arrived before a long one are served at the same time. */
START_TEST(shares)
{
	unsigned int threads = 2;

	start(&threads);
	ask(WAITS);
	ask(SHARES);
	ask(AT_ONCE);
	sem_post(&go);
	wait_for(&done, 2);
	sem_post(&go);
	wait_for(&done, 1);
	stop();
}
END_TEST

/* At most so many run at a time; then the next one starts. */
START_TEST(so_many)
{
	unsigned int threads = 3;
	int n;

	start(&threads);
	for (unsigned int i = 0; i < 4; i++)
		ask(LEAVES);
	wait_for(&begun, 3);
	ck_assert(!sem_getvalue(&begun, &n) && !n);
	sem_post(&go);
	wait_for(&begun, 1);
	for (unsigned int i = 0; i < 3; i++)
		sem_post(&go);
	wait_for(&done, 4);
	stop();
}
END_TEST

/* One program sends as many requests as there are processors. */
static void crowd(void)
{
	cpu_set_t set;
	int cpu = 0;

	ck_assert(!sched_getaffinity(0, sizeof(set), &set));
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	ck_assert(!sched_setaffinity(0, sizeof(set), &set));
}

/* There is one thread, and it serves requests while another one waits. */
START_TEST(without_a_thread)
{
	unsigned int threads = 1;

	crowd();
	start(&threads);
	ask_name(ASIDE);
	wait_for(&begun, 1);
	ask_name(AT_ONCE);
	wait_for(&begun, 1);
	wait_for(&done, 1);
	sem_post(&go);
	wait_for(&done, 1);
	stop();
}
END_TEST

/* Requests above the limit have threads; then the next one starts. */
START_TEST(so_many_without_a_thread)
{
	unsigned int threads = 3, i;
	int n;

	crowd();
	start(&threads);
	for (i = 0; i < 7; i++)
		ask_name(ASIDE);
	wait_for(&begun, 6);
	ck_assert(!sem_getvalue(&begun, &n) && !n);
	for (i = 0; i < 6; i++)
		sem_post(&go);
	wait_for(&begun, 1);
	sem_post(&go);
	wait_for(&done, 7);
	stop();
}
END_TEST

/* Running requests complete before the listener ends. */
START_TEST(ends_behind_them)
{
	unsigned int threads = 3, i;
	int n;

	crowd();
	start(&threads);
	for (i = 0; i < 3; i++)
		ask_name(ASIDE);
	wait_for(&begun, 3);
	close(kernel[0]);
	for (i = 0; i < 3; i++)
		sem_post(&go);
	pthread_join(thread, NULL);
	ck_assert(!sem_getvalue(&done, &n));
	ck_assert_int_eq(n, 3);
	close(kernel[1]);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("listen");
	Suite *s = suite_create("listener");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, one_after_the_other, 0, 2);
	tcase_add_loop_test(tc, others_meanwhile, 0, 2);
	tcase_add_test(tc, shares);
	tcase_add_test(tc, so_many);
	tcase_add_test(tc, without_a_thread);
	tcase_add_test(tc, so_many_without_a_thread);
	tcase_add_test(tc, ends_behind_them);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
