/* SPDX-License-Identifier: BSD-2-Clause */
/* records.c - see records.h. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/tcp/seal/records.h"

#define IN_LEN (RECORDS_KEPT + RECORDS_ROOM * RECORD_MAX)

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

int records_in_open(struct records_in *in, struct records_window *w)
{
	in->buf = malloc(IN_LEN);
	if (!in->buf)
		return -ENOMEM;
	in->raw_at = in->raw_end = RECORDS_KEPT;
	in->number = 0;
	*w = (struct records_window){ RECORDS_KEPT, RECORDS_KEPT };
	return 0;
}

void records_in_free(struct records_in *in)
{
	free(in->buf);
	in->buf = NULL;
}

/* Moves the window so that it ends at `to`. */
static void move_window(struct records_in *in, struct records_window *w,
			uint32_t to)
{
	uint32_t len = w->end - w->at;

	memmove(in->buf + to - len, in->buf + w->at, len);
	w->at = to - len;
	w->end = to;
}

void *records_in_room(struct records_in *in, struct records_window *w,
		      uint32_t *room)
{
	uint32_t have = in->raw_end - in->raw_at;

	if (!have || IN_LEN - in->raw_at < RECORD_MAX) {
		move_window(in, w, RECORDS_KEPT);
		memmove(in->buf + RECORDS_KEPT, in->buf + in->raw_at, have);
		in->raw_at = RECORDS_KEPT;
		in->raw_end = RECORDS_KEPT + have;
	}
	*room = IN_LEN - in->raw_end;
	return in->buf + in->raw_end;
}

void records_in_add(struct records_in *in, uint32_t n)
{
	in->raw_end += n;
}

/* Whether the head at raw_at is invalid, and how. The head must be there. */
static bool head_flaw(const struct records_in *in, enum tp_flaw *flaw)
{
	const uint8_t *head = in->buf + in->raw_at;
	uint32_t len = u32_at(head);

	if (!len || len > RECORD_DATA_MAX)
		*flaw = TP_FLAW_LENGTH;
	else if (u32_at(head + 4) != in->number)
		*flaw = TP_FLAW_ORDER;
	else
		return false;
	return true;
}

bool records_in_ready(const struct records_in *in)
{
	uint32_t have = in->raw_end - in->raw_at;
	enum tp_flaw flaw;

	return have >= RECORD_HEAD_LEN &&
	       (head_flaw(in, &flaw) ||
		have >= RECORD_HEAD_LEN + u32_at(in->buf + in->raw_at) +
				SEALER_TAG_LEN);
}

bool records_in_begun(const struct records_in *in)
{
	return in->raw_end > in->raw_at;
}

int records_in_next(struct records_in *in, struct sealer *sealer,
		    struct records_window *w, enum tp_flaw *flaw)
{
	uint8_t *head = in->buf + in->raw_at, *data = head + RECORD_HEAD_LEN;
	uint32_t len;
	int rc;

	if (!records_in_ready(in))
		return 0;
	if (head_flaw(in, flaw))
		return -EBADMSG;
	len = u32_at(head);
	*flaw = TP_FLAW_FALSE;
	rc = sealer->open(sealer, head, RECORD_HEAD_LEN, data, len, data + len);
	if (rc)
		return rc;
	move_window(in, w, in->raw_at + RECORD_HEAD_LEN);
	w->end += len;
	in->raw_at = w->end + SEALER_TAG_LEN;
	in->number++;
	return 1;
}

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
