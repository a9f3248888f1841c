/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire_samples.h - one valid message of every operation and direction, for tests that change one
 * field at a time, and for seeds of the fuzzers.
 */
#ifndef WIRE_SAMPLES_H
#define WIRE_SAMPLES_H

#include <stdbool.h>

#include "common/wire/wire.h"

#define SAMPLE_MAX 2048u /* bytes of the largest sample */

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
		size_t count_off; /* offset of its length field in the body */
	} tail[WIRE_TAIL_MAX];
	unsigned int ntail;
	bool gathered; /* the last item is an extra one, without padding */
};

extern const struct wire_sample wire_samples[];
extern const unsigned int wire_nsamples;

/* Returns NULL if there is no sample of that name. */
const struct wire_sample *wire_sample_find(const char *name);
/* Builds the message in buf (SAMPLE_MAX bytes, aligned to 8).  Returns its length. */
size_t wire_sample_build(const struct wire_sample *sample, void *buf);

#endif
