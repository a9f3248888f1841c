/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records.h - the bytes of one direction of a sealed connection, in records.  Integers are
 * little-endian.
 *
 *	head	 0 u32 len		bytes of data, 1 to RECORD_DATA_MAX
 *		 4 u32 number		of records before it, its lower 32 bits
 *	data
 *	tag	SEALER_TAG_LEN bytes	about head and data
 *
 * The tag says which record it is, whatever number says: that is for messages.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include "common/transport/tp_seal.h"

#define RECORD_HEAD_LEN 8u
#define RECORD_DATA_MAX 131072u
#define RECORD_MAX (RECORD_HEAD_LEN + RECORD_DATA_MAX + SEALER_TAG_LEN)
#define RECORDS_ROOM 2u /* whole ones that a buffer holds */
#define RECORDS_KEPT 8192u /* opened bytes that wait for the next record */

/*
 * Those that come, opened where they lie.
 *
 *	buf     | kept | .. opened, used ..  | window | raw bytes |   room
 *	                                     at      end, raw_at  raw_end
 *
 * The window is what is opened and not used: [at, end).  Opened bytes that are left there
 * are moved up to the front of the next record's.
 */
struct records_in {
	uint8_t *buf;
	uint32_t raw_at, raw_end;
	uint32_t number;
};
struct records_window {
	uint32_t at, end;
};

/* -ENOMEM; *w is empty. */
int records_in_open(struct records_in *in, struct records_window *w);
/* Any state, zeros as well. */
void records_in_free(struct records_in *in);
/* Where *room more bytes may be put, never none; then how many were. */
void *records_in_room(struct records_in *in, struct records_window *w,
		      uint32_t *room);
void records_in_add(struct records_in *in, uint32_t n);
/* Whether there is a whole record, or one that is wrong by its head. */
bool records_in_ready(const struct records_in *in);
/* Whether there is some of a record. */
bool records_in_begun(const struct records_in *in);
/*
 * Opens the next one; at most RECORDS_KEPT bytes are left in the window.  1: it is in
 * the window; 0: more bytes are needed; -EBADMSG, and *flaw; as sealer->open().
 */
int records_in_next(struct records_in *in, struct sealer *sealer,
		    struct records_window *w, enum tp_flaw *flaw);

/* Those that leave: [sent, end) of buf. */
struct records_out {
	uint8_t *buf;
	uint32_t sent, end;
	uint32_t number;
};
int records_out_open(struct records_out *out); /* -ENOMEM */
void records_out_free(struct records_out *out);
/* Where the data of the next record goes, RECORD_DATA_MAX bytes; NULL: no room. */
void *records_out_data(struct records_out *out);
/* It is what n pieces have, len bytes, at least one.  As sealer->seal(). */
int records_out_close(struct records_out *out, struct sealer *sealer,
		      const struct iovec *from, unsigned int n, uint32_t len);
static inline uint32_t records_out_left(const struct records_out *out)
{
	return out->end - out->sent;
}
/* So many of them left. */
void records_out_took(struct records_out *out, uint32_t n);

#endif
