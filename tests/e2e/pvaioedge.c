/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvaioedge.c - edge cases of POSIX's asynchronous calls: rejected requests, the order of appends,
 * and waits that end early.
 *
 * 	pvaioedge FILE		creates FILE and runs the tests that need no stopped server
 * 	pvaioedge FILE still	prints "ready"; after a line on stdin, a request does not end,
 * 				because a server is stopped: waits end early; prints "waited"
 * 	pvaioedge FILE end	the same, but the program exits while threads wait
 * 	pvaioedge FILE OTHER	the same, but closes FILE and opens OTHER with the same number;
 * 				OTHER must not get data for FILE
 *
 * With a second argument, FILE must exist.
 */
#include <aio.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"

#define N 500u
#define LEN 100u

static struct aiocb cb[N];
static unsigned char buf[N][LEN];
static int fd;

static struct aiocb *prepare(unsigned int i, int op)
{
	memset(&cb[i], 0, sizeof(cb[i]));
	cb[i].aio_fildes = fd;
	cb[i].aio_lio_opcode = op;
	cb[i].aio_buf = buf[i];
	cb[i].aio_nbytes = LEN;
	cb[i].aio_offset = (off_t)(i * LEN);
	cb[i].aio_sigevent.sigev_notify = SIGEV_NONE;
	return &cb[i];
}

static ssize_t end_of(struct aiocb *one)
{
	const struct aiocb *const list[] = { one };
	int error;

	while ((error = aio_error(one)) == EINPROGRESS)
		aio_suspend(list, 1, NULL);
	errno = error;
	return aio_return(one);
}

/* ---- rejected requests ---- */

static void single(void)
{
	struct aiocb *one = prepare(0, LIO_NOP);

	one->aio_reqprio = -1;
	EXPECT_ERRNO(aio_write(one), EINVAL);
	one->aio_reqprio = (int)sysconf(_SC_AIO_PRIO_DELTA_MAX) + 1;
	EXPECT_ERRNO(aio_read(one), EINVAL);
	one->aio_reqprio--;
	EXPECT(aio_write(one) == 0 && end_of(one) == LEN);
	EXPECT(aio_write(one) == 0);
	EXPECT_ERRNO(aio_cancel(STDERR_FILENO, one), EINVAL);
	EXPECT_ERRNO(aio_cancel(1000000, one), EBADF);
	EXPECT(end_of(one) == LEN);
}

/* One of three requests is invalid; the other two are executed. */
static void among_others(void)
{
	struct aiocb *list[3];
	unsigned int i;

	for (i = 0; i < 3; i++)
		list[i] = prepare(i, LIO_WRITE);
	list[1]->aio_lio_opcode = 77;
	EXPECT_ERRNO(lio_listio(LIO_WAIT, list, 3, NULL), EIO);
	EXPECT(aio_error(list[1]) == EINVAL);
	EXPECT(end_of(list[0]) == LEN && end_of(list[2]) == LEN);
	for (i = 0; i < 3; i++)
		prepare(i, LIO_WRITE);
	list[1]->aio_reqprio = -1;
	EXPECT_ERRNO(lio_listio(LIO_WAIT, list, 3, NULL), EIO);
	EXPECT(aio_error(list[1]) == EINVAL);
	EXPECT(end_of(list[0]) == LEN && end_of(list[2]) == LEN);
}

/* ---- appends ---- */

/*
 * The number belonged to another file and was closed. So libc executes some of the first requests,
 * because the library does not yet know the new file.
 */
static void appended(const char *path)
{
	unsigned int i;
	int kept = fd;

	fd = open(path, O_RDONLY);
	EXPECT(close(fd) == 0);
	EXPECT(pread(fd, buf[0], 1, 0) < 0);
	fd = open(path, O_WRONLY | O_APPEND | O_TRUNC);
	for (i = 0; i < N; i++) {
		fill(buf[i], LEN, 1, i * LEN);
		EXPECT(aio_write(prepare(i, LIO_NOP)) == 0);
	}
	for (i = 0; i < N; i++)
		EXPECT(end_of(&cb[i]) == LEN);
	close(fd);
	fd = kept;
	EXPECT(pread(fd, buf, sizeof(buf), 0) == sizeof(buf));
	EXPECT(filled(buf[0], sizeof(buf), 1, 0));
}

/* ---- waits that end early ---- */

static atomic_bool over;
static pthread_t waiter;

static void on_signal(int signo)
{
}

static void *disturb(void *arg)
{
	while (!atomic_load(&over)) {
		usleep(20000);
		pthread_kill(waiter, SIGUSR1);
	}
	return NULL;
}

static void *suspended(void *arg)
{
	const struct aiocb *const list[] = { &cb[0] };

	for (;;)
		aio_suspend(list, 1, NULL);
	return NULL;
}

