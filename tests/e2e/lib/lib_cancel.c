/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_cancel.c - cancels threads at random points of each kind of call. Afterwards all other
 * threads can still use the same files and queues.
 *
 * 	lib_cancel DIR		cancels threads of one process
 * 	lib_cancel DIR first	cancels the first call of a process, in many processes
 */
#include <fcntl.h>
#include <pthread.h>
#include <pvfs_aio.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/quiet_fork.h"

#define ROUNDS 400
#define FIRSTS 40
#define REQUESTS 8192
#define PATIENCE 60 /* seconds, against a hang */

static struct pvfs_aio aio[REQUESTS];
static char path[256], other[256];
static struct pvfs_aio_queue *queue;
static atomic_uint begun, ended;
static char buf[100000];
static int fd;

static void count(struct pvfs_aio *one)
{
	atomic_fetch_add(&ended, 1);
}

static void requests(void)
{
	struct pvfs_aio *one = &aio[atomic_load(&begun) % REQUESTS];

	one->done = count;
	pvfs_aio_prep_read(one, fd, buf, 10, 0);
	atomic_fetch_add(&begun, 1);
	EXPECT(pvfs_aio_submit(queue, &one, 1) == 0);
	EXPECT(pvfs_aio_wait(queue, NULL, 0, 1, -1) == 0);
}

static void opens(void)
{
	int one = pvfs_open(other, O_RDWR | O_CREAT, 0600);

	EXPECT(one >= 0 && pvfs_write(one, buf, 10) == 10);
	EXPECT(pvfs_close(one) == 0);
}

static void moves(void)
{
	EXPECT(pvfs_pwrite(fd, buf, sizeof(buf), 0) == sizeof(buf));
	EXPECT(pvfs_pread(fd, buf, sizeof(buf), 0) == sizeof(buf));
}

static void asks(void)
{
	struct stat st;

	EXPECT(pvfs_stat(path, &st) == 0);
}

static void (*const kinds[])(void) = { requests, opens, moves, asks };
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Descriptors that a cancelled thread has opened may stay open. */
static void *over_and_over(void *arg)
{
	void (*const *kind)(void) = arg;

	for (;;) {
		(*kind)();
		pthread_testcancel();
	}
	return NULL;
}

static void cancel_one(void (*const *kind)(void), useconds_t us)
{
	pthread_t thread;

	EXPECT(!pthread_create(&thread, NULL, over_and_over, (void *)kind));
	usleep(us);
	EXPECT(!pthread_cancel(thread));
	EXPECT(!pthread_join(thread, NULL));
}

static void in_all(void)
{
	unsigned int i, k;

	fd = pvfs_open(path, O_RDWR | O_CREAT, 0600);
	EXPECT(fd >= 0 && pvfs_write(fd, buf, sizeof(buf)) == sizeof(buf));
	EXPECT(pvfs_aio_queue_new(0, &queue) == 0);
	for (i = 0; i < ROUNDS; i++) {
		alarm(PATIENCE);
		cancel_one(&kinds[i % KINDS], (useconds_t)rand() % 3000);
		for (k = 0; k < KINDS; k++)
			kinds[k]();
	}
	pvfs_aio_queue_free(queue);
	EXPECT(atomic_load(&begun) == atomic_load(&ended));
}

/* Cancels a thread while it creates the session. */
static void first(useconds_t us)
{
	static void (*const asking)(void) = asks;
	pid_t pid = quiet_fork();
	int status;

	if (!pid) {
		alarm(PATIENCE);
		cancel_one(&asking, us);
		asks();
		_exit(0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(int argc, char **argv)
{
	unsigned int i;

	EXPECT(argc > 1);
	snprintf(path, sizeof(path), "%s/cancelled", argv[1]);
	snprintf(other, sizeof(other), "%s/other", argv[1]);
	if (argc < 3)
		in_all();
	for (i = 0; argc > 2 && i < FIRSTS; i++)
		first(i * 200);
	puts("ok");
	return 0;
}
