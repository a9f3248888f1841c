/* SPDX-License-Identifier: BSD-2-Clause */
/* entry_log_int.h - for the files of the log: segments, and the head of a batch. */
#ifndef ENTRY_LOG_INT_H
#define ENTRY_LOG_INT_H

#include <stdio.h>

#include "mgr/raft/entry_log.h"
#include "mgr/raft/log_sector.h"

#define LOG_BLOCK 4096u /* a batch starts at a multiple of it */
#define SEGMENT_MIN 65536u /* bytes */
#define SEGMENT_NAME_MAX 24u

struct log_segment {
	uint64_t number;
	uint64_t high; /* highest index of an entry in it */
};

struct entry_log {
	struct disk_folder disk;
	uint32_t segment_size;
	uint64_t limit;
	const struct log *log;

	/* The segments with batches, oldest first; the last one is written to. */
	struct log_segment *segments;
	size_t n, room;
	int fd; /* of the last segment */
	uint32_t pos; /* where its next batch starts */
	int spare; /* the descriptor of the next segment; -1: not made yet */
	int end; /* the descriptor of the file with the number of the last batch */
	uint64_t batch; /* number of the last batch */
	uint64_t next; /* index of the next entry */

	uint8_t *records; /* a batch before it is sealed; segment_size bytes */
	uint8_t *sectors; /* a batch after it is sealed; segment_size bytes */
};

/* The start of a batch. */
struct batch_head {
	uint64_t magic;
	uint64_t batch;
	uint64_t next; /* index of the next entry before this batch */
	uint32_t len; /* bytes of records */
	uint32_t crc; /* over the fields before it */
};
#define BATCH_MAGIC 0x31676f6c70767370ull

/* ---- log_segment.c ---- */

uint32_t batch_head_crc(const struct batch_head *head);
/* Bytes that a batch with len bytes of records takes, in whole blocks. */
static inline uint32_t batch_span(size_t len)
{
	size_t bytes = (size_t)log_sectors(sizeof(struct batch_head) + len) *
		       LOG_SECTOR;

	return (uint32_t)((bytes + LOG_BLOCK - 1) / LOG_BLOCK * LOG_BLOCK);
}
/* How many bytes of records fit into a batch that takes at most this many bytes. */
size_t batch_room(uint32_t bytes);

void segment_name(uint64_t number, char name[SEGMENT_NAME_MAX]);
#define SEGMENT_NEW_NAME "log.new"
/* Makes an empty segment, durably.  Returns its descriptor, or -errno. */
int segment_make(struct entry_log *el, uint64_t number);
int segments_add(struct entry_log *el, uint64_t number);

/* ---- log_end_file.c ---- */

/*
 * Opens the file, or makes it if it is missing: the log is new, or was written by a release without
 * this file.  -EIO: the file is damaged, or the log lacks batches that were synced.
 */
int log_end_open(struct entry_log *el);
/* Stores the number of the last batch. */
int log_end_write(struct entry_log *el);

/* ---- entry_log_load.c ---- */

/* Reads all segments into *contents, and removes the remains of a torn batch. */
int entry_log_load(struct entry_log *el, struct log_contents *contents);

#endif
