/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intent_file.h - the file of the intent log: a head, then records that are appended.
 *
 *	bytes 0 to 511	head: magic, store, epoch, horizon, CRC-32C; zeros
 *	from 512 on	records of 32 bytes: handle, block, bits (8 bytes each), copyset, CRC-32C (4)
 *
 * All numbers are little-endian.  The CRC of a record covers the epoch and the place of the record,
 * too.  The disk writes a sector of 512 bytes whole or not at all.  So after a crash, a record that
 * was not synced is valid or has zeros.  All other contents are damage.
 *
 * The functions are for one thread at a time.
 */
#ifndef INTENT_FILE_H
#define INTENT_FILE_H

#include "common/util/disk_folder.h"

struct intent_head {
	uint64_t store; /* the id of the store that the log belongs to; not 0 */
	uint64_t epoch; /* a later file of the store has a higher one */
	uint64_t horizon; /* intent_log.h */
};

/* See intent_log.h for the meaning. */
struct intent_record {
	uint64_t handle, copyset, block; /* copyset: below 2^32 */
	uint64_t bits; /* not 0 */
};

struct intent_file {
	struct disk_folder disk;
	int fd;
	uint64_t epoch;
	uint64_t n; /* records */
};

/*
 * Reads the installed file: *head, and each(ctx) for each record, in order.  An error of each() ends
 * it and is returned.  -ENOENT: there is no file.  -EIO: the file is damaged or cannot be read.
 */
int intent_file_load(const struct disk_folder *disk, struct intent_head *head,
		     int (*each)(void *ctx, const struct intent_record *record),
		     void *ctx);

/*
 * Makes a new file with this head.  The installed file stays.  Close it with intent_file_close(),
 * also if it was installed.  -errno of the disk.
 */
int intent_file_make(const struct disk_folder *disk,
		     const struct intent_head *head, struct intent_file *file);
/*
 * Writes n records at the end.  -errno of the disk: none counts as written, and the next call
 * overwrites them.  Until then, intent_file_load() may find some of them.
 */
int intent_file_append(struct intent_file *file,
		       const struct intent_record *records, size_t n);
/* Makes the records durable.  An error is final: the file must not be used again. */
int intent_file_sync(struct intent_file *file);
/*
 * Replaces the installed file by this one, which must be synced.  After an error, either of them
 * may be installed after a crash.
 */
int intent_file_install(struct intent_file *file);
void intent_file_close(struct intent_file *file);

#endif
