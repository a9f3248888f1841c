/* SPDX-License-Identifier: BSD-2-Clause */
/* guests.c - see guests.h. */
#include "client/tools/job/parts/guests.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "common/util/clock.h"
#include "client/tools/job/parts/sockets.h"

#define STAY_NS 5000000000ull
/*
 * How long a guest is certain to keep its place.  A genuine guest on a busy host answers in
 * this time.
 */
#define SURE_NS 100000000ull

void guests_init(struct guests *g)
{
	g->again = 0;
	for (unsigned int i = 0; i < GUESTS; i++)
		g->of[i].link = (struct job_link){ .fd = -1 };
}

void guests_close(struct guests *g)
{
	for (unsigned int i = 0; i < GUESTS; i++)
		link_close(&g->of[i].link);
}

static unsigned int places_of(const struct guests *g, uint32_t ip)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < GUESTS; i++)
		n += g->of[i].link.fd >= 0 && g->of[i].ip == ip;
	return n;
}

/*
 * Returns the index of a free place, or of a guest whose connection may be closed for a new one.
 * -1: there is none now.
 */
static int find_place(const struct guests *g)
{
	unsigned int most = 0;
	int k = -1;

	for (int i = 0; i < (int)GUESTS; i++) {
		const struct guest *o = &g->of[i];
		unsigned int n;

		if (o->link.fd < 0)
			return i;
		if (clock_now() - o->since < SURE_NS)
			continue;
		n = places_of(g, o->ip);
		if (n > most || (n == most && o->since < g->of[k].since)) {
			most = n;
			k = i;
		}
	}
	return k;
}

bool guests_room(const struct guests *g)
{
	return clock_now() >= g->again && find_place(g) >= 0;
}

static int accept_one(struct guests *g, int listener)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	socklen_t len = sizeof(sa);
	int k = find_place(g), fd;
	struct guest *o;

	if (k < 0)
		return -EAGAIN;
	fd = accept4(listener, (struct sockaddr *)&sa, &len, SOCK_CLOEXEC);
	if (fd < 0)
		return -errno;
	o = &g->of[k];
	link_close(&o->link);
	if (link_init(&o->link, fd))
		return -ENOMEM;
	o->since = clock_now();
	o->ip = sa.sin_addr.s_addr;
	if (greet_begin(&o->greet, &o->link))
		link_close(&o->link);
	return 0;
}

void guests_accept(struct guests *g, int listener)
{
	int rc = 0;

	for (unsigned int n = 0; n < GUESTS && !rc; n++)
		rc = accept_one(g, listener);
	if (sockets_are_short(-rc))
		g->again = clock_after_ms(SOCKETS_PAUSE_MS);
}

void guests_drop_late(struct guests *g)
{
	for (unsigned int i = 0; i < GUESTS; i++)
		if (g->of[i].link.fd >= 0 &&
		    clock_now() - g->of[i].since > STAY_NS)
			link_close(&g->of[i].link);
}

int guest_hear(struct guest *g, const uint8_t key[MAC_KEY_LEN],
	       const char *kind, struct job_link *link, unsigned int *rank)
{
	int rc = link_fill(&g->link);
	char *line = link_line(&g->link);

	if (!line && !rc)
		return 0;
	if (line)
		rc = greet_check(&g->greet, &g->link, key, kind, line, rank);
	if (rc) {
		link_close(&g->link);
		return rc;
	}
	*link = g->link;
	g->link = (struct job_link){ .fd = -1 };
	return 1;
}
