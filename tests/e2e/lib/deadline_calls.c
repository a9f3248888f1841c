/* SPDX-License-Identifier: BSD-2-Clause */
/* deadline_calls.c - see deadline_calls.h. */
#include "tests/e2e/lib/deadline_calls.h"

#include <fcntl.h>
#include <pthread.h>
#include <pvfs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>

#define MANY 10

char path[NAMES][512];
int rd = -1, wr = -1, ap = -1, dir = -1;
char *data;
static struct stat st;

static const char *const name[NAMES] = { "file",  "fresh", "dir",
					 "empty", "link",  "written",
					 "new",	  "",	   "gone" };

void calls_init(const char *folder)
{
	int i;

	for (i = 0; i < NAMES; i++)
		snprintf(path[i], sizeof(path[i]), "%s/%s", folder, name[i]);
	data = calloc(1, LEN);
}

static int c_open(void)
{
	return pvfs_open(path[FILE_], O_RDONLY);
}
static int c_open_write(void)
{
	return pvfs_open(path[FILE_], O_RDWR);
}
static int c_open_trunc(void)
{
	return pvfs_open(path[FILE_], O_RDWR | O_TRUNC);
}
static int c_creat(void)
{
	return pvfs_creat(path[NEW], 0666);
}
static int c_close(void)
{
	return pvfs_close(wr);
}
static int c_read_small(void)
{
	return (int)pvfs_pread(rd, data, 100, 0);
}
static int c_read_large(void)
{
	return (int)pvfs_pread(rd, data, LEN, 0);
}
static int c_read_end(void)
{
	return (int)pvfs_pread(rd, data, LEN, LEN);
}
static void *write_next(void *arg)
{
	return (void *)(intptr_t)pvfs_write(wr, data, 100);
}
/* The threads use one file offset, so each waits for the others, and all wait for the servers. */
static int c_write_by_many(void)
{
	pthread_t t[MANY];
	intptr_t rc = 0;
	void *one;

	for (int i = 0; i < MANY; i++)
		if (pthread_create(&t[i], NULL, write_next, NULL))
			abort();
	for (int i = 0; i < MANY; i++) {
		pthread_join(t[i], &one);
		if ((intptr_t)one < 0)
			rc = (intptr_t)one;
	}
	return (int)rc;
}
static int c_write_small(void)
{
	return (int)pvfs_pwrite(wr, data, 100, 0);
}
static int c_write_large(void)
{
	return (int)pvfs_pwrite(wr, data, LEN, 0);
}
static int c_append(void)
{
	return (int)pvfs_write(ap, data, 100);
}
static int c_write_close(void)
{
	pvfs_pwrite(wr, data, LEN, 0);
	return pvfs_close(wr);
}
static int c_lists(bool write)
{
	char *mem[] = { data, data + 200000 };
	int len[] = { 100000, 100000 };
	int64_t off[] = { 0, 300000 };
	int32_t flen[] = { 100000, 100000 };

	return write ? pvfs_write_list(wr, 2, mem, len, 2, off, flen)
		     : pvfs_read_list(rd, 2, mem, len, 2, off, flen);
}
static int c_read_list(void)
{
	return c_lists(false);
}
static int c_write_list(void)
{
	return c_lists(true);
}
static int c_seek_end(void)
{
	return (int)pvfs_lseek(rd, 0, SEEK_END);
}
static int c_stat(void)
{
	return pvfs_stat(path[FILE_], &st);
}
static int c_stat_ask(void)
{
	return pvfs_stat(path[WRITTEN], &st);
}
static int c_stat_none(void)
{
	return pvfs_stat(path[GONE], &st);
}
static int c_fstat(void)
{
	return pvfs_fstat(rd, &st);
}
static int c_fstat_ask(void)
{
	return pvfs_fstat(wr, &st);
}
static int c_access(void)
{
	return pvfs_access(path[FILE_], R_OK);
}
static int c_chmod(void)
{
	return pvfs_chmod(path[FILE_], 0600);
}
static int c_fchmod(void)
{
	return pvfs_fchmod(wr, 0600);
}
static int c_utimens(void)
{
	return pvfs_utimens(path[FILE_], NULL);
}
static int c_truncate(void)
{
	return pvfs_truncate(path[FILE_], 10);
}
static int c_ftruncate(void)
{
	return pvfs_ftruncate(wr, 10);
}
static int c_mkdir(void)
{
	return pvfs_mkdir(path[NEW], 0777);
}
static int c_rmdir(void)
{
	return pvfs_rmdir(path[EMPTY]);
}
static int c_unlink(void)
{
	return pvfs_unlink(path[FRESH]);
}
static int c_rename(void)
{
	return pvfs_rename(path[FILE_], path[FRESH]);
}
static int c_link(void)
{
	return pvfs_link(path[FILE_], path[NEW]);
}
static int c_symlink(void)
{
	return pvfs_symlink("x", path[NEW]);
}
static int c_readlink(void)
{
	return (int)pvfs_readlink(path[LINK], data, 99);
}
static int c_getdents(void)
{
	return (int)pvfs_getdents(dir, data, LEN);
}
static int c_statfs(void)
{
	struct statfs fs;

	return pvfs_statfs(path[ALL], &fs);
}
static int c_fsync(void)
{
	return pvfs_fsync(wr);
}
static int c_flock(void)
{
	return pvfs_flock(wr, LOCK_EX | LOCK_NB);
}
static int c_flock_wait(void)
{
	return pvfs_flock(ap, LOCK_EX);
}
static int c_setlk(void)
{
	struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_END };

	return pvfs_fcntl(wr, F_SETLK, &lk);
}
static int c_mmap(void)
{
	return pvfs_mmap(NULL, LEN, PROT_READ, MAP_PRIVATE, rd, 0) == MAP_FAILED
		       ? -1
		       : 0;
}
static int c_no_append(void)
{
	return pvfs_fcntl(ap, F_SETFL, 0);
}
static int c_dup2(void)
{
	return pvfs_dup2(0, wr);
}
static int c_servers(void)
{
	struct pvfs_server list[2];

	return pvfs_servers(path[ALL], list, 2);
}
static int c_layout(void)
{
	struct pvfs_layout layout;

	return pvfs_layout(path[FILE_], &layout);
}

