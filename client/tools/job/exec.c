/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exec.c - runs a command with the job's file system, and optionally a mount of its
 * own.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/tools/job/ask.h"
#include "common/util/clock.h"
#include "client/tools/job/parts/memory.h"
#include "client/tools/job/parts/place.h"
#include "client/tools/job/parts/proc.h"

#define MOUNT_MS 15000u

/* Hides mounts that this process makes from now on.  0 or -errno. */
static int hide_mounts(void)
{
	int rc = geteuid() || unshare(CLONE_NEWNS) ? memory_space() : 0;

	if (rc)
		return rc;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ? -errno : 0;
}

static int wait_mounted(const char *dir, pid_t pid)
{
	uint64_t deadline = clock_after_ms(MOUNT_MS);

	while (!mount_is_ours(dir)) {
		if (!proc_wait(pid, 0))
			return tool_say(&job_tool,
					"%s: pvfs-fuse did not mount it", dir);
		if (clock_now() >= deadline)
			return tool_say(&job_tool, "%s: not mounted in time",
					dir);
		usleep(10000);
	}
	return 0;
}

static int mount_here(const char *dir, pid_t *pid)
{
	char file[JOB_PATH];
	char *argv[] = { file, "/pvfs", (char *)dir, "-f", NULL };
	struct spawn s = { .argv = argv,
			   .log = "/dev/stderr",
			   .death = SIGKILL };
	int rc;

	if (access("/dev/fuse", R_OK | W_OK))
		return tool_fail(&job_tool, "/dev/fuse");
	if (job_program("pvfs-fuse", file))
		return tool_say(&job_tool, "pvfs-fuse is not installed");
	rc = hide_mounts();
	if (rc)
		return tool_say(&job_tool, "no mount of one's own here: %s",
				strerror(-rc));
	setenv("PVFS_LOG", "error", 0);
	rc = proc_spawn(&s);
	if (rc < 0)
		return tool_say(&job_tool, "pvfs-fuse: %s", strerror(-rc));
	*pid = rc;
	return wait_mounted(dir, *pid);
}

static int status_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

static int run_program(char **argv)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execvp(argv[0], argv);
		tool_fail(&job_tool, argv[0]);
		_exit(127);
	}
	if (pid < 0)
		return tool_fail(&job_tool, argv[0]);
	signal(SIGINT, SIG_IGN); /* for the command: a terminal signals both */
	signal(SIGQUIT, SIG_IGN);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return status_of(status);
}

int exec_run(const struct job *job, const struct env_opts *o, char **argv)
{
	struct env_opts none = { .mount = o->mount };
	pid_t fuse = 0;
	int rc;

	if (!o->mount)
		return env_set(job, o) ? 1 : run_program(argv);
	rc = env_set(job, &none);
	if (!rc)
		rc = mount_here(o->mount, &fuse);
	if (!rc)
		rc = env_set(job, o);
	if (!rc)
		rc = run_program(argv);
	if (fuse) {
		mount_detach(o->mount);
		kill(fuse, SIGKILL);
		waitpid(fuse, NULL, 0);
	}
	return rc;
}
