/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resizes.h - the truncations that were carried out last, by the number that the
 * manager gave them.  It may ask for one again, after a restart or when an answer
 * was lost; done a second time, it would cut what was written in between.
 */
#ifndef RESIZES_H
#define RESIZES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define RESIZES_KEPT 4096u

struct resize_known {
	uint64_t id; /* 0: none */
	bool done; /* else it is being done */
};

struct resizes {
	pthread_mutex_t lock;
	unsigned int next;
	struct resize_known known[RESIZES_KEPT];
};

enum resize_verdict {
	RESIZE_DO, /* and tell the end */
	RESIZE_DONE, /* it was */
	RESIZE_BUSY /* somebody does: ask later */
};

void resizes_init(struct resizes *r);
void resizes_destroy(struct resizes *r);

/*
 * id: of the truncation, 0: it has none, and is done.  *place: with RESIZE_DO, for
 * the end.
 */
enum resize_verdict resizes_begin(struct resizes *r, uint64_t id,
				  struct resize_known **place);
/* After RESIZE_DO.  done: it was carried out. */
void resizes_end(struct resizes *r, struct resize_known *place, bool done);

#endif
