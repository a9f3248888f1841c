/* SPDX-License-Identifier: BSD-2-Clause */
/* head_ask.c - commands of the job's user, at a socket in the head's folder. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "client/tools/job/head/head.h"
#include "client/tools/job/parts/sockets.h"

int head_listen(struct head *h)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int dir = open(h->place.folder, O_PATH | O_CLOEXEC), rc = 0;

	/* allows a path of any length */
	snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/control",
		 dir);
	h->control = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			    0);
	if (dir < 0 || h->control < 0 ||
	    bind(h->control, (struct sockaddr *)&sa, sizeof(sa)) ||
	    listen(h->control, (int)HEAD_ASKERS))
		rc = -errno;
	close(dir);
	return rc;
}

static bool is_user(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) &&
	       (cred.uid == geteuid() || !cred.uid);
}

/*
 * Returns a slot that a new connection may take over: one whose client does not wait for the
 * end of the job (see "stop").  Slot 0 if there is none.
 */
static unsigned int place_of_silent(const struct head *h)
{
	for (unsigned int i = 0; i < HEAD_ASKERS; i++)
		if (h->asker[i].fd >= 0 && !h->waits[i])
			return i;
	return 0;
}

static unsigned int find_place(const struct head *h)
{
	for (unsigned int i = 0; i < HEAD_ASKERS; i++)
		if (h->asker[i].fd < 0)
			return i;
	return place_of_silent(h);
}

/*
 * Out of descriptors: closes a connection that place_of_silent() may replace, so that the next
 * connection can be accepted after a pause.
 */
static void make_descriptor(struct head *h)
{
	link_close(&h->asker[place_of_silent(h)]);
	h->ask_again = clock_after_ms(SOCKETS_PAUSE_MS);
}

void head_asked(struct head *h)
{
	unsigned int i = find_place(h);
	int fd = accept4(h->control, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0) {
		if (sockets_are_short(errno))
			make_descriptor(h);
		return;
	}
	if (!is_user(fd)) {
		close(fd);
		return;
	}
	link_close(&h->asker[i]);
	h->waits[i] = false;
	link_init(&h->asker[i], fd);
}

static const char *state_of(const struct head *h, const struct head_node *n)
{
	if (n->lost)
		return "lost";
	if (n->link.fd < 0)
		return n->gone ? "gone" : "unavailable";
	if (clock_now() - n->link.heard > HEAD_SILENT_NS)
		return "silent";
	return n->up ? "up" : "begins";
}

static const char *mount_of(const struct head *h, const struct head_node *n)
{
	return !h->conf.mount ? "-" : n->mounted ? "mounted" : "not-mounted";
}

static void answer_status(struct head *h, struct job_link *l)
{
	bool well = h->state == HEAD_RUN;

	for (unsigned int i = 0; i < h->n; i++) {
		const struct head_node *n = &h->node[i];
		const char *state = state_of(h, n);

		link_say(l, "node %u %s %s %s:%u %s %s%s%s\n", i,
			 n->host[0] ? n->host : "?", state, n->iod.ip,
			 n->iod.port, n->memory[0] ? n->memory : "-",
			 mount_of(h, n), n->trouble[0] ? " " : "", n->trouble);
		well = well && !strcmp(state, "up");
	}
	link_say(l, "end %d\n", well ? 0 : 3);
}

static void answer_copy(struct head *h, struct job_link *l, unsigned int port)
{
	for (unsigned int i = 0; i < h->n; i++) {
		struct head_node *node = &h->node[i];

		if (node->link.fd >= 0 && !strcmp(state_of(h, node), "up"))
			link_say(&node->link, "copy %u\n", port);
	}
	link_say(l, "end 0\n");
}

static void answer_line(struct head *h, unsigned int i, const char *line)
{
	struct job_link *l = &h->asker[i];
	unsigned int port;

	if (!strcmp(line, "status")) {
		answer_status(h, l);
	} else if (!strcmp(line, "stop")) {
		h->waits[i] = true;
		link_say(l, "ends\n");
		head_stop(h, "");
	} else if (sscanf(line, "copy %u", &port) == 1 && port < 65536) {
		answer_copy(h, l, port);
	} else {
		link_say(l, "end 2\n");
	}
}

void head_hear_asker(struct head *h, unsigned int i)
{
	int rc = link_fill(&h->asker[i]);
	char *line;

	while ((line = link_line(&h->asker[i])))
		answer_line(h, i, line);
	if (rc)
		link_close(&h->asker[i]);
}

static void send_end(const struct head *h, struct job_link *l)
{
	int missed = 0;

	for (unsigned int i = 0; i < h->n; i++) {
		const struct head_node *n = &h->node[i];

		if (n->ends || n->gone)
			continue;
		missed = 1;
		link_say(l, "missed %u %s%s%s\n", i, n->host[0] ? n->host : "?",
			 n->trouble[0] ? " " : "", n->trouble);
	}
	link_say(l, "end %d\n", missed);
	link_drain(l, clock_after_ms(50));
}

void head_answer_end(struct head *h)
{
	for (unsigned int i = 0; i < HEAD_ASKERS; i++)
		if (h->waits[i] && h->asker[i].fd >= 0)
			send_end(h, &h->asker[i]);
	if (h->starter.fd >= 0 && h->why[0])
		link_say(&h->starter, "error %s\n", h->why);
}
