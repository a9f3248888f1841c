/* SPDX-License-Identifier: BSD-2-Clause */
/* head.c - the main loop of the head. */
#include "client/tools/job/head/head.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "client/tools/job/parts/proc.h"
#include "common/util/random_id.h"

/* ms in which messages arrive, even after one retransmission */
#define REACH_MS 300u
#define KILL_MS 150u /* ms between the signals to a launcher */

/* Reads what the nodes sent before they ended. */
static void receive_last(struct head *h)
{
	for (unsigned int i = 0; i < h->n; i++)
		if (h->node[i].link.fd >= 0)
			head_hear_node(h, &h->node[i]);
}

/*
 * A host that is cut off does not even acknowledge data.  A kernel does so immediately,
 * however busy its host is.
 */
static bool can_answer(const struct head *h, const struct head_node *n)
{
	uint64_t now = clock_now();

	if (n->link.fd < 0 || n->gone)
		return false;
	if (n->ends || now - h->stop_sent < REACH_MS * 1000000ull)
		return true;
	return link_has_arrived(&n->link) &&
	       now - n->link.heard < HEAD_SILENT_NS;
}

static bool all_have_answered(const struct head *h)
{
	for (unsigned int i = 0; i < h->n; i++)
		if (can_answer(h, &h->node[i]))
			return false;
	return clock_now() - h->stop_sent >= REACH_MS * 1000000ull;
}

/*
 * Nodes have until the deadline.  Then their launcher gets SIGTERM, and later SIGKILL.
 */
static void end_launcher(struct head *h)
{
	bool late = clock_now() >= h->deadline ||
		    (!h->killed && all_have_answered(h));

	if (launch_has_ended(h) || (h->killed == 2 && late)) {
		receive_last(h);
		h->state = HEAD_OVER;
		return;
	}
	if (!late)
		return;
	launch_kill(h, h->killed ? SIGKILL : SIGTERM);
	h->killed++;
	h->deadline = clock_after_ms(KILL_MS);
}

static void check_time(struct head *h)
{
	char why[128];
	unsigned int here = 0, up = 0;

	guests_drop_late(&h->guests);
	if (h->state == HEAD_STOP) {
		end_launcher(h);
		return;
	}
	if (h->state >= HEAD_RUN) {
		if (launch_has_ended(h))
			head_stop(h, "all nodes have ended");
		return;
	}
	for (unsigned int i = 0; i < h->n; i++) {
		here += h->node[i].here;
		up += h->node[i].up;
	}
	snprintf(why, sizeof(why), "of %u nodes %u came and %u are up", h->n,
		 here, up);
	if (clock_now() >= h->deadline)
		head_stop(h, why);
	else if (launch_has_ended(h))
		head_stop(h, why);
}

enum { OF_SIGNALS, OF_LISTENER, OF_CONTROL, OF_STARTER, FIXED };
#define POLLS (FIXED + GUESTS + HEAD_ASKERS + JOB_NODES_MAX)

static struct pollfd poll_link(const struct job_link *l)
{
	return (struct pollfd){ .fd = l->fd, .events = link_events(l) };
}

static unsigned int fill_polls(const struct head *h, struct pollfd *p)
{
	unsigned int k = FIXED;

	p[OF_SIGNALS] = (struct pollfd){ h->signals, POLLIN, 0 };
	p[OF_LISTENER] = (struct pollfd){ guests_room(&h->guests) ? h->listener
								  : -1,
					  POLLIN, 0 };
	p[OF_CONTROL] = (struct pollfd){
		clock_now() >= h->ask_again ? h->control : -1, POLLIN, 0
	};
	p[OF_STARTER] = poll_link(&h->starter);
	for (unsigned int i = 0; i < GUESTS; i++)
		p[k++] = poll_link(&h->guests.of[i].link);
	for (unsigned int i = 0; i < HEAD_ASKERS; i++)
		p[k++] = poll_link(&h->asker[i]);
	for (unsigned int i = 0; i < h->n; i++)
		p[k++] = poll_link(&h->node[i].link);
	return k;
}

static bool has_input(struct job_link *l, const struct pollfd *p)
{
	if (l->fd < 0 || l->fd != p->fd || !p->revents)
		return false;
	if (p->revents & POLLOUT)
		link_flush(l);
	return p->revents & ~POLLOUT;
}

static void handle_links(struct head *h, const struct pollfd *p)
{
	for (unsigned int i = 0; i < GUESTS; i++, p++)
		if (has_input(&h->guests.of[i].link, p))
			head_hear_guest(h, &h->guests.of[i]);
	for (unsigned int i = 0; i < HEAD_ASKERS; i++, p++)
		if (has_input(&h->asker[i], p))
			head_hear_asker(h, i);
	for (unsigned int i = 0; i < h->n; i++, p++)
		if (has_input(&h->node[i].link, p))
			head_hear_node(h, &h->node[i]);
}

