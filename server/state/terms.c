/* SPDX-License-Identifier: BSD-2-Clause */
/* terms.c - see terms.h. */
#include "server/state/terms.h"

#include <errno.h>
#include <stdbool.h>

#include "common/util/clock.h"

void terms_init(struct terms *terms)
{
	*terms = (struct terms){ .known = { { 0 } } };
	pthread_mutex_init(&terms->lock, NULL);
}

void terms_destroy(struct terms *terms)
{
	pthread_mutex_destroy(&terms->lock);
}

void terms_hear(struct terms *terms, uint64_t term, uint64_t since,
		uint64_t clock)
{
	pthread_mutex_lock(&terms->lock);
	if (term > terms->known[0].term) {
		terms->known[1] = terms->known[0];
		terms->known[0].term = term;
	}
	if (term == terms->known[0].term) {
		terms->known[0].since = since < term ? since : term;
		terms->known[0].ahead = clock - clock_boot();
	}
	pthread_mutex_unlock(&terms->lock);
}

static bool had(const struct terms *terms, int i, uint64_t term)
{
	return term >= terms->known[i].since && term <= terms->known[i].term;
}

int terms_clock(void *arg, uint64_t term, uint64_t *now)
{
	struct terms *terms = arg;
	int rc;

	pthread_mutex_lock(&terms->lock);
	rc = term > terms->known[0].term || !terms->known[0].term ? -EAGAIN
								  : -ESTALE;
	for (int i = 0; term && rc && i < 2; i++) {
		if (!had(terms, i, term))
			continue;
		*now = clock_boot() + terms->known[i].ahead;
		rc = 0;
	}
	pthread_mutex_unlock(&terms->lock);
	return rc;
}
