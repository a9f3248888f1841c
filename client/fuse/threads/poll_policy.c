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

void poll_policy_init(struct poll_policy *a)
{
	*a = (struct poll_policy){ .processors = count_processors() };
	spin_init(&a->spin, POLL_NEAR_US, POLL_FAR_US);
}

static bool is_crowded(const struct poll_policy *a)
{
	unsigned int i, k, n = 0;

	for (i = 0; i < POLL_POLICY_RECENT; i++) {
		for (k = 0; k < i && a->recent[k] != a->recent[i]; k++)
			;
		n += k == i && a->recent[i];
	}
	return n >= a->processors;
}

void poll_policy_wait_start(struct poll_policy *a)
{
	spin_begin(&a->spin, clock_now(),
		   a->was_long || a->crowded ? SPIN_NOTHING_SOON : SPIN_LITTLE);
}

bool poll_policy_poll_again(struct poll_policy *a)
{
	return spin_again(&a->spin, clock_now());
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

void poll_policy_wait_end(struct poll_policy *a, const void *request,
			  size_t len)
{
	const struct fuse_in_header *hdr = request;

	spin_end(&a->spin, clock_now());
	if (len < sizeof(*hdr))
		return;
	a->recent[a->n++ % POLL_POLICY_RECENT] = hdr->pid;
	a->was_long = is_long(request, len);
	a->crowded = is_crowded(a);
}
