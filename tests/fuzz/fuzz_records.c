/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_records.c - the bytes of a sealed connection, received in chunks of any size. */
#include <errno.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "common/transport/tcp/seal/records.h"

/* Accepts each record whose tag is all zeros. */
static int open_zeros(struct sealer *s, const void *head, size_t head_len,
		      void *data, size_t len, const uint8_t *tag)
{
	static const uint8_t zeros[SEALER_TAG_LEN];

	return memcmp(tag, zeros, sizeof(zeros)) ? -EBADMSG : 0;
}

static void feed(struct records_in *in, struct records_window *w,
		 const uint8_t **data, size_t *size)
{
	uint32_t room, n = (uint32_t)(**data * 64 + 1);
	uint8_t *to = records_in_room(in, w, &room);

	--*size;
	++*data;
	n = n > room ? room : n;
	n = n > *size ? (uint32_t)*size : n;
	memcpy(to, *data, n);
	records_in_add(in, n);
	*data += n;
	*size -= n;
}

/*
 * Checks that the opened bytes are all in the buffer.  Some of them may wait for the next record.
 */
static void use(const struct records_in *in, struct records_window *w)
{
	FUZZ_SURE(w->at <= w->end && w->end <= in->raw_at);
	FUZZ_SURE(in->raw_at <= in->raw_end);
	fuzz_touch(in->buf + w->at, w->end - w->at);
	w->at = w->end - (w->end - w->at) % RECORDS_KEPT;
}

/* The input consists of chunks.  A byte before each chunk is its length. */
void fuzz_one(const uint8_t *data, size_t len)
{
	struct sealer sealer = { .open = open_zeros };
	enum tp_flaw flaw = TP_FLAWS;
	struct records_window w;
	struct records_in in;
	int rc = 0;

	FUZZ_SURE(!records_in_open(&in, &w));
	while (len && rc >= 0) {
		feed(&in, &w, &data, &len);
		while ((rc = records_in_next(&in, &sealer, &w, &flaw)) == 1)
			use(&in, &w);
		FUZZ_SURE(rc == 0 || (rc == -EBADMSG && flaw < TP_FLAWS));
	}
	records_in_free(&in);
}

/* Adds a seed with records of these lengths, cut into chunks of one size. */
static void seed(const uint32_t *lens, uint32_t n, uint8_t chunk)
{
	static uint8_t all[3 * RECORD_MAX], cut[4 * RECORD_MAX];
	size_t have = 0, at, put = 0;

	memset(all, 0, sizeof(all));
	for (uint32_t i = 0; i < n; i++) {
		memcpy(all + have, &lens[i], 4);
		memcpy(all + have + 4, &i, 4);
		memset(all + have + RECORD_HEAD_LEN, 7, lens[i]);
		have += RECORD_HEAD_LEN + lens[i] + SEALER_TAG_LEN;
	}
	for (at = 0; at < have;) {
		size_t k = chunk * 64u + 1;

		k = k > have - at ? have - at : k;
		cut[put++] = chunk;
		memcpy(cut + put, all + at, k);
		put += k;
		at += k;
	}
	fuzz_seed(cut, put);
}

void fuzz_seeds(void)
{
	static const uint32_t few[] = { 1, 16, 100, 300 };
	static const uint32_t big[] = { RECORD_DATA_MAX, 1, RECORD_DATA_MAX,
					5000 };

	seed(few, 4, 0);
	seed(few, 4, 3);
	seed(big, 4, 255);
	seed(big, 1, 17);
}
