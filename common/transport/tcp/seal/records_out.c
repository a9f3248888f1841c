/* SPDX-License-Identifier: BSD-2-Clause */
/* records_out.c - records to send: see records.h. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/tcp/seal/records.h"

#define OUT_LEN (RECORDS_ROOM * RECORD_MAX)

int records_out_open(struct records_out *out)
{
	*out = (struct records_out){ .buf = malloc(OUT_LEN) };
	return out->buf ? 0 : -ENOMEM;
}

void records_out_free(struct records_out *out)
{
	free(out->buf);
	out->buf = NULL;
}

void *records_out_data(struct records_out *out)
{
	if (OUT_LEN - out->end < RECORD_MAX)
		return NULL;
	return out->buf + out->end + RECORD_HEAD_LEN;
}

int records_out_close(struct records_out *out, struct sealer *sealer,
		      const struct iovec *from, unsigned int n, uint32_t len)
{
	uint32_t word[2] = { htole32(len), htole32(out->number) };
	uint8_t *head = out->buf + out->end, *data = head + RECORD_HEAD_LEN;
	int rc;

	_Static_assert(sizeof(word) == RECORD_HEAD_LEN, "the head");
	memcpy(head, word, sizeof(word));
	rc = sealer->seal(sealer, head, RECORD_HEAD_LEN, from, n, data,
			  data + len);
	if (rc)
		return rc;
	out->end += RECORD_HEAD_LEN + len + SEALER_TAG_LEN;
	out->number++;
	return 0;
}

void records_out_took(struct records_out *out, uint32_t n)
{
	out->sent += n;
	if (out->sent == out->end)
		out->sent = out->end = 0;
}
