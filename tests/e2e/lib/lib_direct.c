/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_direct.c - transfers without a request have the right results, and are used when they should
 * be.
 *
 * 	lib_direct DIR ways MODE	the transfers that need no request: all, read (reads),
 * 					some (some reads) or none
 * 	lib_direct DIR while PID...	stops these servers: transfers continue
 * 	lib_direct DIR restart KILL	runs the command KILL, which restarts iods
 * 	lib_direct DIR threads		many threads of two processes use one file
 * 	lib_direct DIR closed FOLDER	the program closes the library's descriptors, which it
 * 					does not know, and opens files in FOLDER
 */
#include <fcntl.h>
#include <pthread.h>
#include <pvfs.h>
#include <pvfs_aio.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/quiet_fork.h"

#define LEN (3 << 20)
#define SMALL 5000
#define CALLS 400

static const char *dir;
static char model[LEN];

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int open_it(const char *name, int flags)
{
	int fd = pvfs_open(path_of(name), flags | O_CREAT, 0644);

	EXPECT(fd >= 0);
	return fd;
}

static unsigned int next(unsigned int *x)
{
	return (*x = *x * 1103515245u + 12345u) >> 8;
}

static uint64_t without(int fd)
{
	struct pvfs_way_counters w;

	EXPECT(!pvfs_way_counters(fd, &w));
	return w.without;
}

static void begin(int fd)
{
	for (int i = 0; i < LEN; i++)
		model[i] = (char)(i * 7 + i / 4099);
	EXPECT(pvfs_pwrite(fd, model, LEN, 0) == LEN);
}

static void read_some(int fd, unsigned int *x)
{
	char buf[SMALL];
	size_t len = 1 + next(x) % SMALL, off = next(x) % (LEN - SMALL);

	EXPECT(pvfs_pread(fd, buf, len, (off_t)off) == (ssize_t)len);
	EXPECT(!memcmp(buf, model + off, len));
}

static void write_some(int fd, unsigned int *x)
{
	size_t len = 1 + next(x) % SMALL, off = next(x) % (LEN - SMALL);

	for (size_t i = 0; i < len; i++)
		model[off + i] = (char)next(x);
	EXPECT(pvfs_pwrite(fd, model + off, len, (off_t)off) == (ssize_t)len);
}

static void whole(int fd)
{
	char *buf = malloc(LEN);

	EXPECT(pvfs_pread(fd, buf, LEN, 0) == LEN);
	EXPECT(!memcmp(buf, model, LEN));
	free(buf);
}

/* ---- which transfers need a request ---- */

static void ways(const char *mode)
{
	int fd = open_it("ways", O_RDWR | O_TRUNC);
	uint64_t reads, writes;
	unsigned int x = 1;

	begin(fd);
	for (int i = 0; i < CALLS; i++)
		read_some(fd, &x);
	reads = without(fd);
	if (!strcmp(mode, "none"))
		EXPECT(reads == 0);
	else
		EXPECT(reads > (strcmp(mode, "some") ? CALLS / 2 : 0));
	for (int i = 0; i < CALLS; i++)
		write_some(fd, &x);
	writes = without(fd) - reads;
	EXPECT(strcmp(mode, "all") ? writes == 0 : writes > CALLS / 2);
	for (int i = 0; i < CALLS; i++)
		read_some(fd, &x);
	whole(fd);
	EXPECT(!pvfs_close(fd));
}

/* The results at the end of the file, and with unmapped memory, are those of requests. */
static void edges(void)
{
	int fd = open_it("edges", O_RDWR | O_TRUNC);
	char buf[100];
	off_t far = 1 << 20;

	for (int i = 0; i < 20; i++) {
		memset(buf, 'x', sizeof(buf));
		EXPECT(!pvfs_ftruncate(fd, 0));
		EXPECT(pvfs_pwrite(fd, "0123456789", 10, 0) == 10);
		EXPECT(pvfs_pread(fd, buf, 100, 5) == 5);
		EXPECT(!memcmp(buf, "56789xxx", 8));
		EXPECT(pvfs_pread(fd, buf, 100, 10) == 0);
		EXPECT(pvfs_pwrite(fd, "y", 1, far + i) == 1);
		EXPECT(pvfs_pread(fd, buf, 100, far - 50) == 51 + i);
		EXPECT(buf[49] == 0 && buf[50 + i] == 'y');
		EXPECT_ERRNO(pvfs_pread(fd, (void *)8, 10, 0), EFAULT);
		EXPECT_ERRNO(pvfs_pwrite(fd, (void *)8, 10, 0), EFAULT);
	}
	for (off_t end = 0; end < 20; end++) {
		EXPECT(!pvfs_ftruncate(fd, end * 50000));
		EXPECT(pvfs_lseek(fd, 0, SEEK_END) == end * 50000);
	}
	EXPECT(!pvfs_ftruncate(fd, 3));
	EXPECT(pvfs_pread(fd, buf, 100, 0) == 3);
	EXPECT(pvfs_lseek(fd, 0, SEEK_END) == 3);
	EXPECT(!pvfs_close(fd));
}

