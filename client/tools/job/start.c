/* SPDX-License-Identifier: BSD-2-Clause */
/* start.c - starts a job, and runs a command in it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/tools/job/ask.h"
#include "common/util/clock.h"
#include "common/util/number.h"
#include "client/tools/job/head/head.h"
#include "client/tools/job/parts/memory.h"

enum {
	OPT_HOSTS = 256,
	OPT_STORAGE,
	OPT_SIZE,
	OPT_PRIVATE,
	OPT_LOG,
	OPT_LOST,
	OPT_EXEC
};

struct start {
	struct head h;
	const char *id, *launcher;
	uint64_t n;
	bool private, exec;
	struct env_opts env;
	struct job_link link;
};

/*
 * Returns the number of hosts in the list "a,b".  0: a name is empty, or begins with "-", so that
 * mpiexec would take it for an option.
 */
static unsigned int count_hosts(const char *hosts)
{
	unsigned int n = 0;

	for (;; hosts++) {
		size_t len = strcspn(hosts, ",");

		if (!len || *hosts == '-')
			return 0;
		n++;
		hosts += len;
		if (!*hosts)
			return n;
	}
}

static int place_option(struct start *s, int opt, const char *val)
{
	if (opt == OPT_STORAGE)
		s->h.conf.storage = val;
	else if (opt == OPT_LOG)
		s->h.conf.log = val;
	else if (opt == 'm')
		s->h.conf.mount = val;
	else
		return -1;
	return val[0] == '/' && strlen(val) < JOB_PATH / 2 ? 0 : -1;
}

static int set_option(void *arg, int opt, const char *val)
{
	struct start *s = arg;

	switch (opt) {
	case 'i':
		s->id = val;
		return 0;
	case 'n':
		s->n = tool_number(val);
		return 0;
	case 'l':
		s->launcher = val;
		return 0;
	case OPT_HOSTS:
		s->h.hosts = val;
		return count_hosts(val) ? 0 : -1;
	case OPT_SIZE:
		s->h.conf.size = tool_number(val);
		return 0;
	case OPT_PRIVATE:
		s->private = true;
		return 0;
	case OPT_LOST:
		s->h.conf.lost_s = tool_number(val);
		return 0;
	case 't':
		s->h.timeout_s = tool_number(val);
		return 0;
	case 'p':
		s->env.preload = true;
		return 0;
	case 'M':
		s->env.mpi = true;
		return 0;
	case OPT_EXEC:
		s->exec = true;
		return 0;
	default:
		return place_option(s, opt, val);
	}
}

static const struct tool_value values[] = {
	{ 'n', 1, JOB_NODES_MAX, NULL },
	{ 't', 1, 3600, NULL },
	{ OPT_SIZE, 32ull << 20, 1ull << 50, NULL },
	{ OPT_LOST, 1, 86400, NULL },
	{ OPT_HOSTS, 0, 0, "names with a comma between two of them" },
	{ OPT_STORAGE, 0, 0, "an absolute path" },
	{ OPT_LOG, 0, 0, "an absolute path" },
	{ 'm', 0, 0, "an absolute path" },
	{ 0 },
};

static const struct option longs[] = {
	{ "id", required_argument, NULL, 'i' },
	{ "nodes", required_argument, NULL, 'n' },
	{ "launcher", required_argument, NULL, 'l' },
	{ "hosts", required_argument, NULL, OPT_HOSTS },
	{ "storage", required_argument, NULL, OPT_STORAGE },
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "mount", required_argument, NULL, 'm' },
	{ "private", no_argument, NULL, OPT_PRIVATE },
	{ "log", required_argument, NULL, OPT_LOG },
	{ "timeout", required_argument, NULL, 't' },
	{ "lost", required_argument, NULL, OPT_LOST },
	{ "preload", no_argument, NULL, 'p' },
	{ "mpi", no_argument, NULL, 'M' },
	{ "exec", no_argument, NULL, OPT_EXEC },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-job start",
	.usage =
		"[-n NODES] [-l fork|mpiexec|srun] [OPTION...] [--exec COMMAND...]",
	.help = "Starts a file system on the nodes of a job, for its user alone.\n"
		"  -i, --id ID            the job (PVFS_JOB_ID, SLURM_JOB_ID, else a new one)\n"
		"  -n, --nodes N          nodes (all of the job's; 1 by hand)\n"
		"  -l, --launcher HOW     srun, mpiexec or fork: processes on this host\n"
		"  --hosts A,B,...        for mpiexec\n"
		"  --storage DIR          a folder of each node's disk; else it is memory\n"
		"  --size SIZE            memory of each node at most (half of what is left)\n"
		"  -m, --mount DIR        mounts it there on each node, where /dev/fuse may be used\n"
		"  --private              the mount is for --exec's command alone\n"
		"  --log DIR              keeps the daemons' logs there\n"
		"  -t, --timeout S        for all to be up (60)\n"
		"  --lost S               nodes end after S seconds without a word of us (30)\n"
		"  --exec COMMAND...      runs it with the environment, and stops\n"
		"  -p, --preload          for it: every program sees /pvfs\n"
		"  -M, --mpi              for it: MPI-IO of MPICH takes pvfs:/pvfs/...\n",
	.shorts = "+i:n:l:m:t:pM",
	.longs = longs,
	.values = values,
	.option = set_option,
};

