/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records.h - the records of one direction of a sealed connection. Integers are little-endian.
 *
 *	head	 0 u32 len	bytes of data, 1 to RECORD_DATA_MAX
 *		 4 u32 number	of earlier records, lower 32 bits
 *	data
 *	tag	SEALER_TAG_LEN bytes, computed over head and data
 *
 * The tag authenticates the position of the record; number only serves error messages.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include "common/transport/tp_seal.h"

#define RECORD_HEAD_LEN 8u
#define RECORD_DATA_MAX 131072u
#define RECORD_MAX (RECORD_HEAD_LEN + RECORD_DATA_MAX + SEALER_TAG_LEN)
#define RECORDS_ROOM 2u /* whole records that a buffer holds */
#define RECORDS_KEPT 8192u /* opened bytes that wait for the next record */

/*
 * Received records, which are opened in place.
 *
 *  buf     | kept | .. opened, used ..  | window | raw bytes |   room
 *                                       at      end, raw_at  raw_end
 *
 * The window [at, end) holds opened bytes that are not used yet. Opened bytes that remain are moved
 * so that they directly precede the next record's data.
 */
struct records_in {
	uint8_t *buf;
	uint32_t raw_at, raw_end;
	uint32_t number;
};
struct records_window {
	uint32_t at, end;
};

/* Initialises *in, and sets *w to an empty window.  Returns 0 or -ENOMEM. */
int records_in_open(struct records_in *in, struct records_window *w);
/* Frees the buffers of in, which may also be all zeros. */
void records_in_free(struct records_in *in);
/*
 * records_in_room() returns the address for the next received bytes, of which *room fit, at least
 * one. After receiving, the caller passes their number to records_in_add().
 */
void *records_in_room(struct records_in *in, struct records_window *w,
		      uint32_t *room);
void records_in_add(struct records_in *in, uint32_t n);
/* Whether there is a whole record, or one whose head is invalid. */
bool records_in_ready(const struct records_in *in);
/* Whether there is part of a record. */
bool records_in_begun(const struct records_in *in);
/*
 * Opens the next record; the window *w may have at most RECORDS_KEPT bytes. Returns 1: its data was
 * appended to the window; 0: the record is incomplete; -EBADMSG: it is invalid, and *flaw says why;
 * or another error of sealer->open().
 */
int records_in_next(struct records_in *in, struct sealer *sealer,
		    struct records_window *w, enum tp_flaw *flaw);

/* Records to send: [sent, end) of buf. */
struct records_out {
	uint8_t *buf;
	uint32_t sent, end;
	uint32_t number;
};
int records_out_open(struct records_out *out); /* -ENOMEM */
void records_out_free(struct records_out *out);
/* Returns the place for the data of the next record, RECORD_DATA_MAX bytes. NULL: no room. */
void *records_out_data(struct records_out *out);
/*
 * Seals a record with the data of the n pieces from, len bytes in total, at least 1. Returns 0 or
 * the error of sealer->seal().
 */
int records_out_close(struct records_out *out, struct sealer *sealer,
		      const struct iovec *from, unsigned int n, uint32_t len);
static inline uint32_t records_out_left(const struct records_out *out)
{
	return out->end - out->sent;
}
/* n bytes of the records were sent. */
void records_out_took(struct records_out *out, uint32_t n);

#endif