const struct call calls[] = {
	{ "open", c_open, false },
	{ "open for writing", c_open_write, false },
	{ "open O_TRUNC", c_open_trunc, false },
	{ "creat", c_creat, false },
	{ "stat", c_stat, false },
	{ "stat of an open file", c_stat_ask, false },
	{ "stat of nothing", c_stat_none, false },
	{ "access", c_access, false },
	{ "chmod", c_chmod, false },
	{ "utimens", c_utimens, false },
	{ "truncate", c_truncate, false },
	{ "mkdir", c_mkdir, false },
	{ "rmdir", c_rmdir, false },
	{ "unlink", c_unlink, false },
	{ "rename", c_rename, false },
	{ "link", c_link, false },
	{ "symlink", c_symlink, false },
	{ "readlink", c_readlink, false },
	{ "statfs", c_statfs, false },
	{ "servers", c_servers, false },
	{ "layout", c_layout, false },
	{ "read 100", c_read_small, true },
	{ "read 1M", c_read_large, true },
	{ "read after the end", c_read_end, true },
	{ "write 100", c_write_small, true },
	{ "write 100, by ten threads", c_write_by_many, true },
	{ "write 1M", c_write_large, true },
	{ "append", c_append, true },
	{ "write 1M, close", c_write_close, true },
	{ "close", c_close, true },
	{ "read_list", c_read_list, true },
	{ "write_list", c_write_list, true },
	{ "lseek SEEK_END", c_seek_end, true },
	{ "fstat", c_fstat, true },
	{ "fstat of a writer", c_fstat_ask, true },
	{ "fchmod", c_fchmod, true },
	{ "ftruncate", c_ftruncate, true },
	{ "getdents", c_getdents, true },
	{ "fsync", c_fsync, true },
	{ "flock", c_flock, true },
	{ "flock, waiting", c_flock_wait, true },
	{ "fcntl F_SETLK", c_setlk, true },
	{ "mmap", c_mmap, true },
	{ "fcntl F_SETFL", c_no_append, true },
	{ "dup2", c_dup2, true },
	{ NULL, NULL, false },
};
