/* SPDX-License-Identifier: BSD-2-Clause */
/* poll_policy.c - see poll_policy.h; the kernel's structures are those of <linux/fuse.h>. */
#include "client/fuse/threads/poll_policy.h"

#include <linux/fuse.h>
#include <sched.h>

#include "common/util/clock.h"

/* A program needs some 20 us from a reply to its next request. */
#define POLL_NEAR_US 30u
#define POLL_FAR_US 100u

static unsigned int count_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set)
		       ? 1
		       : (unsigned int)CPU_COUNT(&set);
}

void poll_policy_init(struct poll_policy *p)
{
	*p = (struct poll_policy){ .processors = count_processors() };
	spin_init(&p->spin, POLL_NEAR_US, POLL_FAR_US);
}

static bool is_crowded(const struct poll_policy *p)
{
	unsigned int i, k, n = 0;

	for (i = 0; i < POLL_POLICY_RECENT; i++) {
		for (k = 0; k < i && p->recent[k] != p->recent[i]; k++)
			;
		n += k == i && p->recent[i];
	}
	return n >= p->processors;
}

void poll_policy_wait_start(struct poll_policy *p)
{
	spin_begin(&p->spin, clock_now(),
		   p->was_long || p->crowded ? SPIN_NOTHING_SOON : SPIN_LITTLE);
}

bool poll_policy_poll_again(struct poll_policy *p)
{
	return spin_again(&p->spin, clock_now());
}

struct transfer {
	struct fuse_in_header hdr;
	struct fuse_read_in read;
};

static bool is_long(const struct transfer *t, size_t len)
{
	return len >= POLL_POLICY_LONG ||
	       (len >= sizeof(*t) && t->hdr.opcode == FUSE_READ &&
		t->read.size >= POLL_POLICY_LONG);
}

void poll_policy_wait_end(struct poll_policy *p, const void *request,
			  size_t len)
{
	const struct fuse_in_header *hdr = request;

	spin_end(&p->spin, clock_now());
	if (len < sizeof(*hdr))
		return;
	p->recent[p->n++ % POLL_POLICY_RECENT] = hdr->pid;
	p->was_long = is_long(request, len);
	p->crowded = is_crowded(p);
}
