/* SPDX-License-Identifier: BSD-2-Clause */
/* node.c - the main loop of a supervisor, and its end. */
#include "client/tools/job/node/node.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "client/tools/job/parts/proc.h"

static void end_with(struct node *n, const char *why)
{
	if (!n->over)
		snprintf(n->why, sizeof(n->why), "%s", why);
	n->over = true;
}

static void report_error(struct node *n, const char *what, int rc)
{
	if (rc)
		link_say(&n->head, "%s %s\n", what, strerror(-rc));
}

static int add_peer(struct node *n, const char *text)
{
	struct job_addr addr, *grown;
	char at[64];
	unsigned int k;

	if (sscanf(text, "%u %63s", &k, at) != 2 || k != n->n ||
	    k >= JOB_NODES_MAX || job_parse_addr(at, &addr))
		return -EPROTO;
	grown = realloc(n->peer, (n->n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	n->peer = grown;
	n->peer[n->n++] = addr;
	return 0;
}

static int check_and_serve(struct node *n, const char *fsid)
{
	if (n->d[NODE_IOD].pid || n->rank >= n->n || !n->mgr.port ||
	    strspn(fsid, "0123456789abcdef") != 16 || fsid[16])
		return -EPROTO;
	return node_serve(n, fsid);
}

/* The head's host may have a program that this host lacks. */
static void start_daemons(struct node *n, const char *fsid)
{
	const char *missing = node_missing_program(n);

	if (missing)
		link_say(&n->head,
			 "fail no %s next to pvfs-job, in PATH or in "
			 "PVFS_BUILD: install pvfs-server there\n",
			 missing);
	else
		report_error(n, "fail", check_and_serve(n, fsid));
}

static void start_mount(struct node *n)
{
	int rc = n->d[NODE_FUSE].pid ? -EALREADY : node_mount(n);

	if (rc == -EALREADY)
		link_say(&n->head, "mounted\n");
	else if (rc)
		link_say(&n->head, "nomount %s: %s\n",
			 rc == -ENOENT ? "/dev/fuse, or pvfs-fuse"
				       : "/dev/fuse",
			 strerror(-rc));
}

/* Confirms first: the node was reached, however long its end takes on a busy host. */
static void confirm_stop(struct node *n)
{
	link_say(&n->head, "ends\n");
	end_with(n, "pvfs-job stop");
}

static void handle_line(struct node *n, char *line)
{
	unsigned int port;

	if (!strcmp(line, "tick"))
		link_say(&n->head, "tock\n");
	else if (!strcmp(line, "stop"))
		confirm_stop(n);
	else if (!strncmp(line, "mgr ", 4))
		report_error(n, "fail", job_parse_addr(line + 4, &n->mgr));
	else if (!strncmp(line, "iod ", 4))
		report_error(n, "fail", add_peer(n, line + 4));
	else if (!strncmp(line, "go ", 3))
		start_daemons(n, line + 3);
	else if (!strcmp(line, "mount"))
		start_mount(n);
	else if (sscanf(line, "copy %u", &port) == 1 && port && port < 65536)
		report_error(n, "nocopy", node_copy(n, port));
	else
		end_with(n,
			 "the head sent a line that this release does not know");
}

static void receive_head_lines(struct node *n)
{
	int rc = link_fill(&n->head);
	char *line;

	while (!n->over && (line = link_line(&n->head)))
		handle_line(n, line);
	if (rc)
		end_with(n, "the head has ended");
}

static void handle_signals(struct node *n)
{
	struct signalfd_siginfo info;

	while (read(n->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			node_child_ended(n);
		else
			end_with(n, strsignal((int)info.ssi_signo));
	}
}

static void handle_events(struct node *n)
{
	struct pollfd p[] = {
		{ .fd = n->signals, .events = POLLIN },
		{ .fd = n->notify, .events = POLLIN },
		{ .fd = n->head.fd, .events = link_events(&n->head) },
	};

	if (poll(p, 3, 1000) < 0)
		return;
	if (p[1].revents) /* before the end of the sender is noticed */
		node_notified(n);
	if (p[0].revents)
		handle_signals(n);
	if (p[2].revents & POLLOUT)
		link_flush(&n->head);
	if (p[2].revents & ~POLLOUT || n->head.fd < 0)
		receive_head_lines(n);
	if (clock_now() - n->head.heard > n->conf.lost_s * 1000000000ull)
		end_with(n, "nothing was heard of the head for too long");
}

/* The mount first: the end of its daemon releases the processes that use it. */
void node_end(struct node *n)
{
	uint64_t deadline = clock_after_ms(JOB_STOP_MS - 400);

	if (n->place.mount[0] && mount_is_ours(n->place.mount))
		mount_detach(n->place.mount);
	proc_end_all(n->place.sweeper, deadline);
	node_close_memory(n);
	place_leave(&n->place, deadline);
	link_say(&n->head, "gone\n");
	link_drain(&n->head, clock_after_ms(100));
	link_close(&n->head);
	free(n->peer);
}

int cmd_node(int argc, char **argv)
{
	struct node n;

	if (node_open(&n, argc, argv))
		return 1;
	while (!n.over)
		handle_events(&n);
	tool_say(&job_tool, "node %u ends: %s", n.rank, n.why);
	node_end(&n);
	return 0;
}
