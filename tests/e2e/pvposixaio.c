/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvposixaio.c - POSIX's asynchronous calls on a file: each call, each kind of notification, and
 * many requests at a time.
 *
 * 	pvposixaio FILE [fork]
 * 	pvposixaio FILE order	submits a sync between two writes, to stripes 1 and 0 of an
 * 				existing file; prints "ready", and "later" when the second
 * 				write has ended; after each it waits for a line
 */
#include <aio.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"

#define N 500u
#define LEN 3000u

static struct aiocb cb[N];
static unsigned char buf[N][LEN];
static atomic_uint told;
static int fd;

static void prepare(unsigned int i, int op, size_t len)
{
	memset(&cb[i], 0, sizeof(cb[i]));
	cb[i].aio_fildes = fd;
	cb[i].aio_lio_opcode = op;
	cb[i].aio_buf = buf[i];
	cb[i].aio_nbytes = len;
	cb[i].aio_offset = (off_t)(i * LEN);
	cb[i].aio_sigevent.sigev_notify = SIGEV_NONE;
}

static ssize_t end_of(struct aiocb *one)
{
	const struct aiocb *const list[] = { one };
	int error;

	while ((error = aio_error(one)) == EINPROGRESS)
		EXPECT(aio_suspend(list, 1, NULL) == 0);
	errno = error;
	return aio_return(one);
}

static void fill_all(unsigned int seed)
{
	for (unsigned int i = 0; i < N; i++)
		fill(buf[i], LEN, seed, i * LEN);
}

static void expect_all(unsigned int seed)
{
	for (unsigned int i = 0; i < N; i++) {
		EXPECT(end_of(&cb[i]) == LEN);
		EXPECT(filled(buf[i], LEN, seed, i * LEN));
	}
}

/* ---- one request at a time ---- */

static void singly(void)
{
	unsigned int i;

	fill_all(1);
	for (i = 0; i < N; i++) {
		prepare(i, LIO_NOP, LEN);
		EXPECT(aio_write(&cb[i]) == 0);
	}
	expect_all(1);
	memset(buf, 0, sizeof(buf));
	for (i = 0; i < N; i++) {
		prepare(i, LIO_NOP, LEN);
		EXPECT(aio_read(&cb[i]) == 0);
	}
	expect_all(1);
}

static void ends_and_errors(void)
{
	int ro;

	prepare(0, LIO_NOP, LEN);
	cb[0].aio_offset = (off_t)(N * LEN) - 10;
	EXPECT(aio_read(&cb[0]) == 0 && end_of(&cb[0]) == 10);
	cb[0].aio_offset += 100;
	EXPECT(aio_read(&cb[0]) == 0 && end_of(&cb[0]) == 0);
	prepare(0, LIO_NOP, 100);
	ro = fd;
	fd = open("/dev/null", O_RDONLY);
	cb[0].aio_fildes = fd;
	EXPECT(aio_write(&cb[0]) == 0);
	EXPECT_ERRNO(end_of(&cb[0]), EBADF);
	close(fd);
	fd = ro;
	EXPECT(aio_cancel(fd, NULL) == AIO_ALLDONE);
}

/* A sync runs after all requests that began before it. */
static void synced(void)
{
	struct aiocb sync = { .aio_fildes = fd };
	unsigned int i;

	sync.aio_sigevent.sigev_notify = SIGEV_NONE;
	fill_all(2);
	for (i = 0; i < N; i++) {
		prepare(i, LIO_NOP, LEN);
		EXPECT(aio_write(&cb[i]) == 0);
	}
	EXPECT(aio_fsync(O_SYNC, &sync) == 0);
	EXPECT(end_of(&sync) == 0);
	for (i = 0; i < N; i++)
		EXPECT(aio_error(&cb[i]) == 0 && aio_return(&cb[i]) == LEN);
	EXPECT(aio_fsync(O_DSYNC, &sync) == 0 && end_of(&sync) == 0);
	EXPECT_ERRNO(aio_fsync(77, &sync), EINVAL);
}

/* ---- notifications ---- */

