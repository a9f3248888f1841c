/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_umask.c - new files obey the current umask, and the library reads it without an effect on
 * other threads.
 *
 * usage: lib_umask DIR
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include <pvfs.h>

static atomic_bool over;
static const char *dir;

static void makes(mode_t mask, mode_t mode)
{
	char path[256];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/umask", dir);
	umask(mask);
	fd = pvfs_open(path, O_WRONLY | O_CREAT | O_EXCL, mode);
	EXPECT(fd >= 0 && pvfs_fstat(fd, &st) == 0 && pvfs_close(fd) == 0);
	EXPECT((st.st_mode & 07777) == (mode & ~mask));
	EXPECT(pvfs_unlink(path) == 0 && pvfs_mkdir(path, mode) == 0);
	EXPECT(pvfs_stat(path, &st) == 0 && pvfs_rmdir(path) == 0);
	EXPECT((st.st_mode & 07777) == (mode & ~mask));
	EXPECT(umask(mask) == mask);
}

/* Creates its own files, on the local disk. */
static void *neighbour(void *arg)
{
	char path[] = "/tmp/lib_umask.XXXXXX", *name = mkdtemp(path);
	struct stat st;

	EXPECT(name);
	while (!atomic_load(&over)) {
		EXPECT(rmdir(path) == 0 && mkdir(path, 0777) == 0);
		EXPECT(stat(path, &st) == 0);
		EXPECT((st.st_mode & 07777) == 0755);
	}
	EXPECT(rmdir(path) == 0);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;
	int i;

	EXPECT(argc == 2);
	dir = argv[1];
	makes(0, 0777);
	makes(027, 0666);
	makes(0777, 0777);
	makes(022, 01777);
	EXPECT(pthread_create(&other, NULL, neighbour, NULL) == 0);
	for (i = 0; i < 300; i++)
		makes(022, 0666);
	atomic_store(&over, true);
	EXPECT(pthread_join(other, NULL) == 0);
	makes(077, 0666);
	puts("ok");
	return 0;
}
