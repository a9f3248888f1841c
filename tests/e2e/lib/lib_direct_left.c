/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_direct_left.c - writes to what was lent, and what could leave them before they have
 * returned: no mark stays, so nobody is taken for one who is inside.
 *
 *	lib_direct_left DIR handle FOLDER	signals: no handler runs inside, so none jumps out
 *	lib_direct_left DIR cancel FOLDER	threads are cancelled
 *	lib_direct_left DIR fork FOLDER		children are made, and write as well
 *
 * FOLDER is the iod's, with the marks of its borrowers.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <pvfs.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"
#include "lent.h"

#define LEN 3000
#define SIGNALS 2000
#define THREADS 200
#define CHILDREN 30

static int fd;
static const char *folder;

static uint64_t without(void)
{
	struct pvfs_way_counters w;

	EXPECT(!pvfs_way_counters(fd, &w));
	return w.without;
}

static void write_at(int i)
{
	static const char buf[LEN];

	EXPECT(pvfs_pwrite(fd, buf, LEN, i % 16 * LEN) == LEN);
}

static void open_it(const char *dir)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/left", dir);
	fd = pvfs_open(path, O_RDWR | O_CREAT, 0644);
	EXPECT(fd >= 0);
	for (int i = 0; i < 50; i++)
		write_at(i);
	EXPECT(without() > 0);
}

/* ---- marks ---- */

static void read_marks(const char *name, struct lent_marks *marks)
{
	char path[512];
	int in;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	in = open(path, O_RDONLY);
	EXPECT(in >= 0);
	EXPECT(read(in, marks, sizeof(*marks)) == sizeof(*marks));
	EXPECT(!close(in));
}

/* How many borrowers there are. */
static int nobody_is_inside(void)
{
	static struct lent_marks marks;
	DIR *d = opendir(folder);
	struct dirent *de;
	int n = 0;

	EXPECT(d);
	while ((de = readdir(d))) {
		if (!strstr(de->d_name, ".marks"))
			continue;
		read_marks(de->d_name, &marks);
		for (unsigned int i = 0; i < LENT_INSIDE; i++)
			EXPECT(!atomic_load(&marks.inside[i].object));
		n++;
	}
	closedir(d);
	return n;
}

/* ---- ways out ---- */

static int marks_fd;
static volatile sig_atomic_t handled, inside;

static void look(int sig)
{
	static struct lent_marks marks;

	if (pread(marks_fd, &marks, sizeof(marks), 0) != sizeof(marks))
		inside = 1;
	for (unsigned int i = 0; i < LENT_INSIDE; i++)
		if (atomic_load(&marks.inside[i].object))
			inside = 1;
	handled = handled + 1;
}

static int open_marks(void)
{
	DIR *d = opendir(folder);
	struct dirent *de;
	int in = -1;

	EXPECT(d);
	while (in < 0 && (de = readdir(d)))
		if (strstr(de->d_name, ".marks"))
			in = openat(dirfd(d), de->d_name, O_RDONLY);
	closedir(d);
	EXPECT(in >= 0);
	return in;
}

/* One that is due comes at once when the write has returned. */
static void handle(void)
{
	struct sigaction sa = { .sa_handler = look, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { 0 };

	marks_fd = open_marks();
	EXPECT(!sigaction(SIGALRM, &sa, NULL));
	EXPECT(!setitimer(ITIMER_REAL, &often, NULL));
	for (int i = 0; handled < SIGNALS; i++)
		write_at(i);
	EXPECT(!setitimer(ITIMER_REAL, &never, NULL));
	EXPECT(!inside);
}

static atomic_bool begun;

static void *write_always(void *arg)
{
	for (int i = 0;; i++) {
		write_at(i);
		atomic_store(&begun, true);
		pthread_testcancel();
	}
	return NULL;
}

static void begin(pthread_t *t)
{
	atomic_store(&begun, false);
	EXPECT(!pthread_create(t, NULL, write_always, NULL));
	while (!atomic_load(&begun))
		usleep(50);
}

static void cancel(void)
{
	pthread_t t;

	for (int i = 0; i < THREADS; i++) {
		begin(&t);
		EXPECT(!pthread_cancel(t));
		EXPECT(!pthread_join(t, NULL));
	}
	EXPECT(nobody_is_inside() > 0);
}

static void child(void)
{
	for (int i = 0; i < 20; i++)
		write_at(i);
	_exit(0);
}

static void *write_until(void *arg)
{
	const atomic_bool *enough = arg;

	for (int i = 0; !atomic_load(enough); i++)
		write_at(i);
	return NULL;
}

static void forks(void)
{
	atomic_bool enough = false;
	pthread_t t[3];
	int status;
	pid_t pid;

	for (int i = 0; i < 3; i++)
		EXPECT(!pthread_create(&t[i], NULL, write_until, &enough));
	for (int i = 0; i < CHILDREN; i++) {
		pid = fork();
		if (!pid)
			child();
		EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	}
	atomic_store(&enough, true);
	for (int i = 0; i < 3; i++)
		EXPECT(!pthread_join(t[i], NULL));
	EXPECT(nobody_is_inside() > 0);
}

int main(int argc, char **argv)
{
	EXPECT(argc == 4);
	folder = argv[3];
	open_it(argv[1]);
	if (!strcmp(argv[2], "handle"))
		handle();
	else if (!strcmp(argv[2], "cancel"))
		cancel();
	else
		forks();
	puts("ok");
	fflush(stdout);
	_exit(0); /* what they left of the library is not looked at */
}
