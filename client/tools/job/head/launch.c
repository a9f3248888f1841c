/* SPDX-License-Identifier: BSD-2-Clause */
/* launch.c - starts supervisors on all nodes, with srun, mpiexec or fork, and ends them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/tools/job/head/head.h"
#include "client/tools/job/parts/proc.h"
#include "common/util/clock.h"

#define WORDS 40u
#define ASK_MS 900u /* ms in which nodes can end by themselves */

void head_stop(struct head *h, const char *why)
{
	if (h->state >= HEAD_STOP)
		return;
	snprintf(h->why, sizeof(h->why), "%s", why);
	h->state = HEAD_STOP;
	h->stop_sent = clock_now();
	h->deadline = clock_after_ms(ASK_MS);
	for (unsigned int i = 0; i < h->n; i++)
		link_say(&h->node[i].link, "stop\n");
}

struct launch_command {
	char *argv[WORDS];
	unsigned int n;
};

static void add_word(struct launch_command *c, const char *word)
{
	if (c->n + 1 < WORDS)
		c->argv[c->n++] = (char *)word;
	c->argv[c->n] = NULL;
}

static void add_two(struct launch_command *c, const char *option,
		    const char *val)
{
	if (!val)
		return;
	add_word(c, option);
	add_word(c, val);
}

/* -k: srun lets the other nodes run on if a node fails; -W0: also after one has ended. */
static void by_srun(struct launch_command *c, const char *n, const char *file)
{
	add_word(c, file);
	add_two(c, "-N", n);
	add_two(c, "-n", n);
	add_word(c, "--ntasks-per-node=1");
	add_word(c, "--overlap");
	add_word(c, "--mpi=none");
	add_word(c, "--export=ALL");
	add_word(c, "--input=none");
	add_word(c, "--kill-on-bad-exit=0");
	add_word(c, "-k");
	add_word(c, "-W0");
	add_word(c, "-Jpvfs-job");
}

static void by_mpiexec(struct launch_command *c, const char *n,
		       const char *hosts, const char *file)
{
	add_word(c, file);
	add_two(c, "-n", n);
	if (hosts) {
		add_two(c, "-ppn", "1");
		add_two(c, "-hosts", hosts);
	}
	add_word(c, "-disable-auto-cleanup");
}

static void add_node(struct launch_command *c, const struct head *h,
		     const char *self, const char *size, const char *lost)
{
	add_word(c, self);
	add_word(c, "node");
	add_two(c, "-s", size);
	add_two(c, "-t", lost);
	add_two(c, "-d", h->conf.storage);
	add_two(c, "-m", h->conf.mount);
	add_two(c, "-l", h->conf.log);
}

static int start_one(struct head *h, struct launch_command *c, const char *how,
		     unsigned int rank, int death)
{
	char key[65], number[16], log[JOB_PATH + 16];
	struct spawn s = {
		.argv = c->argv,
		.log = log,
		.death = death,
		.env = { { "PVFS_JOB_KEY", key },
			 { "PVFS_JOB_ID", h->place.job.id },
			 { "PVFS_JOB_HEAD", h->address },
			 { "PVFS_JOB_LAUNCHER", how },
			 { "PVFS_JOB_RANK", number } },
	};
	int rc;

	job_key_text(h->key, key);
	snprintf(number, sizeof(number), "%u", rank);
	snprintf(log, sizeof(log), "%s/launch.log", h->place.folder);
	rc = proc_spawn(&s);
	return rc;
}

/* SIGKILL also ends a stopped supervisor; its sweeper does the rest. */
static int start_all(struct head *h, struct launch_command *c)
{
	for (unsigned int i = 0; i < h->n; i++) {
		int rc = start_one(h, c, "fork", i, SIGKILL);

		if (rc < 0)
			return rc;
		h->node[i].pid = rc;
	}
	return 0;
}

/* The user sees the first reason that a job is stopped for. */
static int find_srun(struct head *h, char *out)
{
	int rc = job_program("srun", out);

	if (rc)
		head_stop(h, "no srun in PATH");
	return rc;
}

/* A plain mpiexec may be Open MPI's, which has other options. */
static int find_mpiexec(struct head *h, char *out)
{
	int rc = job_program("mpiexec.hydra", out);

	if (rc)
		rc = job_program("mpiexec.mpich", out);
	if (rc)
		head_stop(h, "no mpiexec.hydra or mpiexec.mpich in PATH: "
			     "--launcher mpiexec needs MPICH");
	return rc;
}

int launch(struct head *h)
{
	char self[JOB_PATH], file[JOB_PATH], n[16], size[32], lost[32];
	struct launch_command c = { .n = 0 };
	int rc = job_self(self);

	snprintf(n, sizeof(n), "%u", h->n);
	snprintf(size, sizeof(size), "%llu", (unsigned long long)h->conf.size);
	snprintf(lost, sizeof(lost), "%llu",
		 (unsigned long long)h->conf.lost_s);
	if (!rc && h->how == LAUNCH_SRUN) {
		rc = find_srun(h, file);
		by_srun(&c, n, file);
	} else if (!rc && h->how == LAUNCH_MPIEXEC) {
		rc = find_mpiexec(h, file);
		by_mpiexec(&c, n, h->hosts, file);
	}
	if (rc)
		return rc;
	add_node(&c, h, self, size, lost);
	if (h->how == LAUNCH_FORK)
		return start_all(h, &c);
	rc = start_one(h, &c, h->how == LAUNCH_SRUN ? "srun" : "mpiexec", 0,
		       SIGTERM);
	if (rc < 0)
		return rc;
	h->launcher = rc;
	return 0;
}

/*
 * Collects the exit status of the launcher and of the supervisors that were started by fork.
 * Returns true when all of them have ended.
 */
bool launch_has_ended(struct head *h)
{
	bool left = false;

	if (h->launcher > 0 && waitpid(h->launcher, NULL, WNOHANG))
		h->launcher = 0;
	for (unsigned int i = 0; i < h->n; i++) {
		pid_t *pid = &h->node[i].pid;

		if (*pid > 0 && waitpid(*pid, NULL, WNOHANG))
			*pid = 0;
		left = left || *pid > 0;
	}
	return h->launcher <= 0 && !left;
}

void launch_kill(struct head *h, int sig)
{
	if (h->launcher > 0) {
		kill(h->launcher, SIGCONT);
		kill(h->launcher, sig);
	}
	for (unsigned int i = 0; i < h->n; i++)
		if (h->node[i].pid > 0)
			kill(h->node[i].pid, sig);
}
