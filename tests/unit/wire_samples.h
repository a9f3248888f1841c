/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire_samples.h - one good message of every operation and direction, for
 * tests that change one thing at a time and for seeds of the fuzzers.
 */
#ifndef WIRE_SAMPLES_H
#define WIRE_SAMPLES_H

#include <stdbool.h>

#include "common/wire/wire.h"

#define SAMPLE_MAX 2048u /* bytes of the largest one */

struct wire_sample {
	const char *name;
	unsigned int op;
	unsigned int flags; /* WIRE_F_* */
	uint32_t status;
	struct copyset_ref copyset; /* of a request */
	const void *body;
	size_t body_len;
	struct sample_item {
		const void *ptr;
		size_t len;
		size_t count_off; /* of its length field in the body */
	} tail[WIRE_TAIL_MAX];
	unsigned int ntail;
	bool gathered; /* the last item is extra: unpadded */
};

extern const struct wire_sample wire_samples[];
extern const unsigned int wire_nsamples;

/* NULL: no sample of that name. */
const struct wire_sample *wire_sample_find(const char *name);
/* Builds the message in buf (SAMPLE_MAX bytes, aligned to 8). */
size_t wire_sample_build(const struct wire_sample *sample, void *buf);

#endif
