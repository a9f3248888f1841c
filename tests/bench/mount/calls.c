/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.c - measures single calls below a folder:
 *
 *   calls [-p] [-n PROCESSES] [-o CALL] DIR
 *
 * -p: calls libpvfs instead of the system.  -n: runs this many processes at the same time, each
 * with its own files.  -o: measures only this call.  Prints a line for each call: its name and the
 * mean time of a call in microseconds.  (A name with "on" begins where the previous call ended;
 * other calls use any offset.)  Two figures of the whole machine follow for each call: microseconds
 * of processor time, and context switches.
 */
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pvfs.h>

#define SPAN (64u << 20) /* bytes of the file */
#define MAX (4u << 20)
#define PROCESSES 64

static const char *dir, *only;
static bool own; /* -p: call libpvfs */
/* number of this process, and of all processes */
static unsigned int me, all = 1;
static char *buf;
static int fd;
static char path[4096];
static pthread_barrier_t *together; /* all processes wait here for each other */

static void must(const char *what, bool ok)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static const char *folder(void)
{
	snprintf(path, sizeof(path), "%s/calls.%u", dir, me);
	return path;
}

static const char *name(unsigned int i)
{
	snprintf(path, sizeof(path), "%s/calls.%u/%u", dir, me, i);
	return path;
}

static int do_open(const char *p, int flags)
{
	int f = own ? pvfs_open(p, flags, 0644) : open(p, flags, 0644);

	must("open", f >= 0);
	return f;
}

static void do_close(int f)
{
	must("close", !(own ? pvfs_close(f) : close(f)));
}

static off_t place(size_t len)
{
	return (off_t)((size_t)rand() % (SPAN / len) * len);
}

static void c_write(size_t len, unsigned int i)
{
	off_t off = place(len);

	must("write", (own ? pvfs_pwrite(fd, buf, len, off)
			   : pwrite(fd, buf, len, off)) == (ssize_t)len);
}

static void c_read(size_t len, unsigned int i)
{
	off_t off = place(len);

	must("read", (own ? pvfs_pread(fd, buf, len, off)
			  : pread(fd, buf, len, off)) == (ssize_t)len);
}

/*
 * Lets the calls continue where the previous one ended.  At the end of the file, they begin again.
 */
static void rewind_at_end(size_t len, unsigned int i)
{
	if (i % (SPAN / len))
		return;
	must("lseek",
	     !(own ? pvfs_lseek(fd, 0, SEEK_SET) : lseek(fd, 0, SEEK_SET)));
}

static void c_write_on(size_t len, unsigned int i)
{
	rewind_at_end(len, i);
	must("write", (own ? pvfs_write(fd, buf, len) : write(fd, buf, len)) ==
			      (ssize_t)len);
}

static void c_read_on(size_t len, unsigned int i)
{
	rewind_at_end(len, i);
	must("read", (own ? pvfs_read(fd, buf, len) : read(fd, buf, len)) ==
			     (ssize_t)len);
}

static void c_stat(size_t len, unsigned int i)
{
	struct stat st;

	name(0);
	must("stat", !(own ? pvfs_stat(path, &st) : stat(path, &st)));
}

static void c_open(size_t len, unsigned int i)
{
	do_close(do_open(name(0), O_RDONLY));
}

static void c_create(size_t len, unsigned int i)
{
	do_close(do_open(name(i + 1), O_RDWR | O_CREAT | O_EXCL));
}

static void c_unlink(size_t len, unsigned int i)
{
	name(i + 1);
	must("unlink", !(own ? pvfs_unlink(path) : unlink(path)));
}

static void list_own(void)
{
	PVFS_DIR *d = pvfs_opendir(folder());
	struct dirent *e;
	struct stat st;

	must("opendir", d);
	while ((e = pvfs_readdir(d)))
		must("fstatat", !pvfs_fstatat(pvfs_dirfd(d), e->d_name, &st,
					      AT_SYMLINK_NOFOLLOW));
	pvfs_closedir(d);
}

/* As ls -l: reads the names, and gets the attributes of each. */
static void c_list(size_t len, unsigned int i)
{
	struct dirent *e;
	struct stat st;
	DIR *d;

	if (own) {
		list_own();
		return;
	}
	d = opendir(folder());
	must("opendir", d);
	while ((e = readdir(d)))
		must("fstatat",
		     !fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW));
	closedir(d);
}

/* ---- what it takes ---- */

struct cost {
	double wall, busy; /* seconds */
	unsigned long long switches; /* context switches */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/*
 * Returns the processor time in seconds of all threads of the machine that exist now.  It is the
 * first number in schedstat, in ns.
 */
static double busy_now(void)
{
	unsigned long long ns, sum = 0;
	glob_t tasks;
	FILE *f;

	must("/proc", !glob("/proc/[0-9]*/task/[0-9]*/schedstat", GLOB_NOSORT,
			    NULL, &tasks));
	for (size_t i = 0; i < tasks.gl_pathc; i++) {
		f = fopen(tasks.gl_pathv[i], "re");
		if (!f)
			continue;
		if (fscanf(f, "%llu", &ns) == 1)
			sum += ns;
		fclose(f);
	}
	globfree(&tasks);
	return (double)sum * 1e-9;
}

static unsigned long long switches_now(void)
{
	unsigned long long n = 0;
	char line[4096];
	FILE *f = fopen("/proc/stat", "re");

	must("/proc/stat", f);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "ctxt %llu", &n);
	fclose(f);
	return n;
}

