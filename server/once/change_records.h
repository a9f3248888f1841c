/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * change_records.h - which changes of clients have reached a copyset with several members, so that
 * none is made twice if the primary fails before it answers.
 *
 * Each member has these records.  A primary divides a change into parts, and each order for a part
 * names the change: its session, the iod that got it, its slot there and its seq.  A change is done
 * when parts with all of its bytes were recorded.  Only parts that were made are recorded.  (Request
 * identifiers and completion records as in RIFL: Lee and others, SOSP 2015.)
 *
 * A slot has one request at a time, so a record replaces that of the request before it.  A full
 * table drops the record whose last part is the oldest.  Until the client of this change has given
 * up, it is then unknown of any change without a record whether it was made.
 *
 * The caller passes the time of its clock_boot().  All functions except change_records_open() and
 * change_records_close() may be called from any thread.
 */
#ifndef CHANGE_RECORDS_H
#define CHANGE_RECORDS_H

#include <stdint.h>

#define CHANGE_RECORDS_MAX 65536u

struct change_records;

/* max: of records, at least 1.  Nothing else is allocated before the first part.  -ENOMEM. */
int change_records_open(unsigned int max, struct change_records **records);
/* NULL: nothing happens. */
void change_records_close(struct change_records *records);

/* A request of a client. */
struct change_id {
	uint64_t session;
	uint32_t origin; /* the iod that got it */
	uint32_t slot; /* of the session at that iod */
	uint64_t seq; /* of the slot: grows with each request; not 0 */
};

/*
 * Records a part of `bytes` bytes of a change with `total` bytes, which is not 0;
 * both are below 2^63.  until: after this
 * time the client does not ask about the change.  A part of an earlier request than that in the
 * record is ignored.
 */
void change_records_add(struct change_records *records,
			const struct change_id *id, uint64_t bytes,
			uint64_t total, uint64_t until);

enum change_outcome {
	CHANGE_UNKNOWN, /* no part of it was made */
	CHANGE_PART, /* not all parts */
	CHANGE_DONE
};
/*
 * Sets *outcome, and *done to the number of recorded bytes.  -ECONNABORTED: the record, or parts in
 * it, may have been dropped, or the slot has had a later request.
 */
int change_records_find(struct change_records *records,
			const struct change_id *id, uint64_t now,
			enum change_outcome *outcome, uint64_t *done);

/* Drops the records of a session that has ended. */
void change_records_end_session(struct change_records *records,
				uint64_t session);

#endif