static void cancelled(void)
{
	pthread_t thread;

	EXPECT(!pthread_create(&thread, NULL, suspended, NULL));
	usleep(100000);
	EXPECT(!pthread_cancel(thread) && !pthread_join(thread, NULL));
	EXPECT(aio_error(&cb[0]) == EINPROGRESS);
}

static void interrupted(void)
{
	const struct sigaction act = { .sa_handler = on_signal };
	const struct aiocb *const list[] = { &cb[0] };
	struct aiocb *one = prepare(1, LIO_WRITE);
	pthread_t thread;

	waiter = pthread_self();
	EXPECT(!sigaction(SIGUSR1, &act, NULL));
	EXPECT(!pthread_create(&thread, NULL, disturb, NULL));
	EXPECT_ERRNO(aio_suspend(list, 1, NULL), EINTR);
	EXPECT_ERRNO(lio_listio(LIO_WAIT, &one, 1, NULL), EINTR);
	atomic_store(&over, true);
	EXPECT(!pthread_join(thread, NULL));
}

static void still(const char *path)
{
	const struct timespec moment = { .tv_nsec = 50000000 };
	const struct aiocb *const list[] = { &cb[0] };
	char line[8];

	fd = open(path, O_RDWR);
	EXPECT(fd >= 0 && pwrite(fd, "x", 1, 0) == 1);
	puts("ready");
	EXPECT(fflush(stdout) == 0 && fgets(line, sizeof(line), stdin));
	EXPECT(aio_write(prepare(0, LIO_NOP)) == 0);
	EXPECT_ERRNO(aio_suspend(list, 1, &moment), EAGAIN);
	cancelled();
	interrupted();
	EXPECT(aio_error(&cb[0]) == EINPROGRESS);
	puts("waited");
	EXPECT(fflush(stdout) == 0);
	EXPECT(end_of(&cb[0]) == LEN && end_of(&cb[1]) == LEN);
}

/* ---- the program exits while its threads wait for a request ---- */

#define WAITERS 32

static void *wait_for_end(void *arg)
{
	return (void *)(intptr_t)end_of(&cb[0]);
}

static void ended(const char *path)
{
	pthread_t thread;
	char line[8];

	fd = open(path, O_RDWR);
	EXPECT(fd >= 0 && pwrite(fd, "x", 1, 0) == 1);
	puts("ready");
	EXPECT(fflush(stdout) == 0 && fgets(line, sizeof(line), stdin));
	EXPECT(aio_write(prepare(0, LIO_NOP)) == 0);
	for (int i = 0; i < WAITERS; i++)
		EXPECT(!pthread_create(&thread, NULL, wait_for_end, NULL));
	usleep(200000);
	EXPECT(aio_error(&cb[0]) == EINPROGRESS);
	puts("waited");
	EXPECT(fflush(stdout) == 0);
}

/* ---- another file gets the number before all requests have begun ---- */

/*
 * When the requests are executed, the file size limit forbids a part of each, so the kernel must
 * execute them.
 */
static void reused(const char *path, const char *other)
{
	const struct rlimit limit = { 950 + LEN / 2, RLIM_INFINITY };
	char line[8];
	unsigned int i;

	fd = open(path, O_RDWR);
	EXPECT(fd >= 0 && pwrite(fd, "x", 1, 0) == 1);
	puts("ready");
	EXPECT(fflush(stdout) == 0 && fgets(line, sizeof(line), stdin));
	for (i = 0; i < N; i++) {
		prepare(i, LIO_NOP)->aio_offset = 950;
		EXPECT(aio_write(&cb[i]) == 0);
	}
	EXPECT(close(fd) == 0);
	EXPECT(open(other, O_RDWR | O_CREAT | O_TRUNC, 0644) == fd);
	EXPECT(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	EXPECT(!setrlimit(RLIMIT_FSIZE, &limit));
	puts("waited");
	EXPECT(fflush(stdout) == 0);
	for (i = 0; i < N; i++)
		EXPECT(end_of(&cb[i]) == LEN || errno == EBADF);
	EXPECT(lseek(fd, 0, SEEK_END) == 0);
}

int main(int argc, char **argv)
{
	EXPECT(argc >= 2);
	if (argc > 2 && !strcmp(argv[2], "end")) {
		ended(argv[1]);
	} else if (argc > 2 && strcmp(argv[2], "still") != 0) {
		reused(argv[1], argv[2]);
	} else if (argc > 2) {
		still(argv[1]);
	} else {
		fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
		EXPECT(fd >= 0 && write(fd, "x", 1) == 1);
		single();
		among_others();
		appended(argv[1]);
	}
	puts("ok");
	return 0;
}
