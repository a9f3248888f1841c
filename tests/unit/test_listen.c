/* SPDX-License-Identifier: BSD-2-Clause */
/* test_listen.c - requests are heard whatever the thread does that heard the last. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "listen.h"
#include "lookout.h"
#include "run_suite.h"

/* What a request does, before it counts as done. */
enum request {
	AT_ONCE,
	LEAVES, /* its thread says that it will wait, and waits for go */
	WAITS, /* without a word */
	SHARES, /* says that it takes long */
};

static int kernel[2]; /* ours, the listener's */
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
	return n < 0 ? -errno : (int)n;
}

void fuse_session_process_buf(struct fuse_session *se,
			      const struct fuse_buf *buf)
{
	const enum request *what = buf->mem;

	sem_post(&begun);
	if (*what == LEAVES)
		lookout_leave();
	if (*what == SHARES)
		listen_share();
	if (*what != AT_ONCE)
		sem_wait(&go);
	sem_post(&done);
}

/* ---- the tests ---- */

static void *run(void *arg)
{
	struct fsd d = { .se = NULL };
	unsigned int *threads = arg;

	ck_assert_int_eq(listen_run(&d, *threads), 0);
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

static void ask(enum request what)
{
	ck_assert_int_eq(send(kernel[0], &what, sizeof(what), 0), sizeof(what));
}

/* As at an umount. */
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

/* Others are heard while one waits, whether it said so or not. */
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

/* What came before a long one is heard beside it. */
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

/* Not more than that many at a time; then the next. */
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

int main(void)
{
	TCase *tc = tcase_create("listen");
	Suite *s = suite_create("listen");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, one_after_the_other, 0, 2);
	tcase_add_loop_test(tc, others_meanwhile, 0, 2);
	tcase_add_test(tc, shares);
	tcase_add_test(tc, so_many);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
