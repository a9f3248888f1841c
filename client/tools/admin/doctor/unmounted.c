/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unmounted.c - file systems of fstab that are not mounted where a server has its
 * storage.
 */
#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/tools/admin/doctor/checks.h"

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
