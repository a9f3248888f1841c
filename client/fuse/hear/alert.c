/* SPDX-License-Identifier: BSD-2-Clause */
/* alert.c - see alert.h; the kernel's structures are those of <linux/fuse.h>. */
#include "client/fuse/hear/alert.h"

#include <linux/fuse.h>
#include <sched.h>

#include "common/util/clock.h"

/* A program needs some 20 us from a reply to its next request. */
#define NEAR_US 30u
#define FAR_US 100u

static unsigned int processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set)
		       ? 1
		       : (unsigned int)CPU_COUNT(&set);
}

void alert_init(struct alert *a)
{
	*a = (struct alert){ .processors = processors() };
	spin_init(&a->spin, NEAR_US, FAR_US);
}

static bool is_crowded(const struct alert *a)
{
	unsigned int i, k, n = 0;

	for (i = 0; i < ALERT_RECENT; i++) {
		for (k = 0; k < i && a->recent[k] != a->recent[i]; k++)
			;
		n += k == i && a->recent[i];
	}
	return n >= a->processors;
}

void alert_begin(struct alert *a)
{
	spin_begin(&a->spin, clock_now(),
		   a->was_long || a->crowded ? SPIN_NOTHING_SOON : SPIN_LITTLE);
}

bool alert_again(struct alert *a)
{
	return spin_again(&a->spin, clock_now());
}

struct transfer {
	struct fuse_in_header hdr;
	struct fuse_read_in read;
};

static bool is_long(const struct transfer *t, size_t len)
{
	return len >= ALERT_LONG ||
	       (len >= sizeof(*t) && t->hdr.opcode == FUSE_READ &&
		t->read.size >= ALERT_LONG);
}

void alert_end(struct alert *a, const void *request, size_t len)
{
	const struct fuse_in_header *hdr = request;

	spin_end(&a->spin, clock_now());
	if (len < sizeof(*hdr))
		return;
	a->recent[a->n++ % ALERT_RECENT] = hdr->pid;
	a->was_long = is_long(request, len);
	a->crowded = is_crowded(a);
}
