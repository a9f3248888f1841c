/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-job - a file system for the time of a job. */
#include <string.h>

#include "client/tools/job/parts/job.h"

const struct tool job_tool = {
	.name = "pvfs-job",
	.usage = "start|stop|status|env|exec|stage-in|stage-out [OPTION...]",
	.help = "A file system of the nodes of a job, for its user, as long as the job lives.\n"
		"  start      starts it, on this host, by mpiexec or by srun\n"
		"  stop       ends it, with all that is in it, within two seconds\n"
		"  status     how each node does\n"
		"  env        what to export, for eval\n"
		"  exec       runs a command with it\n"
		"  stage-in   copies a tree to it, by all nodes\n"
		"  stage-out  copies a tree from it\n"
		"pvfs-job COMMAND --help says more of each.\n",
	.shorts = "+",
};

static const struct job_command {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "start", cmd_start },	   { "stop", cmd_stop },
	{ "status", cmd_status },  { "env", cmd_env },
	{ "exec", cmd_exec },	   { "node", cmd_node },
	{ "stage-in", cmd_stage }, { "stage-out", cmd_stage },
	{ "copier", cmd_copier },  { NULL, NULL },
};

int main(int argc, char **argv)
{
	const struct job_command *c = commands;
	const char *name = argc > 1 ? argv[1] : "";

	while (c->name && strcmp(c->name, name))
		c++;
	if (c->name)
		return c->run(argc - 1, argv + 1);
	tool_options(&job_tool, argc, argv, NULL);
	tool_usage(&job_tool);
}
