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
 * Batches.  One write and one sync.  A batch has a number, one higher than the batch before it, and
 * starts in a block of its own.  It holds records: entries, truncations and snapshots.  Each record
 * has a CRC-32C over its head and one over its data, and each sector has one over its content and
 * place (log_sector.h).  A batch is written after the sync of the batch before it has returned.
 *
 * Torn or damaged.  After the last complete batch, n, there may be remains of batch n + 1, whose sync
 * never returned: nobody was promised anything of it.  Each of its sectors is then either sealed for
 * exactly this place and batch n + 1, or all zeros, and at least one is zeros.  Such a tail is cut,
 * that is, durably overwritten with zeros before the log is used.  Anything else that is not zero is
 * damage: a sector with a flipped bit is neither sealed nor zeros, and a sector of batch n + 2 proves
 * that all of batch n + 1 was stored.  Damage is -EIO and a line that names the file and the offset.
 * The member must then be refilled.  Limit: if a disk loses whole sectors of the last batch after it
 * has confirmed them, that looks like a torn batch.
 *
 * Failed syncs.  After a sync that failed, the kernel may go on to show what it will never write.  So the
 * process ends, and at the next start the last batch is written again before it counts.
 *
 * Truncation.  A record: "the entries from this index on are gone".  It lies before the entries that
 * replace them, in an earlier batch or in the same one.  So a truncated entry never reappears next to
 * them.
 *
 * Threads.  One thread at a time.
 *
 * Errors.  -errno, logged.  After an error of entry_log_write() the log must not be used again.
 */
#ifndef ENTRY_LOG_H
#define ENTRY_LOG_H

#include "common/util/log.h"
#include "mgr/raft/log_records.h"
#include "mgr/raft/raft_disk.h"

#define ENTRY_LOG_SEGMENT (8u << 20) /* bytes, the default */

struct entry_log;

struct entry_log_attr {
	struct raft_disk disk;
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

/* Any records whose entry_log_space() is at most so many bytes fit into prepared segments. */
uint64_t entry_log_room(const struct entry_log *el);
/* Bytes of all segments. */
uint64_t entry_log_size(const struct entry_log *el);
/* Bytes that a record of len bytes takes at most. */
uint64_t entry_log_space(size_t len);

#endif
