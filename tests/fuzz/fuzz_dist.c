/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_dist.c - compares the mapping of striped files with a model, at any offset of any file. */
#include <string.h>

#include "tests/unit/dist_model.h"
#include "common/util/extent.h"
#include "tests/fuzz/fuzz.h"

#define WALK_MAX 4096u

struct input {
	uint32_t pcount, ssize;
	uint64_t off, len;
};

/* Walks the pieces of server k in the range.  Returns their bytes. */
static uint64_t walk(const struct dist *d, uint32_t k, uint64_t off,
		     uint64_t len)
{
	uint64_t delta, n, total = 0, after = 0;
	struct dist_iter it;

	dist_iter_init(&it, d, k, off, len);
	while (dist_iter_next(&it, &delta, &n)) {
		FUZZ_SURE(n && delta >= after && n <= len - delta);
		FUZZ_SURE(dist_server(d, off + delta) == k);
		FUZZ_SURE(dist_server(d, off + delta + n - 1) == k);
		after = delta + n;
		total += n;
	}
	return total;
}

/* Compares a short range byte by byte, from the start of its round of stripes. */
static void against_model(const struct dist *d, uint64_t off, uint64_t len)
{
	uint64_t first[DIST_MODEL_SERVERS], local;
	struct dist_model m;

	dist_model_init(&m, d, dist_model_round(d, off));
	while (m.off < off)
		dist_model_step(&m);
	memcpy(first, m.local, sizeof(first));
	while (m.off < off + len) {
		FUZZ_SURE(dist_server(d, m.off) == m.server);
		FUZZ_SURE(dist_local(d, m.off) == m.local[m.server]);
		dist_model_step(&m);
	}
	for (uint32_t k = 0; k < d->pcount; k++) {
		uint64_t share = dist_share(d, k, off, len, &local);

		FUZZ_SURE(local == first[k]);
		FUZZ_SURE(local + share == m.local[k]);
		FUZZ_SURE(walk(d, k, off, len) == share);
	}
}

/* Checks any range: the shares of the servers add up to it, and each offset maps back to itself. */
static void against_itself(const struct dist *d, uint64_t off, uint64_t len)
{
	uint64_t sum = 0, max = 0, size, local;

	for (uint32_t k = 0; k < d->pcount; k++) {
		sum += dist_share(d, k, off, len, &local);
		size = dist_file_size(d, k, dist_local_size(d, k, off));
		FUZZ_SURE(size <= off);
		max = size > max ? size : max;
	}
	FUZZ_SURE(sum == len && max == off);
	FUZZ_SURE(dist_logical(d, dist_server(d, off), dist_local(d, off)) ==
		  off);
}

void fuzz_one(const uint8_t *data, size_t len)
{
	struct dist d = { 0 };
	struct input in;
	uint64_t end;

	if (len < sizeof(in))
		return;
	memcpy(&in, data, sizeof(in));
	d.pcount = in.pcount % DIST_MODEL_SERVERS + 1;
	d.ssize = in.ssize;
	if (dist_check(&d, d.pcount) || !extent_end(in.off, in.len, &end))
		return;
	against_itself(&d, in.off, in.len);
	FUZZ_SURE(dist_logical(&d, d.pcount - 1, in.off) >= in.off);
	d.ssize = DIST_SSIZE_MIN + in.ssize % 64;
	in.len %= WALK_MAX;
	against_model(&d, in.off, in.len);
}

void fuzz_seeds(void)
{
	static const struct input in[] = {
		{ 0, 65536, 0, 1 << 20 },
		{ 2, 64, 100, 1000 },
		{ 7, 100, 12345, 4095 },
		{ 63, DIST_SSIZE_MAX, 1ull << 40, 1ull << 33 },
		{ 4, 77, INT64_MAX - 3000, 3000 },
		{ 0, 64, INT64_MAX, 0 },
	};

	for (unsigned int i = 0; i < sizeof(in) / sizeof(in[0]); i++)
		fuzz_seed(&in[i], sizeof(in[i]));
}
