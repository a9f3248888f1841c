/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_replay.c - runs a target without libFuzzer: with each seed, with each prefix of it, and with
 * a few hundred mutations, which are the same in each run.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/rnd.h"

#define MUTATIONS 500
#define CUTS 200

static struct rnd rnd;
static unsigned int seeds;

/* Runs an exact copy of the input, so that a sanitizer finds a read after its end. */
static void run(const uint8_t *data, size_t len)
{
	uint8_t *copy = fuzz_copy(data, len);

	fuzz_one(copy, len);
	free(copy);
}

static void mutate(uint8_t *data, size_t len)
{
	static const uint8_t edges[] = { 0, 1, 0x7f, 0x80, 0xff };
	size_t at = rnd_in(&rnd, 0, len - 1);

	switch (rnd_in(&rnd, 0, 3)) {
	case 0:
		data[at] ^= (uint8_t)(1u << rnd_in(&rnd, 0, 7));
		break;
	case 1:
		data[at] = edges[rnd_in(&rnd, 0, 4)];
		break;
	case 2:
		data[at] = (uint8_t)rnd_next(&rnd);
		break;
	default: /* overwrites a field of 8 bytes */
		at -= at % 8;
		memset(data + at, edges[rnd_in(&rnd, 0, 4)],
		       len - at < 8 ? len - at : 8);
	}
}

void fuzz_seed(const void *data, size_t len)
{
	size_t step = len / CUTS + 1;

	seeds++;
	run(data, len);
	for (size_t cut = 0; cut < len; cut += step)
		run(data, cut);
	for (int i = 0; len && i < MUTATIONS; i++) {
		uint8_t *copy = fuzz_copy(data, len);

		for (uint64_t n = rnd_in(&rnd, 1, 4); n; n--)
			mutate(copy, len);
		fuzz_one(copy, len);
		free(copy);
	}
}

int main(void)
{
	rnd_init(&rnd, 19990101);
	fuzz_seeds();
	printf("%u seeds\n", seeds);
	return seeds ? EXIT_SUCCESS : EXIT_FAILURE;
}