static void on_signal(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)context;
	if (info->si_code == SI_ASYNCIO && info->si_value.sival_int == 42)
		atomic_fetch_add(&told, 1);
}

/* This thread gets signals, like a notification thread of libc. */
static void in_thread(union sigval value)
{
	sigset_t blocked;

	EXPECT(!pthread_sigmask(SIG_SETMASK, NULL, &blocked));
	EXPECT(!sigismember(&blocked, SIGTERM));
	atomic_fetch_add(&told, (unsigned int)value.sival_int);
}

static void until_told(unsigned int n)
{
	while (atomic_load(&told) < n)
		usleep(1000);
	EXPECT(atomic_load(&told) == n);
}

static void notified(void)
{
	struct sigaction act = { .sa_sigaction = on_signal,
				 .sa_flags = SA_SIGINFO | SA_RESTART };
	unsigned int i;

	EXPECT(sigaction(SIGRTMIN, &act, NULL) == 0);
	atomic_store(&told, 0);
	for (i = 0; i < 20; i++) {
		prepare(i, LIO_NOP, LEN);
		cb[i].aio_sigevent.sigev_notify = SIGEV_SIGNAL;
		cb[i].aio_sigevent.sigev_signo = SIGRTMIN;
		cb[i].aio_sigevent.sigev_value.sival_int = 42;
		EXPECT(aio_read(&cb[i]) == 0);
	}
	until_told(20);
	atomic_store(&told, 0);
	for (i = 0; i < 20; i++) {
		prepare(i, LIO_NOP, LEN);
		cb[i].aio_sigevent.sigev_notify = SIGEV_THREAD;
		cb[i].aio_sigevent.sigev_notify_function = in_thread;
		cb[i].aio_sigevent.sigev_value.sival_int = 2;
		EXPECT(aio_read(&cb[i]) == 0);
	}
	until_told(40);
	for (i = 0; i < 20; i++)
		EXPECT(aio_error(&cb[i]) == 0 && aio_return(&cb[i]) == LEN);
}

/* ---- lists ---- */

static void listed(int mode, struct sigevent *how)
{
	struct aiocb *list[N + 2] = { NULL };
	struct aiocb nop = { .aio_lio_opcode = LIO_NOP }, zero;
	char c[8];
	unsigned int i;

	zero = (struct aiocb){ .aio_fildes = open("/dev/zero", O_RDONLY),
			       .aio_lio_opcode = LIO_READ,
			       .aio_buf = c,
			       .aio_nbytes = 8 };
	zero.aio_sigevent.sigev_notify = SIGEV_NONE;
	list[0] = &nop;
	list[N + 1] = &zero; /* an element that is not a file of the mount */
	for (i = 0; i < N; i++) {
		prepare(i, i % 2 ? LIO_READ : LIO_WRITE, LEN);
		list[i + 1] = &cb[i];
	}
	EXPECT(lio_listio(mode, list, N + 2, how) == 0);
	if (mode == LIO_NOWAIT && how)
		until_told(7);
	for (i = 0; i < N; i++)
		EXPECT((mode == LIO_NOWAIT && !how) || aio_error(&cb[i]) == 0);
	expect_all(2);
	EXPECT(end_of(&zero) == 8);
	close(zero.aio_fildes);
}

static void lists(void)
{
	struct sigevent how = { .sigev_notify = SIGEV_THREAD,
				.sigev_notify_function = in_thread,
				.sigev_value = { .sival_int = 7 } };
	struct aiocb *bad[] = { &cb[0] };

	listed(LIO_WAIT, NULL);
	listed(LIO_NOWAIT, NULL);
	atomic_store(&told, 0);
	listed(LIO_NOWAIT, &how);
	prepare(0, LIO_WRITE, 1);
	cb[0].aio_fildes = open("/dev/zero", O_RDONLY);
	EXPECT_ERRNO(lio_listio(LIO_WAIT, bad, 1, NULL), EIO);
	close(cb[0].aio_fildes);
	EXPECT_ERRNO(lio_listio(99, bad, 1, NULL), EINVAL);
}

/* ---- waits with a time limit, and cancellation ---- */

