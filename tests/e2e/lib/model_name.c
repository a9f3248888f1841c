/* SPDX-License-Identifier: BSD-2-Clause */
/* model_name.c - random calls on paths. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/e2e/lib/model.h"

static void op_stat(struct model *m)
{
	struct stat st[SIDES] = { 0 };
	bool link = chance(m, 40);

	what(m, "%sstat %s", link ? "l" : "", any_path(m, 0));
	BOTH(m, link ? pvfs_lstat(m->path[s][0], &st[s])
		     : pvfs_stat(m->path[s][0], &st[s]));
	same_stat(m, st);
}

static void op_access(struct model *m)
{
	int mode = (int)roll(m, 8);

	what(m, "access %s %d", any_path(m, 0), mode);
	BOTH(m, pvfs_access(m->path[s][0], mode));
}

static void op_attr(struct model *m)
{
	struct timespec ts[2] = { { 1000000, 5 },
				  { 1000 + roll(m, 1000), 1234 } };
	const char *name = any_path(m, 0);
	mode_t mode = any_mode(m, 010000, 0700);
	bool link = chance(m, 30);

	if (chance(m, 50)) {
		what(m, "chmod %s %o", name, mode);
		BOTH(m, pvfs_chmod(m->path[s][0], mode));
		return;
	}
	if (chance(m, 20))
		ts[1].tv_nsec = UTIME_OMIT;
	else if (chance(m, 20))
		ts[1].tv_nsec = UTIME_NOW;
	what(m, "%sutimens %s %ld.%ld", link ? "l" : "", name,
	     (long)ts[1].tv_sec, ts[1].tv_nsec);
	BOTH(m, link ? pvfs_lutimens(m->path[s][0], ts)
		     : pvfs_utimens(m->path[s][0], ts));
}

static void op_truncate(struct model *m)
{
	int64_t size = roll(m, 200000);

	what(m, "truncate %s %ld", any_path(m, 0), (long)size);
	BOTH(m, pvfs_truncate(m->path[s][0], size));
}

static void op_mkdir(struct model *m)
{
	mode_t mode = any_mode(m, 01000, 0700);

	what(m, "mkdir %s %o", any_path(m, 0), mode);
	BOTH(m, pvfs_mkdir(m->path[s][0], mode));
}

static void op_rmdir(struct model *m)
{
	what(m, "rmdir %s", any_path(m, 0));
	BOTH(m, pvfs_rmdir(m->path[s][0]));
}

static void op_unlink(struct model *m)
{
	what(m, "unlink %s", any_path(m, 0));
	BOTH(m, pvfs_unlink(m->path[s][0]));
}

static void op_rename(struct model *m)
{
	const char *from = any_path(m, 0);

	what(m, "rename %s %s", from, any_path(m, 1));
	BOTH(m, pvfs_rename(m->path[s][0], m->path[s][1]));
}

static void op_rename2(struct model *m)
{
	static const unsigned int flags[] = { 0, RENAME_NOREPLACE,
					      RENAME_EXCHANGE,
					      RENAME_NOREPLACE |
						      RENAME_EXCHANGE };
	unsigned int f = flags[chance(m, 5) ? 3 : roll(m, 3)];
	const char *from = any_path(m, 0);

	what(m, "rename2 %s %s %u", from, any_path(m, 1), f);
	BOTH(m, pvfs_rename2(m->path[s][0], m->path[s][1], f));
}

/*
 * Removes each special file at once, because a program would hang in it. Devices have numbers
 * without a driver, so an open fails.
 */
static void op_mknod(struct model *m)
{
	static const mode_t types[] = { S_IFIFO, S_IFSOCK, S_IFREG, 0,
					S_IFCHR, S_IFBLK,  S_IFDIR, S_IFLNK };
	mode_t type = types[roll(m, sizeof(types) / sizeof(types[0]))];
	mode_t mode = type | any_mode(m, 010000, 0600);
	dev_t dev = makedev(240 + roll(m, 15), 1 + roll(m, 1 << 20));
	struct stat st[SIDES] = { 0 };
	int64_t made = 0;

	what(m, "mknod %s %o %lx", any_path(m, 0), mode, (unsigned long)dev);
	BOTH(m, made = pvfs_mknod(m->path[s][0], mode, dev));
	if (made < 0)
		return;
	BOTH(m, pvfs_lstat(m->path[s][0], &st[s]));
	same_stat(m, st);
	if (!S_ISREG(st[B].st_mode))
		BOTH(m, pvfs_unlink(m->path[s][0]));
}

static void op_link(struct model *m)
{
	const char *from = any_path(m, 0);

	what(m, "link %s %s", from, any_path(m, 1));
	BOTH(m, pvfs_link(m->path[s][0], m->path[s][1]));
}

static void op_symlink(struct model *m)
{
	static const char *const targets[] = {
		"a", "d",	"../a",	  "d/d", "../d/a",
		".", "nothing", "d/../b", "e",	 "",
	};
	const char *target = targets[roll(m, 10)];
	const char *name = any_path(m, 0);

	/* the target is at most one level above the folder */
	if (!strncmp(target, "..", 2) && strncmp(name, "d/d", 3) &&
	    strncmp(name, "d/a", 3) && strncmp(name, "e/a", 3))
		return;
	what(m, "symlink %s %s", target, name);
	BOTH(m, pvfs_symlink(target, m->path[s][0]));
}

static void op_readlink(struct model *m)
{
	size_t len = chance(m, 80) ? 100 : 1 + roll(m, 3);

	memset(m->buf[A], 0, 200);
	memset(m->buf[B], 0, 200);
	what(m, "readlink %s", any_path(m, 0));
	BOTH(m, pvfs_readlink(m->path[s][0], m->buf[s], len));
	same_bytes(m, 200);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Stores the sorted names and types in buf.  Returns -1 and sets errno on an error. */
static int list(const char *path, char *buf)
{
	PVFS_DIR *dir = pvfs_opendir(path);
	struct dirent *ent;
	int n = 0;

	memset(buf, 0, 100 * 64);
	if (!dir)
		return -1;
	while ((ent = pvfs_readdir(dir)) && n < 100)
		snprintf(buf + n++ * 64, 64, "%.50s %d", ent->d_name,
			 ent->d_type);
	qsort(buf, (size_t)n, 64, by_name);
	pvfs_closedir(dir);
	return n;
}

static void op_list(struct model *m)
{
	what(m, "readdir %s", any_path(m, 0));
	BOTH(m, list(m->path[s][0], m->buf[s]));
	same_bytes(m, 100 * 64);
}

void op_name(struct model *m)
{
	static void (*const ops[])(struct model *) = {
		op_stat,    op_stat,  op_access,  op_attr,     op_truncate,
		op_mkdir,   op_rmdir, op_unlink,  op_rename,   op_rename,
		op_link,    op_list,  op_symlink, op_readlink, op_rename2,
		op_rename2, op_mknod,
	};

	ops[roll(m, sizeof(ops) / sizeof(ops[0]))](m);
}
