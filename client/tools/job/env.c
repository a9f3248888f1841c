/* SPDX-License-Identifier: BSD-2-Clause */
/* env.c - the environment of programs that use the job's file system. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/tools/job/ask.h"

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
