/* SPDX-License-Identifier: BSD-2-Clause */
/* ask.c - the commands status and stop. */
#include "client/tools/job/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/number.h"

#define ACK_MS 600u /* a head that runs confirms immediately that it ends */
#define END_MS 1800u
/* ms in which nodes that were not reached notice the end */
#define REST_MS 200u

int ask_open(const struct job *job, struct job_link *l)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	char folder[JOB_PATH];
	int dir, fd, rc;

	if (job_path(job, "head", folder))
		return 1;
	dir = open(folder, O_PATH | O_CLOEXEC);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/control",
		 dir);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	rc = dir < 0 || fd < 0 ||
	     connect(fd, (struct sockaddr *)&sa, sizeof(sa));
	if (dir >= 0)
		close(dir);
	if (!rc)
		return link_init(l, fd) ? tool_fail(&job_tool, job->id) : 0;
	if (fd >= 0)
		close(fd);
	return tool_say(&job_tool,
			"job %s of yours was not started on this "
			"host, or has ended",
			job->id);
}

/* "missed RANK HOST WHY" */
static void report_missed(char *line)
{
	char *rank = strtok(line, " "), *host = strtok(NULL, " "),
	     *why = strtok(NULL, "");

	if (rank && host)
		tool_say(&job_tool, "node %s (%s) was not reached%s%s", rank,
			 host, why ? ": " : "", why ? why : "");
}

/* Reads until "end N".  1: N is not 0; 0; or -errno. */
static int receive_end(struct job_link *l, uint64_t deadline)
{
	uint64_t status;
	char *line;
	int rc;

	while (!(rc = link_wait(l, deadline, &line))) {
		if (!strncmp(line, "end ", 4))
			return number_parse(line + 4, 255, &status) || status;
		if (!strncmp(line, "missed ", 7))
			report_missed(line + 7);
	}
	return rc;
}

/*
 * The kernel tells who listens, and that the connection still exists, so no other
 * process is killed.  The nodes end with their head.
 */
static int kill_head(const struct job_link *l)
{
	struct pollfd p = { .fd = l->fd, .events = POLLIN };
	struct ucred cred;
	socklen_t len = sizeof(cred);
	int fd;

	if (getsockopt(l->fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) ||
	    cred.uid != geteuid())
		return -EPERM;
	fd = pidfd_open(cred.pid, 0);
	if (fd < 0)
		return -errno;
	if (!poll(&p, 1, 0))
		pidfd_send_signal(fd, SIGKILL, NULL, 0);
	close(fd);
	return 0;
}

/* Sweepers may need a moment longer. */
static int wait_gone(const struct job *job, uint64_t deadline)
{
	struct stat st;

	while (!lstat(job->path, &st)) {
		if (clock_now() >= deadline)
			return tool_say(&job_tool, "%s is still there",
					job->path);
		usleep(10000);
	}
	return 0;
}

static int stop_by_kill(const struct job *job, const struct job_link *l,
			uint64_t deadline)
{
	int rc = kill_head(l);

	if (rc)
		return tool_say(&job_tool, "the head of job %s: %s", job->id,
				strerror(-rc));
	tool_say(&job_tool,
		 "the head of job %s stood still and was killed; its nodes "
		 "end by themselves",
		 job->id);
	wait_gone(job, deadline);
	return 1;
}

int ask_stop(const struct job *job)
{
	uint64_t deadline = clock_after_ms(END_MS);
	struct job_link l;
	char *line;
	int rc;

	if (ask_open(job, &l))
		return 1;
	rc = link_say(&l, "stop\n");
	if (!rc)
		rc = link_wait(&l, clock_after_ms(ACK_MS), &line);
	if (rc == -ETIMEDOUT)
		rc = stop_by_kill(job, &l, deadline);
	else if (!rc)
		rc = receive_end(&l, deadline);
	link_close(&l);
	if (rc < 0 && rc != -EPIPE)
		tool_say(&job_tool, "job %s: %s", job->id, strerror(-rc));
	/* nodes that were missed on this host end when they notice */
	if (rc > 0 && clock_after_ms(REST_MS) < deadline)
		deadline = clock_after_ms(REST_MS);
	return wait_gone(job, deadline) || rc ? 1 : 0;
}

static int print_status(struct job_link *l)
{
	uint64_t deadline = clock_after_ms(2000), status;
	char *line;
	int rc = link_say(l, "status\n");

	while (!rc && !(rc = link_wait(l, deadline, &line))) {
		if (!strncmp(line, "end ", 4) &&
		    !number_parse(line + 4, 255, &status))
			return tool_done(&job_tool, (int)status);
		tool_line(stdout, "%s\n", line);
	}
	return tool_say(&job_tool, "the head does not answer");
}

static int id_option(void *arg, int opt, const char *val)
{
	*(const char **)arg = val;
	return 0;
}

static const struct option longs[] = { { "id", required_argument, NULL, 'i' },
				       { 0 } };

static const struct tool stop_tool = {
	.name = "pvfs-job stop",
	.usage = "[-i ID]",
	.help = "Ends the job's file system, within two seconds.  Its files are lost.\n"
		"  -i, --id ID            the job (PVFS_JOB_ID, SLURM_JOB_ID, or the only one)\n"
		"Here 1: there is none, or nodes were not reached, which are named.\n",
	.shorts = "i:",
	.longs = longs,
	.option = id_option,
};

static const struct tool status_tool = {
	.name = "pvfs-job status",
	.usage = "[-i ID]",
	.help = "A line for each node: its number, host, state, iod, memory, mount.\n"
		"  -i, --id ID            the job (PVFS_JOB_ID, SLURM_JOB_ID, or the only one)\n"
		"Here 3: not all nodes are up.\n",
	.shorts = "i:",
	.longs = longs,
	.option = id_option,
};

int cmd_stop(int argc, char **argv)
{
	const char *id = NULL;
	struct job job;

	if (tool_options(&stop_tool, argc, argv, &id) < argc)
		tool_usage(&stop_tool);
	return job_find(&job, id, false) ? 1 : ask_stop(&job);
}

int cmd_status(int argc, char **argv)
{
	const char *id = NULL;
	struct job job;
	struct job_link l;
	int rc;

	if (tool_options(&status_tool, argc, argv, &id) < argc)
		tool_usage(&status_tool);
	if (job_find(&job, id, false) || ask_open(&job, &l))
		return 1;
	rc = print_status(&l);
	link_close(&l);
	return rc;
}
