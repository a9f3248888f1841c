/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_aio.c - asynchronous requests: each kind of request, thousands of requests at a time, and
 * each way to learn that requests have completed.
 *
 * usage: lib_aio DIR SEED
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/quiet_fork.h"
#include <pvfs_aio.h>

static const char *dir;

static char *path_of(const char *name)
{
	static _Thread_local char path[4][256];
	static _Thread_local unsigned int turn;
	char *p = path[turn++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static struct pvfs_aio_queue *queue_new(unsigned int flags)
{
	struct pvfs_aio_queue *q;

	EXPECT(pvfs_aio_queue_new(flags, &q) == 0);
	return q;
}

/* Runs one prepared request and returns its result. */
static int64_t do_one(struct pvfs_aio_queue *q, struct pvfs_aio *aio)
{
	struct pvfs_aio *ended = NULL;

	EXPECT(pvfs_aio_submit(q, &aio, 1) == 0);
	EXPECT(pvfs_aio_wait(q, &ended, 1, 1, -1) == 1);
	EXPECT(ended == aio);
	EXPECT((aio->result == -1) == (aio->error != 0));
	errno = aio->error;
	return aio->result;
}

/* ---- each kind ---- */

static void names(struct pvfs_aio_queue *q)
{
	struct pvfs_aio a = { 0 };
	struct stat st;
	int fd;

	pvfs_aio_prep_open(&a, path_of("f"), O_RDWR, 0);
	EXPECT_ERRNO(do_one(q, &a), ENOENT);
	pvfs_aio_prep_open(&a, path_of("f"), O_RDWR | O_META, 0);
	EXPECT_ERRNO(do_one(q, &a), EINVAL);
	pvfs_aio_prep_open(&a, path_of("f"), O_RDWR | O_CREAT, 0640);
	fd = (int)do_one(q, &a);
	EXPECT(fd >= 0);
	EXPECT(pvfs_symlink("f", path_of("l")) == 0);
	EXPECT(pvfs_pwrite(fd, "12345", 5, 0) == 5);
	pvfs_aio_prep_stat(&a, path_of("l"), &st);
	EXPECT(do_one(q, &a) == 0 && S_ISREG(st.st_mode) && st.st_size == 5);
	pvfs_aio_prep_lstat(&a, path_of("l"), &st);
	EXPECT(do_one(q, &a) == 0 && S_ISLNK(st.st_mode));
	pvfs_aio_prep_fstat(&a, fd, &st);
	EXPECT(do_one(q, &a) == 0 && (st.st_mode & 0777) == 0640);
	EXPECT(pvfs_close(fd) == 0);
	pvfs_aio_prep_fstat(&a, fd, &st);
	EXPECT_ERRNO(do_one(q, &a), EBADF);
}

static void data(struct pvfs_aio_queue *q)
{
	char in[10] = "abcdefghi", out[12] = "";
	struct iovec v[2] = { { out, 3 }, { out + 3, 9 } };
	int fd = pvfs_open(path_of("f"), O_RDWR | O_TRUNC);
	int ro = pvfs_open(path_of("f"), O_RDONLY);
	struct pvfs_aio a = { 0 };

	EXPECT(fd >= 0 && ro >= 0);
	pvfs_aio_prep_write(&a, fd, in, 9, 70000);
	EXPECT(do_one(q, &a) == 9);
	pvfs_aio_prep_fsync(&a, fd);
	EXPECT(do_one(q, &a) == 0);
	pvfs_aio_prep_readv(&a, ro, v, 2, 69999);
	EXPECT(do_one(q, &a) == 10 && !memcmp(out, "\0abcdefghi", 10));
	v[0].iov_base = in;
	pvfs_aio_prep_writev(&a, fd, v, 2, 0);
	EXPECT(do_one(q, &a) == 12);
	pvfs_aio_prep_read(&a, ro, out, 12, 70004);
	EXPECT(do_one(q, &a) == 5 && !memcmp(out, "efghi", 5));
	pvfs_aio_prep_read(&a, ro, out, 12, 80000);
	EXPECT(do_one(q, &a) == 0);
	pvfs_aio_prep_write(&a, ro, in, 1, 0);
	EXPECT_ERRNO(do_one(q, &a), EBADF);
	pvfs_aio_prep_read(&a, ro, out, 1, -1);
	EXPECT_ERRNO(do_one(q, &a), EINVAL);
	pvfs_aio_prep_read(&a, ro, (void *)16, 4000, 70000);
	EXPECT_ERRNO(do_one(q, &a), EFAULT);
	EXPECT(pvfs_close(fd) == 0 && pvfs_close(ro) == 0);
}

static void lists(struct pvfs_aio_queue *q)
{
	char in[6] = "uvwxyz", out[6] = "";
	char *const from[2] = { in, in + 3 }, *const to[1] = { out };
	const size_t len[2] = { 3, 3 }, all[1] = { 6 };
	const int64_t pos[2] = { 500000, 3 }, plen[2] = { 2, 4 };
	int fd = pvfs_open(path_of("f"), O_RDWR);
	struct pvfs_aio a = { 0 };

	pvfs_aio_prep_write_list(&a, fd, 2, from, len, NULL, NULL, 2, pos,
				 plen);
	EXPECT(do_one(q, &a) == 6);
	pvfs_aio_prep_read_list(&a, fd, 1, to, all, NULL, NULL, 2, pos, plen);
	EXPECT(do_one(q, &a) == 6 && !memcmp(out, in, 6));
	EXPECT(pvfs_pread(fd, out, 4, 3) == 4 && !memcmp(out, "wxyz", 4));
	EXPECT(pvfs_close(fd) == 0);
}

/* A request that waits for a lock completes when the other open file releases the lock. */
static void locks(struct pvfs_aio_queue *q)
{
	struct flock lk = { .l_type = F_WRLCK, .l_len = 10 }, own = lk;
	int a_fd = pvfs_open(path_of("f"), O_RDWR);
	int b_fd = pvfs_open(path_of("f"), O_RDWR);
	struct pvfs_aio a = { 0 }, *list = &a, *ended;

	EXPECT(pvfs_fcntl(a_fd, F_OFD_SETLK, &own) == 0);
	pvfs_aio_prep_lock(&a, b_fd, F_OFD_SETLK, &lk);
	EXPECT_ERRNO(do_one(q, &a), EAGAIN);
	pvfs_aio_prep_lock(&a, b_fd, F_OFD_SETLKW, &lk);
	EXPECT(pvfs_aio_submit(q, &list, 1) == 0);
	EXPECT(pvfs_aio_wait(q, &ended, 1, 1, 100) == 0);
	own.l_type = F_UNLCK;
	EXPECT(pvfs_fcntl(a_fd, F_OFD_SETLK, &own) == 0);
	EXPECT(pvfs_aio_wait(q, &ended, 1, 1, -1) == 1 && a.result == 0);
	lk.l_whence = SEEK_CUR;
	pvfs_aio_prep_lock(&a, b_fd, F_OFD_SETLK, &lk);
	EXPECT_ERRNO(do_one(q, &a), EINVAL);
	EXPECT(pvfs_close(a_fd) == 0 && pvfs_close(b_fd) == 0);
}

static void ordinary(struct pvfs_aio_queue *q)
{
	char out[8] = "";
	struct pvfs_aio a = { 0 };
	int p[2];

	EXPECT(pipe(p) == 0);
	pvfs_aio_prep_read(&a, p[0], out, 1, 0);
	EXPECT_ERRNO(do_one(q, &a), ESPIPE);
	close(p[0]);
	close(p[1]);
	pvfs_aio_prep_open(&a, "/proc/self/comm", O_RDONLY, 0);
	p[0] = (int)do_one(q, &a);
	pvfs_aio_prep_read(&a, p[0], out, 7, 0);
	EXPECT(do_one(q, &a) == 7 && !memcmp(out, "lib_aio", 7));
	close(p[0]);
}

/* ---- thousands at a time ---- */

#define MANY 3000u
#define MOST 3000u /* largest length of a request, bytes */

enum how { WAITED, POLLED, CALLED, TENDED };

struct many {
	struct pvfs_aio aio[MANY];
	struct pvfs_aio *list[MANY];
	unsigned char *buf;
	atomic_uint called;
};

static void count_it(struct pvfs_aio *aio)
{
	atomic_fetch_add((atomic_uint *)aio->data, 1);
}

static void by_poll(struct pvfs_aio_queue *q, unsigned int n)
{
	struct pollfd fd = { pvfs_aio_fd(q), POLLIN, 0 };
	struct pvfs_aio *ended[100];
	int got;

	while (n) {
		EXPECT(poll(&fd, 1, 60000) == 1);
		got = pvfs_aio_wait(q, ended, 100, 0, 0);
		EXPECT(got >= 0 && (unsigned int)got <= n);
		n -= (unsigned int)got;
	}
}

static void by_wait(struct pvfs_aio_queue *q, unsigned int n)
{
	struct pvfs_aio *ended[700];

	while (n) {
		unsigned int max = n < 700 ? n : 700;
		int got = pvfs_aio_wait(q, ended, max, max / 2 + 1, -1);

		EXPECT(got > (int)max / 2);
		n -= (unsigned int)got;
	}
	EXPECT(pvfs_aio_wait(q, ended, 1, 1, -1) == 0);
}

static void run_many(struct pvfs_aio_queue *q, struct many *m, enum how how)
{
	unsigned int i;

	atomic_store(&m->called, 0);
	for (i = 0; i < MANY; i++) {
		m->list[i] = &m->aio[i];
		m->aio[i].data = &m->called;
		m->aio[i].done = how >= CALLED ? count_it : NULL;
	}
	EXPECT(pvfs_aio_submit(q, m->list, MANY / 2) == 0);
	EXPECT(pvfs_aio_submit(q, m->list + MANY / 2, MANY - MANY / 2) == 0);
	if (how == POLLED)
		by_poll(q, MANY);
	else if (how == WAITED)
		by_wait(q, MANY);
	else if (how == CALLED)
		EXPECT(pvfs_aio_wait(q, NULL, 0, MANY, -1) == 0);
	while (how == TENDED && atomic_load(&m->called) < MANY)
		usleep(1000);
	EXPECT(atomic_load(&m->called) == (how >= CALLED ? MANY : 0));
}

static void thousands(enum how how, unsigned int seed)
{
	struct pvfs_aio_queue *q = queue_new(how == TENDED ? PVFS_AIO_TENDED
							   : 0);
	struct many *m = calloc(1, sizeof(*m));
	size_t len[MANY], at = 0, start[MANY];
	unsigned int i;
	int fd = pvfs_open(path_of("many"), O_RDWR | O_CREAT | O_TRUNC, 0644);

	srandom(seed);
	m->buf = malloc(MANY * MOST);
	for (i = 0; i < MANY; i++) {
		len[i] = 1 + (size_t)random() % MOST;
		start[i] = at;
		at += len[i];
		pvfs_aio_prep_write(&m->aio[i], fd, m->buf + start[i], len[i],
				    (int64_t)start[i]);
	}
	fill(m->buf, at, seed, 0);
	run_many(q, m, how);
	for (i = 0; i < MANY; i++)
		EXPECT(m->aio[i].result == (int64_t)len[i]);
	memset(m->buf, 0, at);
	for (i = 0; i < MANY; i++)
		pvfs_aio_prep_read(&m->aio[i], fd, m->buf + start[i], len[i],
				   (int64_t)start[i]);
	run_many(q, m, how);
	EXPECT(filled(m->buf, at, seed, 0));
	pvfs_aio_queue_free(q);
	EXPECT(pvfs_close(fd) == 0);
	free(m->buf);
	free(m);
}

/* ---- one by one, each begun by the end of the one before ---- */

struct chain {
	struct pvfs_aio_queue *q;
	struct pvfs_aio aio;
	int fd;
	unsigned char buf[5000];
	atomic_int step;
};

static void next_link(struct pvfs_aio *aio)
{
	struct chain *c = aio->data;
	int step = atomic_load(&c->step);

	EXPECT(aio->result == (int64_t)sizeof(c->buf));
	if (step == 99) {
		atomic_store(&c->step, 100);
		return;
	}
	fill(c->buf, sizeof(c->buf), (unsigned int)step, 0);
	pvfs_aio_prep_write(aio, c->fd, c->buf, sizeof(c->buf),
			    (int64_t)sizeof(c->buf) * step);
	atomic_store(&c->step, step + 1);
	EXPECT(pvfs_aio_submit(c->q, &aio, 1) == 0);
}

/* The main thread makes no PVFS call until all requests of the chain have completed. */
static void chained(const char *name)
{
	struct chain c = { .q = queue_new(PVFS_AIO_TENDED) };
	struct pvfs_aio *list = &c.aio;
	unsigned int i;

	c.fd = pvfs_open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
	c.aio.data = &c;
	c.aio.done = next_link;
	pvfs_aio_prep_write(&c.aio, c.fd, c.buf, sizeof(c.buf), 0);
	EXPECT(pvfs_aio_submit(c.q, &list, 1) == 0);
	while (atomic_load(&c.step) < 100)
		usleep(1000);
	for (i = 0; i < 99; i++) {
		EXPECT(pvfs_pread(c.fd, c.buf, sizeof(c.buf),
				  (int64_t)(sizeof(c.buf) * i)) ==
		       sizeof(c.buf));
		EXPECT(filled(c.buf, sizeof(c.buf), i, 0));
	}
	pvfs_aio_queue_free(c.q);
	EXPECT(pvfs_close(c.fd) == 0);
}

/* ---- together with blocking calls of other threads ---- */

static atomic_bool stop;

static void *block(void *arg)
{
	int fd = pvfs_open(path_of(arg), O_RDWR | O_CREAT, 0644);
	unsigned char buf[20000];
	unsigned int seed = 1;

	for (; !atomic_load(&stop); seed++) {
		fill(buf, sizeof(buf), seed, 0);
		EXPECT(pvfs_pwrite(fd, buf, sizeof(buf), 77) == sizeof(buf));
		memset(buf, 0, sizeof(buf));
		EXPECT(pvfs_pread(fd, buf, sizeof(buf), 77) == sizeof(buf));
		EXPECT(filled(buf, sizeof(buf), seed, 0));
	}
	EXPECT(pvfs_close(fd) == 0);
	return NULL;
}

static void beside_others(unsigned int seed)
{
	char *name[2] = { "beside.0", "beside.1" };
	pthread_t t[2];
	int i;

	atomic_store(&stop, false);
	for (i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, block, name[i]);
	for (i = WAITED; i <= TENDED; i++)
		thousands((enum how)i, seed + (unsigned int)i);
	atomic_store(&stop, true);
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

/* ---- appends ---- */

static void appended(void)
{
	struct pvfs_aio_queue *q = queue_new(0);
	int fd = pvfs_open(path_of("app"), O_RDWR | O_CREAT | O_APPEND, 0644);
	struct pvfs_aio *aio = calloc(500, sizeof(*aio)), *list[500];
	unsigned char rec[500][100], out[100];
	bool seen[500] = { false };
	unsigned int i;

	for (i = 0; i < 500; i++) {
		memset(rec[i], (int)i, 100);
		memcpy(rec[i], &i, sizeof(i));
		pvfs_aio_prep_write(&aio[i], fd, rec[i], 100, 0);
		list[i] = &aio[i];
	}
	EXPECT(pvfs_aio_submit(q, list, 500) == 0);
	EXPECT(pvfs_aio_wait(q, list, 500, 500, -1) == 500);
	EXPECT(pvfs_lseek(fd, 0, SEEK_END) == 500 * 100);
	while (pvfs_pread(fd, out, 100, (int64_t)(500 - i) * 100) == 100) {
		unsigned int k;

		memcpy(&k, out, sizeof(k));
		EXPECT(k < 500 && !seen[k] && !memcmp(out, rec[k], 100));
		seen[k] = true;
		i--;
	}
	EXPECT(i == 0);
	pvfs_aio_queue_free(q);
	free(aio);
	EXPECT(pvfs_close(fd) == 0);
}

/* ---- taking back, closing, forking ---- */

static void taken_back(void)
{
	struct pvfs_aio_queue *q = queue_new(0);
	struct many *m = calloc(1, sizeof(*m));
	int fd = pvfs_open(path_of("f"), O_RDWR);
	unsigned int i, n = 2 * PVFS_AIO_DEPTH;
	struct pvfs_aio *last = &m->aio[n - 1], *ended[2 * PVFS_AIO_DEPTH];
	char buf[8];

	for (i = 0; i < n; i++) {
		m->list[i] = &m->aio[i];
		pvfs_aio_prep_read(&m->aio[i], fd, buf, 8, 0);
	}
	EXPECT(pvfs_aio_submit(q, m->list, n) == 0);
	EXPECT(pvfs_close(fd) == 0); /* the queue already has these requests */
	EXPECT(pvfs_aio_cancel(q, last) == 0);
	EXPECT_ERRNO(pvfs_aio_cancel(q, last), EALREADY);
	EXPECT_ERRNO(pvfs_aio_cancel(q, &m->aio[0]), EALREADY);
	EXPECT(pvfs_aio_wait(q, ended, n, n, -1) == (int)n);
	EXPECT(last->result == -1 && last->error == ECANCELED);
	EXPECT(m->aio[n - 2].result == 8);
	pvfs_aio_queue_free(q);
	free(m);
}

static void forked(void)
{
	struct pvfs_aio_queue *q = queue_new(0);
	int fd = pvfs_open(path_of("f"), O_RDWR), status;
	struct pvfs_aio a = { 0 }, *list = &a;
	char buf[8];
	pid_t pid;

	pvfs_aio_prep_read(&a, fd, buf, 8, 0);
	EXPECT(pvfs_aio_submit(q, &list, 1) == 0);
	pid = quiet_fork();
	if (!pid) {
		EXPECT_ERRNO(pvfs_aio_wait(q, &list, 1, 1, -1), ECHILD);
		EXPECT_ERRNO(pvfs_aio_submit(q, &list, 1), ECHILD);
		EXPECT_ERRNO(pvfs_aio_fd(q), ECHILD);
		pvfs_aio_queue_free(q);
		q = queue_new(0);
		pvfs_aio_prep_read(&a, fd, buf, 8, 0);
		EXPECT(do_one(q, &a) == 8);
		exit(0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	EXPECT(pvfs_aio_wait(q, &list, 1, 1, -1) == 1 && a.result == 8);
	pvfs_aio_queue_free(q);
	EXPECT(pvfs_close(fd) == 0);
}

/*
 * pvfs_aio_queue_free() waits for requests that run, and does not need the program to collect them.
 */
static void freed(void)
{
	struct pvfs_aio_queue *q = queue_new(0);
	struct many *m = calloc(1, sizeof(*m));
	int fd = pvfs_open(path_of("f"), O_RDWR);
	unsigned int i;
	char buf[8];

	for (i = 0; i < MANY; i++) {
		m->list[i] = &m->aio[i];
		pvfs_aio_prep_read(&m->aio[i], fd, buf, 8, 0);
	}
	EXPECT(pvfs_aio_submit(q, m->list, MANY) == 0);
	pvfs_aio_queue_free(q);
	for (i = 0; i < MANY; i++)
		EXPECT(m->aio[i].result == 8 || m->aio[i].error == ECANCELED);
	free(m);
	EXPECT(pvfs_close(fd) == 0);
}

int main(int argc, char **argv)
{
	struct pvfs_aio_queue *q;
	char name[64];
	unsigned int seed;

	EXPECT(argc == 3);
	dir = argv[1];
	seed = (unsigned int)atoi(argv[2]);
	EXPECT_ERRNO(pvfs_aio_queue_new(64, &q), EINVAL);
	q = queue_new(0);
	names(q);
	data(q);
	lists(q);
	locks(q);
	ordinary(q);
	/* the same, after the program has asked for the queue's descriptor */
	EXPECT(pvfs_aio_fd(q) >= 0);
	data(q);
	lists(q);
	thousands(WAITED, seed);
	thousands(POLLED, seed + 1);
	thousands(CALLED, seed + 2);
	thousands(TENDED, seed + 3);
	beside_others(seed + 4);
	chained(path_of("chain"));
	snprintf(name, sizeof(name), "/tmp/lib_aio.%d", (int)getpid());
	chained(name);
	unlink(name);
	appended();
	taken_back();
	forked();
	freed();
	pvfs_aio_queue_free(q);
	puts("ok");
	return 0;
}
