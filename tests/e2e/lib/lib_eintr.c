/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_eintr.c - a signal interrupts a wait for a lock, or the wait continues with SA_RESTART.
 *
 * usage: lib_eintr FILE
 *
 * Another process holds the lock that the test waits for. It gets orders through a pipe.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/quiet_fork.h"
#include <pvfs.h>

#define RACES 40

struct other {
	pid_t pid;
	int to, from;
};

static volatile sig_atomic_t handled;
static int let_go_at; /* the lock is released in this handler call */
static int let_go_fd;

/* ---- the kinds of locks ---- */

enum { FLOCK, POSIX, OFD, KINDS };

static int lock(int fd, int kind, short type, bool wait)
{
	static const int how[] = {
		[F_RDLCK] = LOCK_SH, [F_WRLCK] = LOCK_EX, [F_UNLCK] = LOCK_UN
	};
	struct flock lk = { .l_type = type, .l_start = 10, .l_len = 10 };

	if (kind == FLOCK)
		return pvfs_flock(fd, how[type] | (wait ? 0 : LOCK_NB));
	if (kind == POSIX)
		return pvfs_fcntl(fd, wait ? F_SETLKW : F_SETLK, &lk);
	return pvfs_fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lk);
}

/* ---- the other process: reads one letter, writes one letter ---- */

static char obey(int fd, int kind, char order)
{
	switch (order) {
	case 'x':
		EXPECT(lock(fd, kind, F_WRLCK, true) == 0);
		return 'x';
	case 's':
		EXPECT(lock(fd, kind, F_RDLCK, true) == 0);
		return 's';
	case 'u':
		EXPECT(lock(fd, kind, F_UNLCK, false) == 0);
		return 'u';
	}
	if (lock(fd, kind, F_WRLCK, false) == 0) {
		EXPECT(lock(fd, kind, F_UNLCK, false) == 0);
		return 'y';
	}
	EXPECT(errno == EAGAIN || errno == EACCES);
	return 'n';
}

static void other_main(const char *path, int kind, int in, int out)
{
	int fd = pvfs_open(path, O_RDWR);
	char byte;

	EXPECT(fd >= 0);
	while (read(in, &byte, 1) == 1) {
		byte = obey(fd, kind, byte);
		EXPECT(write(out, &byte, 1) == 1);
	}
	/*
	 * skips the leak check, which may wait for a lock that a thread of the parent held at
	 * fork()
	 */
	_exit(0);
}

static struct other begin(const char *path, int kind)
{
	int to[2], from[2];
	struct other o;

