/* SPDX-License-Identifier: BSD-2-Clause */
/* model.c - the frame of the model test: see model.h. */
#include "tests/e2e/lib/model.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint32_t roll(struct model *m, uint32_t below)
{
	return (uint32_t)rand_r(&m->seed) % below;
}

bool chance(struct model *m, uint32_t percent)
{
	return roll(m, 100) < percent;
}

void what(struct model *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m->what, sizeof(m->what), fmt, ap);
	va_end(ap);
	if (getenv("MODEL_TRACE"))
		fprintf(stderr, "%u: [%d] %s\n", m->step, m->at, m->what);
}

void differ(struct model *m, const char *fmt, ...)
{
	va_list ap;

	printf("step %u, %s: ", m->step, m->what);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	exit(1);
}

/*
 * On a mount the kernel checks permissions last (MODEL_ANY_ERROR). If a call has several errors,
 * either may be reported.
 */
static bool either(int a, int b)
{
	return getenv("MODEL_ANY_ERROR") &&
	       (a == EACCES || a == EPERM || b == EACCES || b == EPERM);
}

void same(struct model *m, const int64_t rc[SIDES], const int err[SIDES])
{
	if (rc[A] < 0 && rc[A] == rc[B] && either(err[A], err[B]))
		return;
	if (rc[A] != rc[B] || err[A] != err[B])
		differ(m, "PVFS %ld (%s), ordinary %ld (%s)", (long)rc[A],
		       strerrorname_np(err[A]), (long)rc[B],
		       strerrorname_np(err[B]));
}

void same_bytes(struct model *m, int64_t n)
{
	int64_t i;

	if (n <= 0 || !memcmp(m->buf[A], m->buf[B], (size_t)n))
		return;
	for (i = 0; m->buf[A][i] == m->buf[B][i];)
		i++;
	differ(m, "byte %ld of %ld: PVFS %d, ordinary %d", (long)i, (long)n,
	       m->buf[A][i], m->buf[B][i]);
}

struct pair *any_pair(struct model *m)
{
	struct pair *p = &m->pair[roll(m, PAIRS)];

	return p->used ? p : NULL;
}

mode_t any_mode(struct model *m, uint32_t max, mode_t owner)
{
	return roll(m, max) | (chance(m, 80) ? owner : 0);
}

const char *any_path(struct model *m, int slot)
{
	static const char *const names[] = {
		"a",   "b",	"c",	  "d",	   "d/a",      "d/b",
		"d/d", "d/d/a", "e",	  "e/a",   "./a",      "d//b",
		"a/",  "d/",	"d/../a", "e/./a", "d/d/../b", "nothing/a",
		"a/b", "d/.",	"",	  "d/..",
	};
	const char *name = names[roll(m, sizeof(names) / sizeof(names[0]))];
	int s;

	/* on a mount, ".." leads out of a directory without search permission */
	if (getenv("MODEL_ANY_ERROR") && strstr(name, ".."))
		name = "a";

	for (s = A; s < SIDES; s++)
		snprintf(m->path[s][slot], sizeof(m->path[s][slot]), "%s/%s",
			 m->dir[s], name);
	return name;
}

/* Times before 2010 were set explicitly; all later ones count as the current time. */
static long time_class(const struct timespec *ts)
{
	return ts->tv_sec < 1262304000 ? (long)ts->tv_sec : -1;
}

/*
 * The bits that must match. A write clears the set-id bits, on PVFS at the close. Through a mount
 * the kernel clears them, and also the sticky bit.
 */
static mode_t mode_bits(mode_t mode)
{
	if (geteuid() == 0)
		return ~(mode_t)0;
	return ~(mode_t)(S_ISUID | S_ISGID | (S_ISREG(mode) ? S_ISVTX : 0));
}

void same_stat(struct model *m, const struct stat st[SIDES])
{
	const struct stat *a = &st[A], *b = &st[B];

	if ((a->st_mode ^ b->st_mode) & mode_bits(b->st_mode))
		differ(m, "mode %o and %o", a->st_mode, b->st_mode);
	if (a->st_uid != b->st_uid || a->st_gid != b->st_gid)
		differ(m, "owner %u:%u and %u:%u", a->st_uid, a->st_gid,
		       b->st_uid, b->st_gid);
	if ((S_ISCHR(b->st_mode) || S_ISBLK(b->st_mode)) &&
	    a->st_rdev != b->st_rdev)
		differ(m, "device %lx and %lx", (unsigned long)a->st_rdev,
		       (unsigned long)b->st_rdev);
	if (S_ISDIR(b->st_mode))
		return;
	if (a->st_size != b->st_size)
		differ(m, "size %ld and %ld", (long)a->st_size,
		       (long)b->st_size);
	if (a->st_nlink != b->st_nlink)
		differ(m, "nlink %ld and %ld", (long)a->st_nlink,
		       (long)b->st_nlink);
	if (S_ISREG(b->st_mode) &&
	    time_class(&a->st_mtim) != time_class(&b->st_mtim))
		differ(m, "mtime %ld and %ld", (long)a->st_mtim.tv_sec,
		       (long)b->st_mtim.tv_sec);
}

static void close_all(struct model *m)
{
	struct pair *p;

	for (p = m->pair; p < m->pair + PAIRS; p++) {
		if (!p->used)
			continue;
		what(m, "close at the end");
		BOTH(m, pvfs_close(p->fd[s]));
		p->used = false;
	}
}

static void run(struct model *m, unsigned int steps)
{
	for (m->step = 0; m->step < steps; m->step++) {
		if (chance(m, 60))
			op_file(m);
		else if (chance(m, 85))
			op_name(m);
		else
			op_xattr(m);
	}
	close_all(m);
}

/* usage: model SEED STEPS PVFS_DIR ORDINARY_DIR */
int main(int argc, char **argv)
{
	static struct model m;
	int s;

	if (argc != 5)
		return 2;
	m.seed = (unsigned int)atoi(argv[1]);
	for (s = A; s < SIDES; s++) {
		m.dir[s] = argv[3 + s];
		m.buf[s] = malloc(FILE_MAX);
		if (pvfs_mkdir(m.dir[s], 0777)) {
			perror(m.dir[s]);
			return 2;
		}
	}
	umask(027);
	run(&m, (unsigned int)atoi(argv[2]));
	for (s = A; s < SIDES; s++)
		free(m.buf[s]);
	puts("ok");
	return 0;
}
