/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_direct_left.c - a thread leaves a direct write to a borrowed object without returning from
 * it. The mark in the client's page says that a thread is inside a write. If the handler returns,
 * or the thread is cancelled, or the process forks, no mark may remain. If a handler jumps out, the
 * mark remains; then the iod must not end the session because of this mark, and no data is lost.
 *
 * 	lib_direct_left DIR handle FOLDER		signal handlers return
 * 	lib_direct_left DIR jump FOLDER RESTART		handlers jump out of the write; then the
 * 							command RESTART restarts the iod
 * 	lib_direct_left DIR cancel FOLDER		threads are cancelled
 * 	lib_direct_left DIR fork FOLDER			children are forked, and write too
 *
 * FOLDER is the folder of the iod that contains the marks.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <pvfs.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/quiet_fork.h"
#include "common/wire/loan_pages.h"

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

static void read_marks(const char *name, struct loan_page_marks *marks)
{
	char path[512];
	int in;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	in = open(path, O_RDONLY);
	EXPECT(in >= 0);
	EXPECT(read(in, marks, sizeof(*marks)) == sizeof(*marks));
	EXPECT(!close(in));
}

/* Checks that no mark is set.  Returns the number of borrowers. */
static int nobody_is_inside(void)
{
	static struct loan_page_marks marks;
	DIR *d = opendir(folder);
	struct dirent *de;
	int n = 0;

	EXPECT(d);
	while ((de = readdir(d))) {
		if (!strstr(de->d_name, ".marks"))
			continue;
		read_marks(de->d_name, &marks);
		for (unsigned int i = 0; i < LOAN_PAGE_INSIDE; i++)
			EXPECT(!atomic_load(&marks.inside[i].object));
		n++;
	}
	closedir(d);
	return n;
}

/* ---- ways out ---- */

static int marks_fd;
static volatile sig_atomic_t handled, inside;
static sigjmp_buf out;

static unsigned int marked(void)
{
	static struct loan_page_marks marks;
	unsigned int n = 0;

	if (pread(marks_fd, &marks, sizeof(marks), 0) != sizeof(marks))
		_exit(3);
	for (unsigned int i = 0; i < LOAN_PAGE_INSIDE; i++)
		n += atomic_load(&marks.inside[i].object) != 0;
	return n;
}

static void look(int sig)
{
	inside = inside + (marked() > 0);
	handled = handled + 1;
}

/* Jumps only if a mark was set since the last jump, so only out of a write. */
static void jump_out(int sig)
{
	static unsigned int before;
	unsigned int n = marked();

	if (n == before)
		return;
	before = n;
	siglongjmp(out, 1);
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

static void often(void (*handler)(int sig), int us)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval timer = { { 0, us }, { 0, us } };

	EXPECT(!sigaction(SIGALRM, &sa, NULL));
	EXPECT(!setitimer(ITIMER_REAL, &timer, NULL));
}

static void handle(void)
{
	marks_fd = open_marks();
	often(look, 300);
	for (int i = 0; handled < SIGNALS || !inside; i++)
		write_at(i);
	often(SIG_IGN, 0);
	EXPECT(nobody_is_inside() > 0);
}

/* ---- jumps ---- */

#define JUMPS 5
#define SLOTS 64

static char slot[SLOTS]; /* the content of each slot */

static void write_slot(int i, char c)
{
	char buf[LEN];

	memset(buf, c, LEN);
	EXPECT(pvfs_pwrite(fd, buf, LEN, (off_t)i * LEN) == LEN);
	slot[i] = c;
}

static void slots_are_right(void)
{
	char buf[LEN];

	for (int i = 0; i < SLOTS; i++) {
		EXPECT(pvfs_pread(fd, buf, LEN, (off_t)i * LEN) == LEN);
		for (int k = 0; k < LEN; k++)
			EXPECT(buf[k] == slot[i]);
	}
}

/* After the jump, writes the same slot again. */
static void jump_once(volatile int *i)
{
	if (!sigsetjmp(out, 1)) {
		often(jump_out, 300);
		for (;; *i = *i + 1)
			write_slot(*i % SLOTS, (char)('a' + *i % 26));
	}
	often(SIG_IGN, 0);
	write_slot(*i % SLOTS, (char)('a' + *i % 26));
}

/* After the restart the iod takes back the borrowed objects, although the marks remain. */
static void jump(const char *restart)
{
	volatile int i = 0;

	for (int k = 0; k < SLOTS; k++)
		write_slot(k, 'A');
	marks_fd = open_marks();
	for (int k = 0; k < JUMPS; k++)
		jump_once(&i);
	EXPECT(marked() == JUMPS);
	slots_are_right();
	EXPECT(!system(restart));
	slots_are_right();
	for (int k = 0; k < SLOTS; k++)
		write_slot(k, 'B');
	slots_are_right();
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
		pid = quiet_fork();
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
	EXPECT(argc == 4 || argc == 5);
	folder = argv[3];
	open_it(argv[1]);
	if (!strcmp(argv[2], "handle"))
		handle();
	else if (!strcmp(argv[2], "jump"))
		jump(argv[4]);
	else if (!strcmp(argv[2], "cancel"))
		cancel();
	else
		forks();
	puts("ok");
	fflush(stdout);
	_exit(0); /* skips the library's exit handlers */
}