static void handle_other_events(struct head *h, const struct pollfd *p)
{
	struct signalfd_siginfo info;

	while (read(h->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			head_stop(h, strsignal((int)info.ssi_signo));
	if (p[OF_LISTENER].revents)
		guests_accept(&h->guests, h->listener);
	if (p[OF_CONTROL].revents)
		head_asked(h);
	if (has_input(&h->starter, &p[OF_STARTER]) && link_fill(&h->starter))
		head_stop(h, "the process that started it has ended");
}

/* poll(2) takes at most as many entries as the process may have descriptors. */
static int poll_open(struct pollfd *p, unsigned int n, int ms)
{
	struct pollfd open[POLLS];
	unsigned int at[POLLS], k = 0;
	int rc;

	for (unsigned int i = 0; i < n; i++) {
		p[i].revents = 0;
		if (p[i].fd < 0)
			continue;
		at[k] = i;
		open[k++] = p[i];
	}
	rc = poll(open, k, ms);
	for (unsigned int i = 0; rc > 0 && i < k; i++)
		p[at[i]].revents = open[i].revents;
	return rc;
}

static void handle_events(struct head *h)
{
	struct pollfd p[POLLS];
	unsigned int n = fill_polls(h, p);

	bool soon = h->state == HEAD_STOP || p[OF_LISTENER].fd < 0 ||
		    p[OF_CONTROL].fd < 0;

	if (poll_open(p, n, soon ? 20 : 500) > 0) {
		handle_links(h, p + FIXED);
		handle_other_events(h, p);
	}
	head_step(h);
	check_time(h);
}

static bool is_reachable(const struct ifaddrs *i)
{
	return i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
	       i->ifa_flags & IFF_UP && !(i->ifa_flags & IFF_LOOPBACK);
}

/*
 * Gets the addresses by which others reach this host: all, because it is unknown which one they
 * use.  local: by which it reaches itself.
 */
static int own_addresses(char *out, size_t len, bool local)
{
	struct ifaddrs *all = NULL;
	size_t at = 0;

	if (!local && getifaddrs(&all))
		return -errno;
	out[0] = '\0';
	for (const struct ifaddrs *i = all; i && at + 64 < len;
	     i = i->ifa_next) {
		const struct sockaddr_in *sa = (const void *)i->ifa_addr;
		char ip[INET_ADDRSTRLEN];

		if (!is_reachable(i) ||
		    !inet_ntop(AF_INET, &sa->sin_addr, ip, sizeof(ip)))
			continue;
		at += (size_t)snprintf(out + at, len - at, "%s%s",
				       at ? "," : "", ip);
	}
	if (all)
		freeifaddrs(all);
	if (!at)
		snprintf(out, len, "127.0.0.1");
	return 0;
}

static int open_listener(struct head *h)
{
	bool local = h->how == LAUNCH_FORK;
	char ips[1000];
	int rc = own_addresses(ips, sizeof(ips), local);

	if (rc)
		return rc;
	h->listener = job_listen(local ? "127.0.0.1" : "0.0.0.0", &h->port);
	snprintf(h->address, sizeof(h->address), "%s:%u", ips, h->port);
	return h->listener < 0 ? h->listener : 0;
}

static int open_and_launch(struct head *h)
{
	uint64_t id;
	int rc = random_bytes(h->key, sizeof(h->key));

	if (!rc)
		rc = random_id(&id);
	if (rc)
		return rc;
	snprintf(h->fsid, sizeof(h->fsid), "%016llx", (unsigned long long)id);
	h->signals = proc_signals();
	rc = h->signals < 0 ? h->signals : head_listen(h);
	if (!rc)
		rc = open_listener(h);
	return rc ? rc : launch(h);
}

static void detach_process(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	close(null);
	if (chdir("/"))
		_exit(1);
	prctl(PR_SET_NAME, "pvfs-job-head");
}

static void init_links(struct head *h, int starter)
{
	guests_init(&h->guests);
	for (unsigned int i = 0; i < HEAD_ASKERS; i++)
		h->asker[i].fd = -1;
	for (unsigned int i = 0; i < h->n; i++)
		h->node[i].link.fd = -1;
	link_init(&h->starter, starter);
	h->listener = h->control = -1;
}

/* The messages of mpiexec and srun explain a failure better than their end does. */
static void send_launch_log(struct head *h)
{
	char path[JOB_PATH + 16], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/launch.log", h->place.folder);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] && !strstr(line, " ends: "))
			link_say(&h->starter, "note %s\n", line);
	}
	if (f)
		fclose(f);
}

static void end_head(struct head *h)
{
	if (h->why[0] && h->starter.fd >= 0)
		send_launch_log(h);
	place_leave(&h->place, clock_after_ms(100));
	head_answer_end(h);
	if (h->starter.fd >= 0)
		link_say(&h->starter, "over\n");
	_exit(h->why[0] != '\0');
}

void head_run(struct head *h, int starter)
{
	int rc;

	detach_process();
	init_links(h, starter);
	rc = place_make(&h->place, "head");
	if (rc) {
		link_say(&h->starter, "error %s\n",
			 rc == -EEXIST ? "the job has a file system already"
				       : strerror(-rc));
		_exit(1);
	}
	h->deadline = clock_after_ms(1000 * h->timeout_s);
	rc = open_and_launch(h);
	if (rc)
		head_stop(h, strerror(-rc));
	while (h->state != HEAD_OVER)
		handle_events(h);
	proc_end_all(h->place.sweeper, clock_after_ms(100));
	end_head(h);
	_exit(0);
}
