/* SPDX-License-Identifier: BSD-2-Clause */
/* key_rig.c - see key_rig.h. */
#include "tests/unit/key_rig.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void key_rig_open(struct key_rig *rig)
{
	strcpy(rig->dir, "/tmp/pvfs-key.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(rig->dir));
	snprintf(rig->path, sizeof(rig->path), "%s/key", rig->dir);
}

void key_rig_close(struct key_rig *rig)
{
	unlink(rig->path);
	ck_assert_int_eq(rmdir(rig->dir), 0);
}

void key_rig_write(struct key_rig *rig, const char *text)
{
	int fd;

	unlink(rig->path);
	fd = open(rig->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
}

struct keyring *key_rig_ring(struct key_rig *rig, const char *text)
{
	struct keyring *ring;

	key_rig_write(rig, text);
	ck_assert_int_eq(keyring_open(rig->path, false, NULL, &ring), 0);
	return ring;
}

struct keyring *key_rig_lasting(void)
{
	static struct keyring *ring;
	struct key_rig rig;

	if (!ring) {
		key_rig_open(&rig);
		ring = key_rig_ring(&rig, KEY_A "\n");
		key_rig_close(&rig);
	}
	return ring;
}

unsigned int key_rig_files(const struct key_rig *rig)
{
	DIR *d = opendir(rig->dir);
	unsigned int n = 0;

	ck_assert_ptr_nonnull(d);
	for (struct dirent *de; (de = readdir(d));)
		n += de->d_name[0] != '.';
	closedir(d);
	return n;
}
