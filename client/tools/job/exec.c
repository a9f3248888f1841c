/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exec.c - the environment of programs that use the job's file system, and a command that runs
 * with it, optionally with a mount of its own.
 */
#include <errno.h>
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
#include "client/tools/job/parts/memory.h"
#include "client/tools/job/parts/place.h"
#include "client/tools/job/parts/proc.h"
#include "common/util/clock.h"

#define MOUNT_MS 15000u

/* ---- the environment ---- */

/* Puts a library in front of LD_PRELOAD. */
static int preload_library(const char *name)
{
	const char *had = secure_getenv("LD_PRELOAD");
	char path[JOB_PATH], all[4096];

	if (job_library(name, path))
		return tool_say(&job_tool, "%s is not installed", name);
	if (strpbrk(path, " :"))
		return tool_say(&job_tool,
				"%s: LD_PRELOAD takes no blanks and colons in "
				"a path: install it elsewhere",
				path);
	if (snprintf(all, sizeof(all), "%s%s%s", path, had && *had ? ":" : "",
		     had ? had : "") >= (int)sizeof(all))
		return tool_say(&job_tool, "LD_PRELOAD is too long");
	return setenv("LD_PRELOAD", all, 1) ? 1 : 0;
}

int env_set(const struct job *job, const struct env_opts *o)
{
	char tab[JOB_PATH];

	if (job_path(job, "pvfstab", tab))
		return tool_say(&job_tool, "%s: too long", job->path);
	if (access(tab, R_OK) && errno == ENOENT)
		return tool_say(&job_tool,
				"job %s of yours is not on this host, or has "
				"ended",
				job->id);
	if (access(tab, R_OK))
		return tool_fail(&job_tool, tab);
	setenv("PVFS_JOB_ID", job->id, 1);
	setenv("PVFSTAB_FILE", tab, 1);
	if (o->preload && preload_library("libpvfs-preload.so"))
		return 1;
	return o->mpi ? preload_library("libmpio-pvfs.so") : 0;
}

static void print_var(const char *name)
{
	const char *val = secure_getenv(name);

	if (!val)
		return;
	printf("export %s='", name);
	for (; *val; val++)
		if (*val == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*val);
	puts("'");
}

/* Prints where an installed library is, for users who load it themselves. */
static void print_library(const char *name, const char *library)
{
	char path[JOB_PATH];

	if (job_library(library, path))
		return;
	setenv(name, path, 1);
	print_var(name);
}

/* ---- a command, and its mount ---- */

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

/* ---- the commands env and exec ---- */

struct env_args {
	struct env_opts o;
	const char *id;
};

static int set_option(void *arg, int opt, const char *val)
{
	struct env_args *a = arg;

	if (opt == 'i')
		a->id = val;
	else if (opt == 'p')
		a->o.preload = true;
	else if (opt == 'M')
		a->o.mpi = true;
	else
		a->o.mount = val;
	return 0;
}

static const struct option longs[] = {
	{ "id", required_argument, NULL, 'i' },
	{ "preload", no_argument, NULL, 'p' },
	{ "mpi", no_argument, NULL, 'M' },
	{ "mount", required_argument, NULL, 'm' },
	{ 0 },
};

static const struct tool env_tool = {
	.name = "pvfs-job env",
	.usage = "[-i ID] [-p] [-M]",
	.help = "Lines to export, for eval, on each node of the job.\n"
		"  -i, --id ID            the job (PVFS_JOB_ID, SLURM_JOB_ID, or the only one)\n"
		"  -p, --preload          with LD_PRELOAD: every program sees /pvfs\n"
		"  -M, --mpi              with LD_PRELOAD: MPI-IO of MPICH takes pvfs:/pvfs/...\n",
	.shorts = "i:pM",
	.longs = longs,
	.option = set_option,
};

static const struct tool exec_tool = {
	.name = "pvfs-job exec",
	.usage = "[-i ID] [-p] [-M] [-m DIR] COMMAND...",
	.help = "Runs a command that finds the job's file system at /pvfs.\n"
		"  -i, --id ID            the job (PVFS_JOB_ID, SLURM_JOB_ID, or the only one)\n"
		"  -p, --preload          every program sees /pvfs (pvfs-preload(1))\n"
		"  -M, --mpi              MPI-IO of MPICH takes pvfs:/pvfs/...\n"
		"  -m, --mount DIR        mounted there for this command alone\n"
		"Its exit status is the command's.\n",
	.shorts = "+i:pMm:",
	.longs = longs,
	.option = set_option,
};

int cmd_env(int argc, char **argv)
{
	struct env_args a = { .id = NULL };
	struct job job;

	if (tool_options(&env_tool, argc, argv, &a) < argc || a.o.mount)
		tool_usage(&env_tool);
	if (job_find(&job, a.id, false) || env_set(&job, &a.o))
		return 1;
	print_var("PVFS_JOB_ID");
	print_var("PVFS_JOB_DIR");
	print_var("PVFSTAB_FILE");
	print_library("PVFS_JOB_PRELOAD", "libpvfs-preload.so");
	print_library("PVFS_JOB_MPI", "libmpio-pvfs.so");
	if (a.o.preload || a.o.mpi)
		print_var("LD_PRELOAD");
	return tool_done(&job_tool, 0);
}

int cmd_exec(int argc, char **argv)
{
	struct env_args a = { .id = NULL };
	int i = tool_options(&exec_tool, argc, argv, &a);
	struct job job;

	if (i == argc)
		tool_usage(&exec_tool);
	return job_find(&job, a.id, false) ? 1 : exec_run(&job, &a.o, argv + i);
}