#define FILES 1000u

static const struct measured {
	const char *what;
	void (*call)(size_t len, unsigned int i);
	size_t len;
	unsigned int n; /* number of repetitions */
	unsigned int makes; /* number of calls in each repetition */
} table[] = {
	{ "write-4K", c_write, 4096, 3000, 1 },
	{ "read-4K", c_read, 4096, 3000, 1 },
	{ "write-on-4K", c_write_on, 4096, 3000, 1 },
	{ "read-on-4K", c_read_on, 4096, 3000, 1 },
	{ "write-64K", c_write, 65536, 1500, 1 },
	{ "read-64K", c_read, 65536, 1500, 1 },
	{ "write-on-64K", c_write_on, 65536, 1500, 1 },
	{ "read-on-64K", c_read_on, 65536, 1500, 1 },
	{ "write-1M", c_write, 1u << 20, 300, 1 },
	{ "read-1M", c_read, 1u << 20, 300, 1 },
	{ "write-4M", c_write, MAX, 80, 1 },
	{ "read-4M", c_read, MAX, 80, 1 },
	{ "stat", c_stat, 0, 2000, 1 },
	{ "open+close", c_open, 0, 1500, 1 },
	{ "create", c_create, 0, FILES, 1 },
	{ "list-entry", c_list, 0, 3, FILES },
	{ "unlink", c_unlink, 0, FILES, 1 },
};

/* Whether to run this row.  A row that others need is run even if it was not requested. */
static bool wanted(const struct measured *m)
{
	return !only || !strcmp(only, m->what);
}

static bool needed(const struct measured *m)
{
	return wanted(m) || m->call == c_create || m->call == c_unlink;
}

static void say(const struct measured *m, const struct cost *a,
		const struct cost *b)
{
	double calls = (double)m->n * m->makes;

	printf("%s %.2f %.2f %.2f\n", m->what,
	       (b->wall - a->wall) / calls * 1e6,
	       (b->busy - a->busy) / calls / all * 1e6,
	       (double)(b->switches - a->switches) / calls / all);
}

static void measure(const struct measured *m)
{
	struct cost a = { 0 }, b = { 0 };

	if (!me)
		a = (struct cost){ .busy = busy_now(),
				   .switches = switches_now() };
	pthread_barrier_wait(together);
	a.wall = now();
	for (unsigned int i = 0; i < m->n; i++)
		m->call(m->len, i);
	pthread_barrier_wait(together);
	b.wall = now();
	if (me || !wanted(m))
		return;
	b.switches = switches_now();
	b.busy = busy_now();
	say(m, &a, &b);
}

/* ---- the processes ---- */

static void work(void)
{
	size_t k, n = sizeof(table) / sizeof(table[0]);

	must("mkdir",
	     !(own ? pvfs_mkdir(folder(), 0755) : mkdir(folder(), 0755)));
	fd = do_open(name(0), O_RDWR | O_CREAT);
	for (unsigned int at = 0; at < SPAN; at += MAX)
		must("write", (own ? pvfs_pwrite(fd, buf, MAX, at)
				   : pwrite(fd, buf, MAX, at)) == MAX);
	for (k = 0; k < n && table[k].len; k++)
		if (needed(&table[k]))
			measure(&table[k]);
	do_close(fd);
	for (; k < n; k++)
		if (needed(&table[k]))
			measure(&table[k]);
	c_unlink(0, (unsigned int)-1);
	must("rmdir", !(own ? pvfs_rmdir(folder()) : rmdir(folder())));
}

static void start(void)
{
	pthread_barrierattr_t shared;

	together = mmap(NULL, sizeof(*together), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must("memory", together != MAP_FAILED);
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(together, &shared, all);
	for (unsigned int i = 1; i < all; i++) {
		pid_t child = fork();

		must("fork", child >= 0);
		if (child)
			continue;
		me = i;
		break;
	}
}

static int end(void)
{
	int status, bad = 0;

	while (!me && wait(&status) > 0)
		bad |= status;
	return bad ? 1 : 0;
}

static int usage(void)
{
	fputs("usage: calls [-p] [-n PROCESSES] [-o CALL] DIR\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "pn:o:")) >= 0) {
		if (opt == 'p')
			own = true;
		else if (opt == 'n')
			all = (unsigned int)atoi(optarg);
		else if (opt == 'o')
			only = optarg;
		else
			return usage();
	}
	if (optind != argc - 1 || !all || all > PROCESSES)
		return usage();
	dir = argv[optind];
	start();
	srand(me + 1);
	buf = aligned_alloc(4096, MAX);
	must("memory", buf);
	memset(buf, 1, MAX);
	work();
	free(buf);
	return end();
}
