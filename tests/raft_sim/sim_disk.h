/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_disk.h - a disk in memory that fails on command.  After a loss of power, what was not synced is
 * there, or not, or torn by sectors.
 */
#ifndef SIM_DISK_H
#define SIM_DISK_H

#include "common/util/disk_folder.h"

struct sim;
/* Of the test that owns the disk: a number in [lo, hi]. */
uint64_t sim_random(struct sim *sim, uint64_t lo, uint64_t hi);
/* true: with a probability of n per thousand. */
bool sim_chance(struct sim *sim, unsigned int n);

struct sim_disk;
struct sim_disk *sim_disk_new(struct sim *sim);
void sim_disk_free(struct sim_disk *disk);
struct disk_folder sim_disk_ops(struct sim_disk *disk);
void sim_disk_lose_power(struct sim_disk *disk);
void sim_disk_wipe(struct sim_disk *disk);
/* Turns a bit over, on the disk too.  The value of the byte before. */
uint8_t sim_disk_flip(struct sim_disk *disk, const char *name, uint64_t offset,
		      unsigned int bit);
struct sim_disk_faults {
	bool full; /* no growth */
	bool quota; /* full by a quota */
	bool broken; /* each write and sync fails */
	bool keeps_size; /* a loss of power may keep a size that was not synced */
	unsigned int breaks_in; /* this many operations more; 0: not */
	unsigned int writes; /* counts them */
};
/* Descriptors that are open. */
unsigned int sim_disk_open_files(const struct sim_disk *disk);
struct sim_disk_faults *sim_disk_faults(struct sim_disk *disk);

#endif