#define APART 512

/* Moves n separate pieces of 8 bytes and checks them.  Returns whether some needed no request. */
static bool list_goes(int fd, bool write, int n)
{
	static char buf[APART * 8];
	static char *at[APART];
	static size_t len[APART];
	static int64_t off[APART], flen[APART];
	uint64_t before = without(fd);

	for (int i = 0; i < n; i++) {
		at[i] = buf + (size_t)i * 8;
		len[i] = 8;
		off[i] = (int64_t)i * 1000;
		flen[i] = 8;
		memcpy(at[i], write ? "written" : "nothing", 8);
	}
	EXPECT((write ? pvfs_write_list64 : pvfs_read_list64)(
		       fd, n, at, len, NULL, NULL, n, off, flen) == n * 8);
	for (int i = 0; i < n; i++)
		EXPECT(!memcmp(at[i], "written", 8));
	return without(fd) > before;
}

/* A list of many pieces is sent as one request; a list of few pieces needs no request. */
static void lists(void)
{
	int fd = open_it("lists", O_RDWR | O_TRUNC);

	begin(fd);
	for (int i = 0; i < 8; i++)
		list_goes(fd, true, 8);
	EXPECT(list_goes(fd, true, 256) && !list_goes(fd, true, 257));
	EXPECT(list_goes(fd, true, 8) && !list_goes(fd, true, APART));
	EXPECT(list_goes(fd, false, 40) && !list_goes(fd, false, 41));
	EXPECT(list_goes(fd, false, 8) && !list_goes(fd, false, APART));
	EXPECT(!pvfs_close(fd));
}

static void limit_to(rlim_t most)
{
	struct rlimit limit;

	EXPECT(!getrlimit(RLIMIT_FSIZE, &limit));
	limit.rlim_cur = most;
	EXPECT(!setrlimit(RLIMIT_FSIZE, &limit));
}

/* The file size limit of the process does not apply to borrowed objects. */
static void limited(void)
{
	int fd = open_it("limited", O_RDWR | O_TRUNC);
	unsigned int x = 9;

	begin(fd);
	limit_to(4096);
	for (int i = 0; i < 100; i++)
		write_some(fd, &x);
	limit_to(RLIM_INFINITY);
	whole(fd);
	EXPECT(!pvfs_close(fd));
}

static void write_under_limit(bool ignored)
{
	int fd = open_it("later", O_RDWR | O_TRUNC);
	unsigned int x = 9;

	if (ignored)
		signal(SIGXFSZ, SIG_IGN);
	begin(fd);
	for (int i = 0; i < 100; i++)
		write_some(fd, &x);
	limit_to(4096);
	for (int i = 0; i < 100; i++)
		write_some(fd, &x);
	whole(fd);
	EXPECT(!pvfs_close(fd));
	_exit(0);
}

/* If the limit is lowered later, it applies to borrowed objects, as to any file (docs/posix.md). */
static void limited_later(bool lent)
{
	struct rlimit none = { 0 };
	int status;

	for (int ignored = 0; ignored <= 1; ignored++) {
		pid_t pid = quiet_fork();

		if (!pid) {
			EXPECT(!setrlimit(RLIMIT_CORE, &none));
			write_under_limit(ignored);
		}
		EXPECT(waitpid(pid, &status, 0) == pid);
		if (lent && !ignored)
			EXPECT(WIFSIGNALED(status) &&
			       WTERMSIG(status) == SIGXFSZ);
		else
			EXPECT(status == 0);
	}
}

