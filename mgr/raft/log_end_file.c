/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_end_file.c - the number of the last batch that was synced, in a file of its own.  Without it,
 * batches that the disk lost after it had confirmed them would look like an earlier end of the log.
 *
 * The file is written after the sync of a batch, before anything in the batch is acknowledged, and
 * is not synced then.  So it is never ahead of the log.  If only the process dies, the page cache
 * keeps the file.  After a power loss it may be as old as the kernel's write-back permits.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "mgr/raft/entry_log_int.h"

#define END_NAME "log.end"
#define END_MAGIC 0x31646e6567707670ull

enum { WORD_MAGIC, WORD_BATCH, WORDS };

static const struct log_place end_place = { .batch = END_MAGIC };

static void end_seal(uint64_t batch, void *sector)
{
	const uint64_t words[WORDS] = { htole64(END_MAGIC), htole64(batch) };

	log_sectors_seal(&end_place, words, sizeof(words), sector);
}

int log_end_write(struct entry_log *el)
{
	uint8_t sector[LOG_SECTOR];

	end_seal(el->batch, sector);
	return disk_folder_write(&el->disk, el->end, sector, LOG_SECTOR, 0);
}

/* Makes the file atomically. */
static int make_end(struct entry_log *el)
{
	const struct disk_folder *disk = &el->disk;
	int rc, fd = disk_folder_open_file(disk, SEGMENT_NEW_NAME, true);

	if (fd < 0)
		return fd;
	el->end = fd;
	rc = log_end_write(el);
	rc = rc ? rc : disk_folder_sync(disk, fd);
	return rc ? rc : disk_folder_install(disk, SEGMENT_NEW_NAME, END_NAME);
}

static int check_end(const struct entry_log *el)
{
	uint8_t sector[LOG_SECTOR];
	uint64_t words[WORDS];
	int rc = disk_folder_read(&el->disk, el->end, sector, LOG_SECTOR, 0);

	if (rc || !log_sector_fits(&end_place, sector)) {
		log_error(el->log,
			  END_NAME " cannot be read: %s; this member must be "
				   "filled again from the others",
			  rc ? strerror(-rc) : "wrong checksum");
		return -EIO;
	}
	log_sectors_read(sector, 0, words, sizeof(words));
	if (le64toh(words[WORD_BATCH]) <= el->batch)
		return 0;
	log_error(el->log,
		  "the log ends after batch %" PRIu64 ", but batch %" PRIu64
		  " was written: its end is lost; this member must be filled "
		  "again from the others",
		  el->batch, le64toh(words[WORD_BATCH]));
	return -EIO;
}

int log_end_open(struct entry_log *el)
{
	int rc, fd = disk_folder_open_file(&el->disk, END_NAME, false);

	if (fd >= 0) {
		el->end = fd;
		return check_end(el);
	}
	rc = fd == -ENOENT ? make_end(el) : fd;
	if (rc)
		log_error(el->log, "cannot make or open " END_NAME ": %s",
			  strerror(-rc));
	return rc;
}
