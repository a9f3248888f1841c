/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_sector.h - sealed sectors: the log on disk is a row of sectors of 512 bytes, each with a
 * CRC-32C of its own over its content, its place and the number of its batch.
 *
 * 	| crc | 508 bytes of the batch | crc | 508 bytes of the batch | ...
 *
 * A disk writes a sector as a whole or not at all.  So after a crash a sector of the last batch
 * is either sealed, or still empty: all zeros, as it was when its segment was made.  Anything
 * else is damage.
 */
#ifndef LOG_SECTOR_H
#define LOG_SECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_SECTOR 512u
#define LOG_SECTOR_ROOM (LOG_SECTOR - 4u)

/* Where a row of sectors lies. */
struct log_place {
	uint64_t segment; /* number of the file */
	uint64_t batch; /* number of the batch */
	uint32_t sector; /* the first one, counted from the start of the file */
};

/* Sectors that len bytes need. */
static inline uint32_t log_sectors(size_t len)
{
	return (uint32_t)((len + LOG_SECTOR_ROOM - 1) / LOG_SECTOR_ROOM);
}

/* Writes len bytes as log_sectors(len) sealed sectors to out. */
void log_sectors_seal(const struct log_place *at, const void *data, size_t len,
		      void *out);
/* Whether the sector lies at this place. */
bool log_sector_fits(const struct log_place *at, const void *sector);
bool log_sector_is_empty(const void *sector);
/* Copies len bytes out of sealed sectors, from `from` on. */
void log_sectors_read(const void *sectors, size_t from, void *data, size_t len);

#endif