static enum launcher choose_launcher(const struct start *s)
{
	static const char *const name[] = { "auto", "fork", "mpiexec", "srun" };
	char path[JOB_PATH];

	for (int i = 0; s->launcher && i < 4; i++)
		if (!strcmp(s->launcher, name[i]) && i)
			return (enum launcher)i;
	if (s->launcher && strcmp(s->launcher, "auto"))
		return LAUNCH_AUTO;
	if (s->h.hosts)
		return LAUNCH_MPIEXEC;
	return secure_getenv("SLURM_JOB_ID") && !job_program("srun", path)
		       ? LAUNCH_SRUN
		       : LAUNCH_FORK;
}

static unsigned int count_nodes(const struct start *s)
{
	const char *slurm = secure_getenv("SLURM_JOB_NUM_NODES");
	uint64_t n;

	if (s->n)
		return (unsigned int)s->n;
	if (s->h.hosts)
		return count_hosts(s->h.hosts);
	if (s->h.how == LAUNCH_SRUN && slurm &&
	    !number_parse(slurm, JOB_NODES_MAX, &n) && n)
		return (unsigned int)n;
	return 1;
}

static int prepare_start(struct start *s)
{
	struct head *h = &s->h;

	h->how = choose_launcher(s);
	if (h->how == LAUNCH_AUTO)
		return tool_say(&job_tool,
				"--launcher %s: there are fork, "
				"mpiexec and srun",
				s->launcher);
	h->n = count_nodes(s);
	if (s->private && !(h->conf.mount && s->exec))
		return tool_say(&job_tool, "--private needs --mount and --exec "
					   "(or: pvfs-job exec --mount)");
	if (s->private) {
		s->env.mount = h->conf.mount;
		h->conf.mount = NULL;
	}
	if (h->how == LAUNCH_FORK && !h->conf.size)
		h->conf.size = memory_half() / h->n;
	h->follow = s->exec;
	h->node = calloc(h->n, sizeof(h->node[0]));
	return h->node ? job_find(&h->place.job, s->id, true)
		       : tool_fail(&job_tool, "nodes");
}

static int start_head(struct start *s)
{
	int fd[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return tool_fail(&job_tool, "socket");
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(fd[0]);
		head_run(&s->h, fd[1]);
	}
	close(fd[1]);
	if (pid > 0 && !link_init(&s->link, fd[0]))
		return 0;
	return tool_fail(&job_tool, "fork");
}

/* Waits until the head is ready, or has ended. */
static int wait_ready(struct start *s)
{
	uint64_t deadline = clock_after_ms(1000 * s->h.timeout_s + 10000);
	char *line;

	while (!link_wait(&s->link, deadline, &line)) {
		if (!strncmp(line, "note ", 5))
			tool_say(&job_tool, "%s", line + 5);
		else if (!strncmp(line, "error ", 6))
			return tool_say(&job_tool, "not started: %s", line + 6);
		else if (!strncmp(line, "ready ", 6))
			return strcmp(line + 6, "unbounded")
				       ? 0
				       : (tool_say(&job_tool,
						   "no name spaces of users "
						   "here: --size bounds nothing, "
						   "the data is in /dev/shm"),
					  0);
	}
	return tool_say(&job_tool, "not started: no word of what was begun");
}

static int run_command(struct start *s, char **argv)
{
	int rc = exec_run(&s->h.place.job, &s->env, argv);
	int ended = ask_stop(&s->h.place.job);

	return rc ? rc : ended;
}

int cmd_start(int argc, char **argv)
{
	static struct start s;
	int i, rc;

	s = (struct start){ .h = { .timeout_s = 60,
				   .conf = { .lost_s = 30 } } };
	i = tool_options(&tool, argc, argv, &s);
	if (s.exec != (i < argc))
		tool_usage(&tool);
	rc = prepare_start(&s);
	if (!rc)
		rc = start_head(&s);
	if (!rc)
		rc = wait_ready(&s);
	if (!rc && s.exec)
		rc = run_command(&s, argv + i);
	else if (!rc)
		printf("job %s: %u nodes; eval \"$(pvfs-job env --id %s)\" in "
		       "shells that use it\n",
		       s.h.place.job.id, s.h.n, s.h.place.job.id);
	link_close(&s.link);
	free(s.h.node);
	return tool_done(&job_tool, rc);
}
