/* SPDX-License-Identifier: BSD-2-Clause */
/* head_nodes.c - the messages of supervisors, and the states of a job. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "common/util/clock.h"
#include "client/tools/job/head/head.h"

/* A guest that has proved itself becomes the node of its rank, once. */
void head_hear_guest(struct head *h, struct guest *g)
{
	struct job_link link;
	unsigned int rank;

	if (guest_hear(g, h->key, "node", &link, &rank) <= 0)
		return;
	if (h->state != HEAD_GATHER || rank >= h->n || h->node[rank].here ||
	    h->node[rank].link.fd >= 0) {
		link_close(&link);
		return;
	}
	h->node[rank].link = link;
	head_hear_node(h, &h->node[rank]);
}

static void set_trouble(struct head_node *n, const char *text)
{
	snprintf(n->trouble, sizeof(n->trouble), "%s", text);
}

static void node_failed(struct head *h, const struct head_node *n,
			const char *text)
{
	char why[sizeof(h->why)];

	snprintf(why, sizeof(why), "node %u (%.64s): %.400s",
		 (unsigned int)(n - h->node), n->host[0] ? n->host : "?", text);
	head_stop(h, why);
}

static void record_node(struct head *h, struct head_node *n, const char *line)
{
	char host[JOB_NAME], ip[48], memory[16], at[80];
	unsigned int iod, mgr;
	bool first = n == h->node;

	if (sscanf(line, "here %255s %47s %u %u %15s", host, ip, &iod, &mgr,
		   memory) != 5)
		return;
	snprintf(at, sizeof(at), "%s:%u", ip, iod);
	if (job_parse_addr(at, &n->iod))
		return;
	snprintf(at, sizeof(at), "%s:%u", ip, mgr);
	if (first && job_parse_addr(at, &n->mgr))
		return;
	snprintf(n->host, sizeof(n->host), "%s", host);
	snprintf(n->memory, sizeof(n->memory), "%s", memory);
	n->here = true;
}

static void handle_line(struct head *h, struct head_node *n, const char *line)
{
	if (!strncmp(line, "here ", 5) && !n->here) {
		record_node(h, n, line);
	} else if (!strcmp(line, "up")) {
		n->up = true;
	} else if (!strcmp(line, "mounted")) {
		n->mount_done = n->mounted = true;
	} else if (!strncmp(line, "nomount ", 8)) {
		n->mount_done = true;
		set_trouble(n, line);
	} else if (!strncmp(line, "fail ", 5)) {
		node_failed(h, n, line + 5);
	} else if (!strncmp(line, "nocopy ", 7)) {
		set_trouble(n, line);
	} else if (!strncmp(line, "lost ", 5)) {
		n->lost = true;
		set_trouble(n, line + 5);
	} else if (!strcmp(line, "ends")) {
		n->ends = true;
	} else if (!strcmp(line, "gone")) {
		n->gone = true;
	}
}

void head_hear_node(struct head *h, struct head_node *n)
{
	int rc = link_fill(&n->link);
	char *line;

	while ((line = link_line(&n->link)))
		handle_line(h, n, line);
	if (!rc)
		return;
	link_close(&n->link);
	if (h->state == HEAD_STOP || n->gone)
		return;
	n->up = false;
	n->lost = true;
	set_trouble(n, "its connection has ended");
	if (h->state < HEAD_RUN)
		node_failed(h, n, "ended at its start");
}

static bool all_nodes(const struct head *h, size_t member)
{
	for (unsigned int i = 0; i < h->n; i++)
		if (!((const bool *)&h->node[i])[member])
			return false;
	return true;
}
#define ALL(h, what) all_nodes(h, offsetof(struct head_node, what))

static void send_all(struct head *h, const char *line)
{
	for (unsigned int i = 0; i < h->n; i++)
		link_say(&h->node[i].link, "%s\n", line);
}

static void send_peers(struct head *h, struct job_link *l)
{
	link_say(l, "mgr %s:%u\n", h->node[0].mgr.ip, h->node[0].mgr.port);
	for (unsigned int i = 0; i < h->n; i++)
		link_say(l, "iod %u %s:%u\n", i, h->node[i].iod.ip,
			 h->node[i].iod.port);
	link_say(l, "go %s\n", h->fsid);
}

static void start_daemons(struct head *h)
{
	for (unsigned int i = 0; i < h->n; i++)
		send_peers(h, &h->node[i].link);
	h->state = HEAD_SERVE;
}

static void finish_start(struct head *h)
{
	int rc = place_tab(&h->place, h->key, &h->node[0].mgr);

	if (rc) {
		head_stop(h, "pvfstab cannot be written");
		return;
	}
	h->state = HEAD_RUN;
	for (unsigned int i = 0; i < h->n; i++)
		if (h->node[i].trouble[0])
			link_say(&h->starter, "note node %u (%s): %s\n", i,
				 h->node[i].host, h->node[i].trouble);
	link_say(&h->starter, "ready %s\n", h->node[0].memory);
	if (!h->follow)
		link_close(&h->starter);
}

void head_step(struct head *h)
{
	if (h->state == HEAD_GATHER && ALL(h, here))
		start_daemons(h);
	if (h->state == HEAD_SERVE && ALL(h, up)) {
		h->state = HEAD_MOUNT;
		if (h->conf.mount)
			send_all(h, "mount");
	}
	if (h->state == HEAD_MOUNT && (!h->conf.mount || ALL(h, mount_done)))
		finish_start(h);
	if (clock_now() - h->ticked < 1000000000ull || h->state >= HEAD_STOP)
		return;
	h->ticked = clock_now();
	send_all(h, "tick");
}