/* A cancelled write was not executed; every other one was. */
static void taken_back(void)
{
	unsigned int i, back = 0;
	int rc;

	fill_all(3);
	for (i = 0; i < N; i++) {
		prepare(i, LIO_NOP, LEN);
		EXPECT(aio_write(&cb[i]) == 0);
	}
	rc = aio_cancel(fd, NULL);
	EXPECT(rc == AIO_CANCELED || rc == AIO_NOTCANCELED ||
	       rc == AIO_ALLDONE);
	for (i = 0; i < N; i++) {
		ssize_t n = end_of(&cb[i]);
		unsigned char now[LEN];

		EXPECT(n == LEN || (n == -1 && errno == ECANCELED));
		EXPECT(pread(fd, now, LEN, (off_t)(i * LEN)) == LEN);
		EXPECT(filled(now, LEN, n == LEN ? 3 : 2, i * LEN));
		back += n != LEN;
	}
	EXPECT(!back || rc != AIO_ALLDONE);
}

static void appended(const char *path)
{
	int kept = fd;
	off_t before = lseek(fd, 0, SEEK_END);
	unsigned int i;

	fd = open(path, O_WRONLY | O_APPEND);
	for (i = 0; i < 50; i++) {
		prepare(i, LIO_NOP, 10);
		cb[i].aio_offset = 0;
		EXPECT(aio_write(&cb[i]) == 0);
	}
	for (i = 0; i < 50; i++)
		EXPECT(end_of(&cb[i]) == 10);
	close(fd);
	fd = kept;
	EXPECT(lseek(fd, 0, SEEK_END) == before + 500);
}

/*
 * A child has no requests of its parent, and can make its own. With libc's implementation it
 * cannot, so this test runs only with the argument "fork".
 */
static void forked(void)
{
	unsigned int i;
	int status;
	pid_t pid;

	for (i = 0; i < 100; i++) {
		prepare(i, LIO_NOP, LEN);
		EXPECT(aio_read(&cb[i]) == 0);
	}
	pid = fork();
	if (!pid) {
		prepare(200, LIO_NOP, LEN);
		EXPECT(aio_read(&cb[200]) == 0 && end_of(&cb[200]) == LEN);
		_exit(0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	for (i = 0; i < 100; i++)
		EXPECT(end_of(&cb[i]) == LEN);
}

/* ---- a sync runs after the requests before it, whatever began later ---- */

static void say_and_wait(const char *word)
{
	char line[8];

	puts(word);
	EXPECT(fflush(stdout) == 0 && fgets(line, sizeof(line), stdin));
}

static void ordered(const char *path)
{
	struct aiocb sync = { 0 };
	char c;

	fd = open(path, O_RDWR);
	EXPECT(fd >= 0 && pwrite(fd, "x", 1, 0) == 1);
	sync.aio_fildes = fd;
	sync.aio_sigevent.sigev_notify = SIGEV_NONE;
	say_and_wait("ready");
	prepare(0, LIO_NOP, LEN);
	cb[0].aio_offset = 65536;
	prepare(1, LIO_NOP, LEN);
	cb[1].aio_offset = 0;
	EXPECT(aio_write(&cb[0]) == 0);
	EXPECT(aio_fsync(O_SYNC, &sync) == 0);
	EXPECT(aio_write(&cb[1]) == 0);
	EXPECT(end_of(&cb[1]) == LEN);
	EXPECT(pread(fd, &c, 1, 0) == 1);
	EXPECT(aio_error(&cb[0]) == EINPROGRESS);
	say_and_wait("later");
	EXPECT(end_of(&sync) == 0);
	EXPECT(aio_error(&cb[0]) == 0 && aio_return(&cb[0]) == LEN);
	puts("ok");
	exit(0);
}

int main(int argc, char **argv)
{
	EXPECT(argc >= 2);
	if (argc > 2 && !strcmp(argv[2], "order"))
		ordered(argv[1]);
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
	EXPECT(fd >= 0 && write(fd, "x", 1) == 1);
	singly();
	ends_and_errors();
	synced();
	notified();
	lists();
	taken_back();
	appended(argv[1]);
	if (argc > 2)
		forked();
	close(fd);
	puts("ok");
	return 0;
}
