/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mount.c - what a mount needs from this host, /dev/shm, and file systems of fstab that are
 * not mounted.
 */
#include <errno.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/tools/admin/doctor/checks.h"
#include "common/util/disk_space.h"

/*
 * Returns the length of the longest mount point of the table at or above path, except
 * "/"; 0: none.
 */
static size_t mount_point(const char *table, const char *path)
{
	FILE *f = setmntent(table, "re");
	size_t longest = 0;
	struct mntent *m;

	while (f && (m = getmntent(f))) {
		size_t n = strlen(m->mnt_dir);

		while (n && m->mnt_dir[n - 1] == '/')
			n--;
		if (n > longest && !strncmp(path, m->mnt_dir, n) &&
		    (!path[n] || path[n] == '/'))
			longest = n;
	}
	if (f)
		endmntent(f);
	return longest;
}

size_t unmounted_above(const struct doctor *d, const char *path)
{
	char table[PATH_MAX];
	size_t wanted = mount_point(host_path(d, table, "/etc/fstab"), path);

	if (access(host_path(d, table, "/proc/self/mounts"), R_OK))
		return 0; /* unknown */
	return wanted > mount_point(table, path) ? wanted : 0;
}

#define MOUNTED_MOST 64u
#define SHM_LEAST (16ull << 20)

bool fstab_has_pvfs(char *line)
{
	char *save = NULL, *word = strtok_r(line, " \t\n", &save);

	if (!word || *word == '#')
		return false;
	word = strtok_r(NULL, " \t\n", &save);
	word = word ? strtok_r(NULL, " \t\n", &save) : NULL;
	return word && (!strcmp(word, "fuse.pvfs") || !strcmp(word, "pvfs"));
}

static bool is_pvfs(const struct mntent *m)
{
	return !strcmp(m->mnt_type, "fuse.pvfs") ||
	       !strcmp(m->mnt_type, "pvfs");
}

static bool mounts_pvfs(const struct doctor *d)
{
	char path[PATH_MAX], *line = NULL;
	FILE *f = fopen(host_path(d, path, "/etc/fstab"), "re");
	bool has = false;
	size_t len = 0;

	while (f && !has && getline(&line, &len, f) > 0)
		has = fstab_has_pvfs(line);
	free(line);
	if (f)
		fclose(f);
	return has;
}

static bool in_path(const char *name)
{
	const char *dir = secure_getenv("PATH");
	char path[PATH_MAX];

	while (dir && *dir) {
		int len = (int)strcspn(dir, ":");

		snprintf(path, sizeof(path), "%.*s/%s", len, dir, name);
		if (!access(path, X_OK))
			return true;
		dir += len + (dir[len] == ':');
	}
	return false;
}

static bool is_mounted(const struct doctor *d, const char *dir)
{
	for (unsigned int i = 0; i < d->nmounted; i++)
		if (!strcmp(d->mounted[i].mount, dir))
			return true;
	return false;
}

/*
 * Reports lines of fstab that are mounted at boot, and are not mounted now.  systemd
 * mounts some at their first use.
 */
static void find_unmounted(const struct doctor *d)
{
	char table[PATH_MAX];
	FILE *f = setmntent(host_path(d, table, "/etc/fstab"), "re");
	struct mntent *m;

	while (f && (m = getmntent(f)))
		if (is_pvfs(m) && !hasmntopt(m, "noauto") &&
		    !hasmntopt(m, "x-systemd.automount") &&
		    !is_mounted(d, m->mnt_dir))
			doctor_find(d,
				    "mount it, and read what that prints; "
				    "systemctl status and journalctl of its "
				    "mount unit; noauto in fstab if it is not "
				    "wanted",
				    "%s of /etc/fstab is not mounted",
				    m->mnt_dir);
	if (f)
		endmntent(f);
}

int mounted_find(struct doctor *d)
{
	char table[PATH_MAX];
	FILE *f = setmntent(host_path(d, table, "/proc/self/mounts"), "re");
	struct subject *s = NULL;
	struct mntent *m;
	int rc = 0;

	while (f && !rc && d->nmounted < MOUNTED_MOST && (m = getmntent(f))) {
		if (strcmp(m->mnt_type, "fuse.pvfs") != 0)
			continue;
		s = reallocarray(d->mounted, d->nmounted + 1, sizeof(*s));
		rc = s ? 0 : -ENOMEM;
		if (rc)
			break;
		d->mounted = s;
		s += d->nmounted++;
		*s = (struct subject){ .name = "mount" };
		snprintf(s->mount, sizeof(s->mount), "%s", m->mnt_dir);
		snprintf(s->uri, sizeof(s->uri), "%.200s", m->mnt_dir);
	}
	if (f)
		endmntent(f);
	return rc;
}

void check_fuse(const struct doctor *d, const struct subject *s)
{
	char path[PATH_MAX];

	(void)s;
	if (!mounts_pvfs(d) && !in_path("pvfs-fuse"))
		return;
	find_unmounted(d);
	if (access(host_path(d, path, "/dev/fuse"), R_OK | W_OK))
		doctor_find(d,
			    errno == ENOENT
				    ? "modprobe fuse, and its name in "
				      "/etc/modules-load.d"
				    : "chmod 666 /dev/fuse, by a rule of udev",
			    "%s, which a mount needs: %s", path,
			    strerror(errno));
	if (!in_path("fusermount3"))
		doctor_find(d, "apt-get install fuse3",
			    "there is no fusermount3 in PATH: users cannot "
			    "mount and unmount");
}

void check_shm(const struct doctor *d, const struct subject *s)
{
	char path[PATH_MAX];
	struct statvfs st;
	uint64_t left;

	(void)s;
	if (statvfs(host_path(d, path, "/dev/shm"), &st)) {
		doctor_find(d, "mount -t tmpfs tmpfs /dev/shm",
			    "%s: %s: MPI and programs that share memory fail",
			    path, strerror(errno));
		return;
	}
	left = disk_space_left(&st);
	if (left < SHM_LEAST)
		doctor_find(d,
			    "remove what lies there, or mount -o "
			    "remount,size=50% /dev/shm",
			    "%s has %llu KiB left", path,
			    (unsigned long long)(left >> 10));
}
