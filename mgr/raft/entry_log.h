/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * entry_log.h - the log of a member on disk.
 *
 * 	log.00000007              log.00000008              log.00000009
 * 	| batch | batch | batch | | batch | batch |  zeros  | |    zeros    |
 *
 * Files.  The log is a row of segments of one size.  A segment is written with zeros and synced
 * before it gets its name; the next one is made before it is needed.  Segments are removed at the
 * head, once a snapshot replaces what they hold.  Nothing is ever overwritten, except the remains
 * of a torn batch.
 *
 * Batches.  A batch is one write and one sync.  Its number is one higher than that of the batch
 * before it, and it starts in a block of its own.  It holds records: entries, truncations and
 * snapshots.  Each record has a CRC-32C over its head and one over its data.  Each sector has one
 * over its content and place (log_sector.h).  A batch is written once the sync of the batch before
 * it has returned.
 *
 * Torn batches.  After the last complete batch, n, there may be remains of batch n + 1.  Its sync
 * never returned, so nothing in it was acknowledged.  Each of its sectors is either sealed for
 * exactly this place and batch n + 1, or all zeros, and at least one is all zeros.  Opening the log
 * removes such a tail: it durably overwrites it with zeros.
 *
 * Damage.  Anything else that is not zero is damage.  A sector with a flipped bit is neither sealed
 * nor zeros, and a sector of batch n + 2 proves that all of batch n + 1 was stored.  The log then
 * logs the file and the offset and returns -EIO, and the member must be refilled.
 *
 * Lost ends.  If a disk loses sectors at the end of the log after it has confirmed them, the rest
 * looks like a torn batch, or like an earlier end.  So the file log.end has the number of the last
 * batch that was synced (log_end_file.c).  If the log ends before it, that is damage, too.  Limit:
 * the file is not synced, so after a power loss it may have an earlier number.
 *
 * Failed syncs.  After a failed sync, the page cache may show data that will never reach the disk.
 * So the process ends.  The next start writes the last batch again before it trusts it.
 *
 * Truncation.  A truncation record says that the entries from an index on are removed.  It precedes
 * the entries that replace them, in an earlier batch or in the same one.  So a removed entry never
 * reappears together with its replacement.
 *
 * Threads.  Only one thread at a time may use a log.
 *
 * Errors.  -errno, logged.  After an error of entry_log_write() the log must not be used again.
 */
#ifndef ENTRY_LOG_H
#define ENTRY_LOG_H

#include "common/util/log.h"
#include "mgr/raft/log_records.h"
#include "common/util/disk_folder.h"

#define ENTRY_LOG_SEGMENT (8u << 20) /* bytes, the default */

struct entry_log;

struct entry_log_attr {
	struct disk_folder disk;
	uint32_t segment_size; /* a multiple of 4096, at least 65536; all segments have it */
	uint64_t limit; /* bytes of all segments */
	const struct log *log;
};

/* Opens the log, or makes an empty one, and fills *contents.  -EINVAL: segment_size. */
int entry_log_open(const struct entry_log_attr *attr,
		   struct log_contents *contents, struct entry_log **el);
void entry_log_close(struct entry_log *el);

/* Writes n records as one batch, or as several if they need more than one segment; durable. */
int entry_log_write(struct entry_log *el, const struct log_record *records,
		    size_t n);
/* Removes the segments that hold only entries below `index`.  A snapshot must replace these. */
int entry_log_cut(struct entry_log *el, uint64_t index);
/*
 * Makes the next segment if it is missing.  -ENOSPC: the disk is full, or the log is as large as it
 * may be; nothing is lost.
 */
int entry_log_prepare(struct entry_log *el);

/* Bytes: records with at most this sum of entry_log_space() fit into the prepared segments. */
uint64_t entry_log_room(const struct entry_log *el);
/* Bytes of all segments. */
uint64_t entry_log_size(const struct entry_log *el);
/* The most bytes that a record with len bytes of data takes on disk. */
uint64_t entry_log_space(size_t len);

#endif
