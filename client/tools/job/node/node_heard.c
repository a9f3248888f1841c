/* SPDX-License-Identifier: BSD-2-Clause */
/* node_heard.c - the messages of a node's daemons, and their ends. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/tools/job/node/node.h"

static void say_up(struct node *n)
{
	if (n->said_up || !n->d[NODE_IOD].up ||
	    (n->d[NODE_MGR].pid && !n->d[NODE_MGR].up))
		return;
	n->said_up = true;
	for (int i = 0; i < 2; i++)
		if (n->held[i] >= 0) {
			close(n->held[i]);
			n->held[i] = -1;
		}
	link_say(&n->head, "up\n");
}

static void is_up(struct node *n, pid_t pid)
{
	int i = 0;

	while (i < NODE_FUSE && n->d[i].pid != pid)
		i++; /* pvfs-fuse reports from a child */
	if (n->d[i].up || !n->d[i].pid)
		return;
	n->d[i].up = true;
	if (i == NODE_FUSE)
		link_say(&n->head, "mounted\n");
	else
		say_up(n);
}

static pid_t sender_pid(struct msghdr *m)
{
	struct ucred cred;

	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
		if (h->cmsg_level != SOL_SOCKET ||
		    h->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&cred, CMSG_DATA(h), sizeof(cred));
		return cred.uid == geteuid() ? cred.pid : 0;
	}
	return 0;
}

void node_notified(struct node *n)
{
	char text[512], room[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec io = { text, sizeof(text) - 1 };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof(room) };
	ssize_t len = recvmsg(n->notify, &m, MSG_DONTWAIT);
	pid_t pid = len > 0 ? sender_pid(&m) : 0;

	if (!pid)
		return;
	text[len] = '\0';
	if (strstr(text, "READY=1"))
		is_up(n, pid);
}

/* Gets the last line with an error, or else the last line. */
static void last_words(const char *log, char *out, size_t len)
{
	FILE *f = fopen(log, "re");
	char line[512];
	bool error = false;

	snprintf(out, len, "no word");
	while (f && fgets(line, sizeof(line), f)) {
		bool is = strstr(line, "error: ");

		line[strcspn(line, "\n")] = '\0';
		if (error && !is)
			continue;
		error = is;
		snprintf(out, len, "%s", line);
	}
	if (f)
		fclose(f);
}

static void daemon_ended(struct node *n, int i, int status)
{
	struct node_daemon *d = &n->d[i];
	char words[512];

	d->ended = true;
	last_words(d->log, words, sizeof(words));
	if (i == NODE_FUSE && !d->up)
		link_say(&n->head, "nomount %s\n", words);
	else
		link_say(&n->head, "%s %s %s %d: %s\n", d->up ? "lost" : "fail",
			 node_program[i],
			 WIFSIGNALED(status) ? "was ended by signal"
					     : "ended with",
			 WIFSIGNALED(status) ? WTERMSIG(status)
					     : WEXITSTATUS(status),
			 words);
	d->up = false;
}

void node_child_ended(struct node *n)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == n->place.sweeper)
			n->place.sweeper = 0;
		for (int i = 0; i < NODE_DAEMONS; i++)
			if (pid == n->d[i].pid && !n->d[i].ended)
				daemon_ended(n, i, status);
	}
}
