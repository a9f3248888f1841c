/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seal_relay.h - an attacker on a sealed tcp connection: forwards all data, and makes one change (a
 * deed).  It runs in a thread.
 */
#ifndef SEAL_RELAY_H
#define SEAL_RELAY_H

#include <pthread.h>
#include <stdint.h>

enum deed {
	DEED_NONE,
	DEED_FLIP_LEN,
	DEED_FLIP_NUMBER,
	DEED_FLIP_FIRST, /* a bit of the data */
	DEED_FLIP_LAST,
	DEED_FLIP_TAG,
	DEED_INJECT, /* a made-up record before it, with its number */
	DEED_DROP,
	DEED_REPEAT,
	DEED_SWAP, /* exchanges it with the next one */
	DEED_CUT, /* in its middle */
	/* these do not depend on the number of the record: */
	DEED_BARE, /* a frame before SEALED */
	DEED_STRIP, /* removes SEALED */
	DEEDS
};

struct relay {
	uint16_t port; /* clients connect to this port */
	uint16_t to; /* the real port, on this host */
	/* 0: data of the connector; 1: data of the acceptor */
	unsigned int dir;
	unsigned int record;
	enum deed deed;
	int fd;
	pthread_t thread;
};

/* Starts a relay for one connection; `to`, dir, record and deed are set. */
void relay_start(struct relay *relay);
/* Returns after both ends have closed. */
void relay_stop(struct relay *relay);

#endif
