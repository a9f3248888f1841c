/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_waits.c - one process waits for many locks, in threads or in a queue. Its other requests, and
 * the unlock that these waits need, are served at once.
 *
 * 	lib_waits DIR N		N threads, then N asynchronous requests
 *
 * If the calls of the lock's holder had to wait for a free slot, each would take seconds, and
 * CYCLES of them would not end before the alarm.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include <pvfs.h>
#include <pvfs_aio.h>

#define CYCLES 20
#define HANG_S 60u

static const char *dir;
static atomic_uint asking;
static unsigned int taken; /* protected by the lock */

static const char *path_of(const char *name, char *buf, size_t len)
{
	snprintf(buf, len, "%s/%s", dir, name);
	return buf;
}

static int open_file(const char *name)
{
	char path[256];
	int fd = pvfs_open(path_of(name, path, sizeof(path)), O_RDWR | O_CREAT,
			   0644);

	EXPECT(fd >= 0);
	return fd;
}

static int set(int fd, int cmd, short type)
{
	struct flock lk = { .l_type = type, .l_len = 1 };

	return pvfs_fcntl(fd, cmd, &lk);
}

/* ---- calls of the process that holds the lock ---- */

static void *take_other(void *arg)
{
	int fd = open_file("other");

	EXPECT(set(fd, F_OFD_SETLKW, F_WRLCK) == 0);
	atomic_store((atomic_bool *)arg, true);
	EXPECT(pvfs_close(fd) == 0);
	return NULL;
}

/* Passes another lock to a thread that began to wait for it later than all others. */
static void pass_other(int fd)
{
	atomic_bool has;
	pthread_t thread;

	atomic_init(&has, false);
	EXPECT(set(fd, F_OFD_SETLKW, F_WRLCK) == 0);
	EXPECT(!pthread_create(&thread, NULL, take_other, &has));
	usleep(20000); /* the thread should wait by now; otherwise the test checks less */
	EXPECT(!atomic_load(&has));
	EXPECT(set(fd, F_OFD_SETLK, F_UNLCK) == 0);
	EXPECT(!pthread_join(thread, NULL));
	EXPECT(atomic_load(&has));
}

static void go_on(void)
{
	char path[256];
	struct stat st;
	int fd = open_file("other");

	for (int i = 0; i < CYCLES; i++) {
		EXPECT(set(fd, F_OFD_SETLK, F_WRLCK) == 0);
		EXPECT(set(fd, F_OFD_SETLK, F_UNLCK) == 0);
		EXPECT(!pvfs_stat(path_of("other", path, sizeof(path)), &st));
	}
	pass_other(fd);
	EXPECT(pvfs_close(fd) == 0);
}

/* ---- threads ---- */

static void *wait_for(void *arg)
{
	int fd = *(int *)arg;

	atomic_fetch_add(&asking, 1);
	EXPECT(set(fd, F_OFD_SETLKW, F_WRLCK) == 0);
	taken++;
	EXPECT(set(fd, F_OFD_SETLK, F_UNLCK) == 0);
	return NULL;
}

static void begin(pthread_t *thread, int *fd, unsigned int n)
{
	atomic_store(&asking, 0);
	for (unsigned int i = 0; i < n; i++) {
		fd[i] = open_file("f");
		EXPECT(!pthread_create(&thread[i], NULL, wait_for, &fd[i]));
	}
	while (atomic_load(&asking) < n)
		usleep(1000);
	usleep(300000); /* the threads should wait by now; otherwise the test checks less */
}

static void threads(unsigned int n)
{
	pthread_t *thread = calloc(n, sizeof(*thread));
	int *fd = calloc(n, sizeof(*fd)), holder = open_file("f");

	EXPECT(thread && fd);
	taken = 0;
	EXPECT(set(holder, F_OFD_SETLK, F_WRLCK) == 0);
	begin(thread, fd, n);
	go_on();
	EXPECT(taken == 0);
	EXPECT(set(holder, F_OFD_SETLK, F_UNLCK) == 0);
	for (unsigned int i = 0; i < n; i++) {
		EXPECT(!pthread_join(thread[i], NULL));
		EXPECT(pvfs_close(fd[i]) == 0);
	}
	EXPECT(taken == n);
	EXPECT(pvfs_close(holder) == 0);
	free(thread);
	free(fd);
}

/* ---- requests in a queue ---- */

struct asked {
	struct pvfs_aio aio;
	struct flock lk;
	int fd;
};

static void submit(struct pvfs_aio_queue *q, struct asked *a, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct pvfs_aio *one = &a[i].aio;

		a[i].fd = open_file("f");
		a[i].lk = (struct flock){ .l_type = F_WRLCK, .l_len = 1 };
		pvfs_aio_prep_lock(one, a[i].fd, F_OFD_SETLKW, &a[i].lk);
		one->data = &a[i];
		EXPECT(pvfs_aio_submit(q, &one, 1) == 0);
	}
}

/* Each request that got the lock releases it. */
static void reap(struct pvfs_aio_queue *q, unsigned int n)
{
	struct pvfs_aio *ended;

	for (unsigned int i = 0; i < n; i++) {
		struct asked *a;

		EXPECT(pvfs_aio_wait(q, &ended, 1, 1, -1) == 1);
		EXPECT(ended->result == 0);
		a = ended->data;
		EXPECT(pvfs_close(a->fd) == 0);
	}
}

static void requests(unsigned int n)
{
	struct asked *a = calloc(n, sizeof(*a));
	struct pvfs_aio_queue *q;
	struct pvfs_aio *none;
	int holder = open_file("f");

	EXPECT(a && !pvfs_aio_queue_new(0, &q));
	EXPECT(set(holder, F_OFD_SETLK, F_WRLCK) == 0);
	submit(q, a, n);
	EXPECT(pvfs_aio_wait(q, &none, 1, 1, 300) == 0);
	go_on();
	EXPECT(set(holder, F_OFD_SETLK, F_UNLCK) == 0);
	reap(q, n);
	pvfs_aio_queue_free(q);
	EXPECT(pvfs_close(holder) == 0);
	free(a);
}

int main(int argc, char **argv)
{
	unsigned int n = argc == 3 ? (unsigned int)atoi(argv[2]) : 0;

	EXPECT(n > 0);
	dir = argv[1];
	alarm(HANG_S);
	threads(n);
	requests(n);
	puts("ok");
	return 0;
}
