/* SPDX-License-Identifier: BSD-2-Clause */
/* mounted.c - detaches a mount, whatever its daemon does. */
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "client/tools/job/parts/place.h"
#include "client/tools/job/parts/proc.h"

bool mount_is_ours(const char *dir)
{
	FILE *f = setmntent("/proc/self/mounts", "r");
	struct mntent *m;
	bool found = false;

	while (f && !found && (m = getmntent(f)))
		found = !strcmp(m->mnt_dir, dir) &&
			!strcmp(m->mnt_type, "fuse.pvfs");
	if (f)
		endmntent(f);
	return found;
}

/* fusermount3 has the right to unmount.  The wait for it is limited. */
static void by_helper(const char *dir)
{
	pid_t pid = fork();

	if (!pid) {
		execlp("fusermount3", "fusermount3", "-uz", dir, (char *)NULL);
		_exit(127);
	}
	if (pid > 0 && proc_wait(pid, clock_after_ms(500)))
		kill(pid, SIGKILL);
}

void mount_detach(const char *dir)
{
	if (umount2(dir, MNT_DETACH | UMOUNT_NOFOLLOW))
		by_helper(dir);
}
