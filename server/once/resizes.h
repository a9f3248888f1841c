/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resizes.h - the last truncations that were executed, by the number that the manager gave
 * them.  The manager may repeat one after a restart, or if an answer was lost.  Executed a
 * second time, it would cut data that was written in between.
 */
#ifndef RESIZES_H
#define RESIZES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define RESIZES_KEPT 4096u

struct resize_known {
	uint64_t id; /* 0: none */
	bool done; /* otherwise it is in progress */
};

struct resizes {
	pthread_mutex_t lock;
	unsigned int next;
	struct resize_known known[RESIZES_KEPT];
};

enum resize_verdict {
	RESIZE_DO, /* execute it, then call resizes_end() */
	RESIZE_DONE, /* it was executed */
	RESIZE_BUSY /* it is in progress: the manager has to repeat it later */
};

void resizes_init(struct resizes *r);
void resizes_destroy(struct resizes *r);

/*
 * id: of the truncation; 0: it has none, and RESIZE_DO is returned.  *place: for resizes_end();
 * NULL unless RESIZE_DO is returned for an id.
 */
enum resize_verdict resizes_begin(struct resizes *r, uint64_t id,
				  struct resize_known **place);
/* Call it after RESIZE_DO.  done: it was executed; otherwise it is forgotten. */
void resizes_end(struct resizes *r, struct resize_known *place, bool done);

#endif
