/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_clocks.c - see mgr_clocks.h. */
#include "server/state/mgr_clocks.h"

#include <errno.h>
#include <stdbool.h>

#include "common/util/clock.h"

void mgr_clocks_init(struct mgr_clocks *clocks)
{
	*clocks = (struct mgr_clocks){ .known = { { 0 } } };
	pthread_mutex_init(&clocks->lock, NULL);
}

void mgr_clocks_destroy(struct mgr_clocks *clocks)
{
	pthread_mutex_destroy(&clocks->lock);
}

void mgr_clocks_update(struct mgr_clocks *clocks, uint64_t term, uint64_t since,
		       uint64_t clock)
{
	pthread_mutex_lock(&clocks->lock);
	if (term > clocks->known[0].term) {
		clocks->known[1] = clocks->known[0];
		clocks->known[0].term = term;
	}
	if (term == clocks->known[0].term) {
		clocks->known[0].since = since < term ? since : term;
		clocks->known[0].ahead = clock - clock_boot();
	}
	pthread_mutex_unlock(&clocks->lock);
}

static bool clock_covers_term(const struct mgr_clocks *clocks, int i,
			      uint64_t term)
{
	return term >= clocks->known[i].since && term <= clocks->known[i].term;
}

int mgr_clocks_read(void *arg, uint64_t term, uint64_t *now)
{
	struct mgr_clocks *clocks = arg;
	int rc;

	pthread_mutex_lock(&clocks->lock);
	rc = term > clocks->known[0].term || !clocks->known[0].term ? -EAGAIN
								    : -ESTALE;
	for (int i = 0; term && rc && i < 2; i++) {
		if (!clock_covers_term(clocks, i, term))
			continue;
		*now = clock_boot() + clocks->known[i].ahead;
		rc = 0;
	}
	pthread_mutex_unlock(&clocks->lock);
	return rc;
}
