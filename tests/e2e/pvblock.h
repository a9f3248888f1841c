/* SPDX-License-Identifier: BSD-2-Clause */
/* pvblock.h - a program that works until it is told to stop, and its calls. */
#ifndef PVBLOCK_H
#define PVBLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define RECORDS 32
#define RECORD 4096
#define LARGE (1u << 20)
#define KINDS 15

struct place {
	uint64_t began; /* ms; 0: is in no call */
	uint64_t calls, failed, worst; /* of it, and the longest, ms */
	uint64_t tried[RECORDS], answered[RECORDS];
};

struct work {
	struct place *mine;
	char own[32]; /* a name of its own */
	char *buf; /* LARGE */
};

/* In its folder.  False: a call failed. */
struct kind {
	const char *name;
	bool (*once)(struct work *w);
};
extern const struct kind kinds[KINDS];
/* A process of one begins. */
void kinds_begin(void);

uint64_t now_ms(void);
/* A call, and how long it took. */
void enter(const struct work *w);
bool left(const struct work *w, bool good);
#define TIMED(w, call) (enter(w), left(w, call))

#endif
