/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_disk.h - a disk in memory that fails on command.  A power failure keeps, loses or tears data
 * that was not synced, sector by sector.
 */
#ifndef SIM_DISK_H
#define SIM_DISK_H

#include "common/util/disk_folder.h"

struct sim;
/* Implemented by the test that owns the disk: returns a random number in [lo, hi]. */
uint64_t sim_random(struct sim *sim, uint64_t lo, uint64_t hi);
/* Returns true with a probability of n per thousand. */
bool sim_chance(struct sim *sim, unsigned int n);

struct sim_disk;
struct sim_disk *sim_disk_new(struct sim *sim);
void sim_disk_free(struct sim_disk *disk);
struct disk_folder sim_disk_ops(struct sim_disk *disk);
void sim_disk_lose_power(struct sim_disk *disk);
void sim_disk_wipe(struct sim_disk *disk);
/* Inverts a bit, also on the disk.  Returns the previous value of the byte. */
uint8_t sim_disk_flip(struct sim_disk *disk, const char *name, uint64_t offset,
		      unsigned int bit);
struct sim_disk_faults {
	bool full; /* files cannot grow */
	bool quota; /* with full: fails with EDQUOT, not ENOSPC */
	bool broken; /* each write and sync fails */
	/* a power failure may keep a size that was not synced */
	bool keeps_size;
	/* the process ends after this many more operations; 0: never */
	unsigned int breaks_in;
	unsigned int writes; /* number of writes so far */
};
/* Returns the number of open descriptors. */
unsigned int sim_disk_open_files(const struct sim_disk *disk);
struct sim_disk_faults *sim_disk_faults(struct sim_disk *disk);

#endif
