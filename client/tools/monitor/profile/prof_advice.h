/* SPDX-License-Identifier: BSD-2-Clause */
/* prof_advice.h - what a program can do better. */
#ifndef PROF_ADVICE_H
#define PROF_ADVICE_H

#include "client/tools/monitor/profile/profile_data.h"

struct advice_line {
	const char *name; /* of the rule; static */
	char text[1024];
};

/*
 * Gets the lines that apply, in *lines, which the caller frees.  Returns how many; -1:
 * no memory.
 */
int prof_advice(const struct prof *all, struct advice_line **lines);

#endif
