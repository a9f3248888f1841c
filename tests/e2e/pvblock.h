/* SPDX-License-Identifier: BSD-2-Clause */
/* pvblock.h - a program that works until it must stop, and its timed calls. */
#ifndef PVBLOCK_H
#define PVBLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define RECORDS 32
#define RECORD 4096
#define LARGE (1u << 20)
#define KINDS 15

struct place {
	uint64_t began; /* ms; 0: no call is in progress */
	uint64_t calls, failed, worst; /* worst: the longest call, ms */
	uint64_t tried[RECORDS], answered[RECORDS];
};

struct work {
	struct place *mine;
	char own[32]; /* the name of its own file */
	char *buf; /* LARGE bytes */
};

/* once() runs in the folder DIR.  It returns false if a call failed. */
struct kind {
	const char *name;
	bool (*once)(struct work *w);
};
extern const struct kind kinds[KINDS];
/* Called when the process of a kind begins. */
void kinds_begin(void);

uint64_t now_ms(void);
/* enter() and left() record a call and its duration. */
void enter(const struct work *w);
bool left(const struct work *w, bool good);
#define TIMED(w, call) (enter(w), left(w, call))

#endif