/* A child does not inherit the borrowed objects, and its parent keeps them. */
static void children(void)
{
	int fd = open_it("children", O_RDWR | O_TRUNC), status;
	unsigned int x = 5;
	uint64_t before;
	pid_t pid;

	begin(fd);
	for (int i = 0; i < 50; i++)
		read_some(fd, &x);
	pid = quiet_fork();
	if (!pid) {
		for (int i = 0; i < 50; i++)
			write_some(fd, &x);
		whole(fd);
		_exit(0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	before = without(fd);
	EXPECT(pvfs_pread(fd, model, LEN, 0) == LEN);
	for (int i = 0; i < 50; i++)
		read_some(fd, &x);
	EXPECT(without(fd) > before);
	EXPECT(!pvfs_close(fd));
}

/* ---- servers that stand still ---- */

/* A client learns the new end of the file without the servers, too. */
static void grow(int fd, off_t at)
{
	EXPECT(pvfs_pwrite(fd, "z", 1, at) == 1);
	EXPECT(pvfs_lseek(fd, 0, SEEK_END) == at + 1);
}

static void while_they_stand(char **pid)
{
	int fd = open_it("still", O_RDWR | O_TRUNC);
	unsigned int x = 2;

	begin(fd);
	for (int i = 0; i < 50; i++)
		EXPECT(pvfs_lseek(fd, 0, SEEK_END) == LEN);
	for (int i = 0; i < CALLS; i++) {
		read_some(fd, &x);
		write_some(fd, &x);
	}
	for (char **p = pid; *p; p++)
		EXPECT(!kill(atoi(*p), SIGSTOP));
	for (int i = 0; i < CALLS; i++) {
		read_some(fd, &x);
		write_some(fd, &x);
		grow(fd, LEN + i * 1000);
	}
	for (char **p = pid; *p; p++)
		EXPECT(!kill(atoi(*p), SIGCONT));
	EXPECT(!pvfs_ftruncate(fd, LEN));
	EXPECT(pvfs_lseek(fd, 0, SEEK_END) == LEN);
	whole(fd);
	EXPECT(!pvfs_close(fd));
}

struct reaper {
	struct pvfs_aio_queue *q;
	struct pvfs_aio *ended;
};

static void *reap(void *arg)
{
	struct reaper *r = arg;

	EXPECT(pvfs_aio_wait(r->q, &r->ended, 1, 1, -1) == 1);
	return NULL;
}

static void all_of(char **pid, int sig)
{
	for (; *pid; pid++)
		EXPECT(!kill(atoi(*pid), sig));
}

/*
 * A request waits to borrow an object, and another thread completes it. The errno of that thread
 * stays.
 */
static void elsewhere(char **pid)
{
	int fd = open_it("elsewhere", O_RDWR | O_TRUNC), is;
	struct pvfs_aio aio = { 0 }, *list = &aio;
	struct reaper r = { 0 };
	char buf[100];
	pthread_t t;

	begin(fd);
	for (int i = 0; i < 3; i++)
		EXPECT(pvfs_pread(fd, buf, sizeof(buf), 0) == sizeof(buf));
	EXPECT(!pvfs_aio_queue_new(0, &r.q));
	pvfs_aio_prep_read(&aio, fd, buf, sizeof(buf), 0);
	all_of(pid, SIGSTOP);
	errno = EPERM;
	EXPECT(!pvfs_aio_submit(r.q, &list, 1));
	errno = EXDEV;
	EXPECT(!pthread_create(&t, NULL, reap, &r));
	all_of(pid, SIGCONT);
	EXPECT(!pthread_join(t, NULL));
	is = errno;
	EXPECT(is == EXDEV);
	EXPECT(r.ended == &aio && aio.result == sizeof(buf));
	EXPECT(without(fd) > 0);
	pvfs_aio_queue_free(r.q);
	EXPECT(!pvfs_close(fd));
}

/* ---- servers that are restarted ---- */

static void over_restart(const char *command)
{
	int fd = open_it("restart", O_RDWR | O_TRUNC);
	unsigned int x = 3;

	begin(fd);
	for (int i = 0; i < CALLS; i++) {
		read_some(fd, &x);
		write_some(fd, &x);
	}
	EXPECT(!system(command));
	for (int i = 0; i < CALLS; i++) {
		write_some(fd, &x);
		read_some(fd, &x);
	}
	whole(fd);
	EXPECT(!pvfs_close(fd));
}

/* ---- descriptors that are gone ---- */

#define OWN 64

static int own_file(const char *folder, int i)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/own.%d", folder, i);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	EXPECT(fd >= 0);
	return fd;
}

/* Later writes change no foreign file: they fail, or use other descriptors. */
static void closed(const char *folder)
{
	int fd = open_it("closed", O_RDWR | O_TRUNC), own[OWN];
	unsigned int x = 4;

	begin(fd);
	for (int i = 0; i < 50; i++)
		write_some(fd, &x);
	EXPECT(without(fd) > 0);
	for (int i = 3; i < 256; i++)
		close(i);
	for (int i = 0; i < OWN; i++)
		own[i] = own_file(folder, i);
	for (int i = 0; i < 3; i++)
		pvfs_pwrite(fd, model, SMALL, i * 70000);
	for (int i = 0; i < OWN; i++)
		EXPECT(lseek(own[i], 0, SEEK_END) == 0);
	puts("ok");
	fflush(stdout);
	_exit(0);
}

/* ---- many ---- */

#define THREADS 6
#define ROUNDS 300
#define CELL 3000 /* a cell may cross a stripe, and so iods */

struct worker {
	int fd, number, rounds;
};

/* Each thread writes its own cell of each row, and reads whole rows. */
static void *work(void *arg)
{
	const struct worker *w = arg;
	char cell[CELL], row[CELL * THREADS];
	int i, k;

	for (i = 0; i < w->rounds; i++) {
		off_t at = (off_t)(i % 50) * (off_t)sizeof(row);

		memset(cell, 'a' + w->number, sizeof(cell));
		EXPECT(pvfs_pwrite(w->fd, cell, CELL, at + w->number * CELL) ==
		       CELL);
		EXPECT(pvfs_pread(w->fd, row, sizeof(row), at) >=
		       (w->number + 1) * CELL);
		for (k = 0; k < CELL; k++)
			EXPECT(row[w->number * CELL + k] == 'a' + w->number);
	}
	return NULL;
}

static void threads(int first, int n)
{
	int fd = open_it("threads", O_RDWR);
	struct worker w[THREADS];
	pthread_t t[THREADS];

	for (int i = first; i < first + n; i++) {
		w[i] = (struct worker){ fd, i, ROUNDS };
		EXPECT(!pthread_create(&t[i], NULL, work, &w[i]));
	}
	for (int i = first; i < first + n; i++)
		EXPECT(!pthread_join(t[i], NULL));
	EXPECT(without(fd) > 0);
	EXPECT(!pvfs_close(fd));
}

/* The child is forked first, because the library has threads later. */
static void two_processes(void)
{
	static char zeros[50 * CELL * THREADS];
	int go[2], fd, status;
	char c;
	pid_t pid;

	EXPECT(!pipe(go));
	pid = quiet_fork();
	if (!pid) {
		EXPECT(read(go[0], &c, 1) == 1);
		threads(0, THREADS / 2);
		exit(0);
	}
	fd = open_it("threads", O_RDWR | O_TRUNC);
	EXPECT(pvfs_pwrite(fd, zeros, sizeof(zeros), 0) == sizeof(zeros));
	EXPECT(!pvfs_close(fd));
	EXPECT(write(go[1], "", 1) == 1);
	threads(THREADS / 2, THREADS - THREADS / 2);
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(int argc, char **argv)
{
	dir = argv[1];
	if (!strcmp(argv[2], "ways")) {
		ways(argv[3]);
		edges();
		limited();
		limited_later(!strcmp(argv[3], "all"));
		if (!strcmp(argv[3], "all")) {
			children();
			lists();
		}
	} else if (!strcmp(argv[2], "while")) {
		while_they_stand(argv + 3);
		elsewhere(argv + 3);
	} else if (!strcmp(argv[2], "closed")) {
		closed(argv[3]);
	} else if (!strcmp(argv[2], "restart")) {
		over_restart(argv[3]);
	} else {
		two_processes();
	}
	puts("ok");
	return 0;
}