	EXPECT(pipe(to) == 0 && pipe(from) == 0);
	o.pid = quiet_fork();
	if (o.pid == 0) {
		close(to[1]);
		other_main(path, kind, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	o.to = to[1];
	o.from = from[0];
	return o;
}

static void order(const struct other *o, char letter)
{
	EXPECT(write(o->to, &letter, 1) == 1);
}

static char answer(const struct other *o)
{
	ssize_t n;
	char byte;

	do
		n = read(o->from, &byte, 1);
	while (n < 0 && errno == EINTR);
	EXPECT(n == 1);
	return byte;
}

static char tell(const struct other *o, char letter)
{
	order(o, letter);
	return answer(o);
}

static void end(struct other *o)
{
	int status;

	close(o->to);
	EXPECT(waitpid(o->pid, &status, 0) == o->pid && status == 0);
	close(o->from);
}

/* ---- signals ---- */

static void handler(int sig)
{
	if (++handled == let_go_at && write(let_go_fd, "u", 1) != 1)
		abort();
}

static void signals(int flags, unsigned int us)
{
	const struct sigaction act = { .sa_handler = handler,
				       .sa_flags = flags };
	const struct itimerval timer = { { 0, us }, { 0, us } };

	EXPECT(sigaction(SIGALRM, &act, NULL) == 0);
	handled = 0;
	EXPECT(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void no_signals(void)
{
	const struct itimerval off = { 0 };

	EXPECT(setitimer(ITIMER_REAL, &off, NULL) == 0);
	let_go_at = 0;
}

/* ---- the tests ---- */

/* The interrupted call takes no lock, not even later. */
static void interrupted(const char *path, int kind)
{
	int fd = pvfs_open(path, O_RDWR);
	struct other o = begin(path, kind);

	EXPECT(fd >= 0 && tell(&o, 'x') == 'x');
	signals(0, 50000);
	EXPECT_ERRNO(lock(fd, kind, F_WRLCK, true), EINTR);
	no_signals();
	EXPECT(handled > 0);
	EXPECT(tell(&o, 'u') == 'u');
	EXPECT(tell(&o, 't') == 'y');
	EXPECT(lock(fd, kind, F_WRLCK, true) == 0);
	EXPECT(tell(&o, 't') == 'n');
	end(&o);
	EXPECT(pvfs_close(fd) == 0);
}

/* The lock is released only after some handlers have run, and the call gets it. */
static void restarted(const char *path, int kind)
{
	int fd = pvfs_open(path, O_RDWR);
	struct other o = begin(path, kind);

	EXPECT(fd >= 0 && tell(&o, 'x') == 'x');
	let_go_fd = o.to;
	let_go_at = 5;
	signals(SA_RESTART, 20000);
	EXPECT(lock(fd, kind, F_WRLCK, true) == 0);
	no_signals();
	EXPECT(handled >= 5 && answer(&o) == 'u');
	EXPECT(tell(&o, 't') == 'n');
	end(&o);
	EXPECT(pvfs_close(fd) == 0);
}

/*
 * Locks that were held before the interrupted call are still held. This does not hold for flock(),
 * which first releases the old lock.
 */
static void kept(const char *path, int kind)
{
	int fd = pvfs_open(path, O_RDWR);
	struct other o = begin(path, kind);

	EXPECT(fd >= 0 && lock(fd, kind, F_RDLCK, true) == 0);
	EXPECT(tell(&o, 's') == 's');
	signals(0, 50000);
	EXPECT_ERRNO(lock(fd, kind, F_WRLCK, true), EINTR);
	no_signals();
	EXPECT(tell(&o, 'u') == 'u');
	EXPECT(tell(&o, 't') == 'n');
	end(&o);
	EXPECT(pvfs_close(fd) == 0);
}

/* The lock is released at the moment of the signal.  Whether it is taken must match the result. */
static void raced(const char *path, int kind)
{
	int fd = pvfs_open(path, O_RDWR), rc;
	struct other o = begin(path, kind);

	for (int i = 0; i < RACES; i++) {
		EXPECT(tell(&o, 'x') == 'x');
		let_go_fd = o.to;
		let_go_at = 1;
		signals(0, 1000 + i % 7 * 500);
		rc = lock(fd, kind, F_WRLCK, true);
		EXPECT(rc == 0 || errno == EINTR);
		while (!handled)
			pause();
		no_signals();
		EXPECT(answer(&o) == 'u');
		EXPECT(tell(&o, 't') == (rc ? 'y' : 'n'));
		EXPECT(lock(fd, kind, F_UNLCK, false) == 0);
	}
	end(&o);
	EXPECT(pvfs_close(fd) == 0);
}

int main(int argc, char **argv)
{
	int fd, kind;

	EXPECT(argc == 2);
	fd = pvfs_open(argv[1], O_RDWR | O_CREAT, 0644);
	EXPECT(fd >= 0 && pvfs_close(fd) == 0);
	for (kind = 0; kind < KINDS; kind++) {
		interrupted(argv[1], kind);
		restarted(argv[1], kind);
		if (kind != FLOCK)
			kept(argv[1], kind);
		raced(argv[1], kind);
	}
	puts("ok");
	return 0;
}
