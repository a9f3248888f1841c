/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvprofile.c - makes COUNT calls of SIZE bytes, which a profile must count:
 *
 * 	pvprofile OP PATH COUNT SIZE
 *
 * 	write, read	in the order of offsets
 * 	back		as write, in the reverse order
 * 	apart		as write, with a gap of SIZE bytes after each
 * 	shift		as write, each at byte 1 of a stripe
 * 	lists		each a list of 8 pieces
 * 	sync		as write, with an fsync after each
 * 	aio		asynchronous writes
 * 	fork		as write, half of the calls in a child
 * 	open, stat	opens and closes PATH; calls stat(2)
 * 	wait		as write; then prints "ready", and calls stat(2) every 20 ms until killed
 * 	handle		as write, with a handler for SIGUSR1; then raises this signal
 */
#include <errno.h>
#include <pvfs.h>
#include <pvfs_aio.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECES 8
#define STRIPE 65536

static const char *op, *path;
static int64_t count, size;
static char *buf;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static bool is(const char *name)
{
	return !strcmp(op, name);
}

static int64_t place(int64_t i)
{
	if (is("back"))
		return (count - 1 - i) * size;
	if (is("apart"))
		return i * 2 * size;
	if (is("shift"))
		return i * 2 * STRIPE + 1;
	return i * size;
}

static void move(int fd, int64_t i)
{
	ssize_t n = is("read") ? pvfs_pread(fd, buf, (size_t)size, place(i))
			       : pvfs_pwrite(fd, buf, (size_t)size, place(i));

	if (n != size)
		die(op);
	if (is("sync") && pvfs_fsync(fd))
		die("fsync");
}

static void list(int fd, int64_t i)
{
	char *mem[] = { buf };
	int total = (int)size, j;
	int64_t off[PIECES];
	int32_t len[PIECES];

	for (j = 0; j < PIECES; j++) {
		off[j] = i * 2 * size + j * 2 * (size / PIECES);
		len[j] = (int32_t)(size / PIECES);
	}
	if (pvfs_write_list(fd, 1, mem, &total, PIECES, off, len) != total)
		die("list");
}

static void requests(int fd)
{
	struct pvfs_aio *aio = calloc((size_t)count, sizeof(*aio)), *ended;
	struct pvfs_aio_queue *q;
	int64_t i;

	if (!aio || pvfs_aio_queue_new(0, &q))
		die("queue");
	for (i = 0; i < count; i++) {
		pvfs_aio_prep_write(&aio[i], fd, buf, (size_t)size, i * size);
		if (pvfs_aio_submit(q, &(struct pvfs_aio *){ &aio[i] }, 1))
			die("submit");
	}
	for (i = 0; i < count; i++) {
		if (pvfs_aio_wait(q, &ended, 1, 1, -1) != 1 ||
		    ended->result != size)
			die("wait");
	}
	pvfs_aio_queue_free(q);
	free(aio);
}

static void by_name(void)
{
	struct stat st;
	int64_t i;
	int fd;

	for (i = 0; i < count; i++) {
		if (is("stat") && pvfs_stat(path, &st))
			die("stat");
		if (is("stat"))
			continue;
		fd = pvfs_open(path, O_RDWR | O_CREAT, 0644);
		if (fd < 0 || pvfs_close(fd))
			die("open");
	}
}

static bool sleeps(const char *task)
{
	char name[320], text[512] = "";
	const char *state = NULL;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/self/task/%s/stat", task);
	f = fopen(name, "r");
	if (f && fread(text, 1, sizeof(text) - 1, f))
		state = strrchr(text, ')');
	if (f)
		fclose(f);
	return state && state[2] == 'S';
}

static bool others_sleep(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *ent;
	bool all = dir != NULL;

	while (all && (ent = readdir(dir))) {
		if (*ent->d_name != '.' && atoi(ent->d_name) != gettid())
			all = sleeps(ent->d_name);
	}
	if (dir)
		closedir(dir);
	return all;
}

/*
 * Waits until all other threads sleep. Otherwise the child could inherit a lock of the sanitizer's
 * allocator.
 */
static void settle(void)
{
	int looks = 0;

	while (looks < 3) {
		usleep(10000);
		looks = others_sleep() ? looks + 1 : 0;
	}
}

/* The child makes half of the calls, and then the parent the other half. */
static void in_child(int fd)
{
	int status;
	pid_t pid;

	settle();
	pid = fork();
	count /= 2;
	if (pid) {
		waitpid(pid, &status, 0);
		if (status)
			exit(1);
	}
	for (int64_t i = 0; i < count; i++)
		move(fd, i);
}

static void handler(int sig)
{
	if (write(1, "handled\n", 8) != 8)
		_exit(3);
}

static void through(int fd)
{
	int64_t i;

	if (is("aio")) {
		requests(fd);
		return;
	}
	if (is("fork")) {
		in_child(fd);
		return;
	}
	for (i = 0; i < count; i++) {
		if (is("lists"))
			list(fd, i);
		else
			move(fd, i);
	}
}

static void wait_and_stat(void)
{
	struct stat st;

	puts("ready");
	fflush(stdout);
	for (;;) {
		usleep(20000);
		pvfs_stat(path, &st);
	}
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 5)
		return 2;
	op = argv[1];
	path = argv[2];
	count = atoll(argv[3]);
	size = atoll(argv[4]);
	buf = calloc(1, (size_t)size + 1);
	if (is("handle"))
		signal(SIGUSR1, handler);
	if (is("stat") || is("open")) {
		by_name();
		return 0;
	}
	fd = pvfs_open(path, is("read") ? O_RDONLY : O_RDWR | O_CREAT, 0644);
	if (fd < 0)
		die(path);
	through(fd);
	if (is("handle"))
		raise(SIGUSR1);
	if (is("wait"))
		wait_and_stat();
	if (pvfs_close(fd))
		die("close");
	free(buf);
	return 0;
}
