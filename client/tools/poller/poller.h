/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * poller.h - asks several servers for their metrics again and again, all at once.  A thread for each
 * server: one that stands still holds up its own alone, and the answer of the others comes in time.
 *
 *	idle --poller_ask()--> asks --> answered, idle
 */
#ifndef POLLER_H
#define POLLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <pvfs.h>

/* What a server said. */
struct poller_answer {
	uint64_t at; /* clock_now(); 0: nothing yet */
	struct pvfs_metric *rows; /* its own, */
	struct pvfs_metric
		*names; /* ... as those of files whose names were wanted */
	struct pvfs_ping ping; /* of poller.whole */
	struct statfs space; /* likewise */
};

struct poller_server;

struct poller {
	/* given to poller_init() */
	int timeout_ms; /* of each question */
	unsigned int groups; /* PVFS_METRICS_* */
	bool whole; /* pings, and asks for the space, too */
	/* the files whose names managers are asked for; between two poller_ask() */
	unsigned int nwanted;
	uint64_t wanted[PVFS_METRIC_FILES];
	/* private */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop;
	unsigned int servers;
	struct poller_server **server;
};

/* It stays where it is. */
void poller_init(struct poller *p);
/* A server more, the next number; path: of its mount, or NULL.  Both are copied.  False: no memory. */
bool poller_add(struct poller *p, const char *path, const char *uri,
		bool is_mgr);
/* All begin, unless they still ask.  Waits until deadline of clock_now() at most; for those that were
 * silent the last time, for a moment alone. */
void poller_ask(struct poller *p, uint64_t deadline);
/*
 * 0: the answer of server number i is in *answer, what was there goes back; or errno, ETIMEDOUT
 * also of one that still asks.  *answer begins as zeros, and ends with poller_answer_free().
 */
int poller_take(struct poller *p, unsigned int i, struct poller_answer *answer);
void poller_answer_free(struct poller_answer *answer);
/* poller_ask() waits no longer.  Any thread. */
void poller_stop(struct poller *p);
/* Waits for those that still ask: as long as a question may take. */
void poller_fini(struct poller *p);

#endif
