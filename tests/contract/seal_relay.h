/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seal_relay.h - who sits in the middle of a sealed tcp connection: passes on what comes,
 * and does one deed.  A thread.
 */
#ifndef SEAL_RELAY_H
#define SEAL_RELAY_H

#include <pthread.h>
#include <stdint.h>

enum deed {
	DEED_NONE,
	DEED_FLIP_LEN,
	DEED_FLIP_NUMBER,
	DEED_FLIP_FIRST, /* of the data */
	DEED_FLIP_LAST,
	DEED_FLIP_TAG,
	DEED_INJECT, /* a record before it, with its number */
	DEED_DROP,
	DEED_REPEAT,
	DEED_SWAP, /* with the next one */
	DEED_CUT, /* in its middle */
	/* the number of the record does not matter: */
	DEED_BARE, /* a frame before SEALED */
	DEED_STRIP, /* there is no SEALED */
	DEEDS
};

struct relay {
	uint16_t port; /* connect to this */
	uint16_t to; /* of this host */
	unsigned int dir; /* 0: data from the connector; 1: the answer */
	unsigned int record;
	enum deed deed;
	int fd;
	pthread_t thread;
};

/* Of one connection; to, dir, record and deed are set. */
void relay_start(struct relay *relay);
/* Both ends have closed. */
void relay_stop(struct relay *relay);

#endif
