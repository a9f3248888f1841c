/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disk.c - files in memory, each with two contents: as the process sees it, and as the disk has it.
 * A power failure keeps, loses or tears data that was not synced, sector by sector.  Of the changes
 * of names it keeps a prefix.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/raft_sim/sim_disk.h"

#define SECTOR 512u
#define FILES_MAX 64u
#define NAMES_MAX 128u

struct file {
	bool used;
	uint8_t *now, *stored;
	uint8_t *dirty; /* for each sector: it was not synced yet */
	size_t size, stored_size, room;
};

struct name {
	char name[32];
	int file;
};

struct names {
	struct name list[NAMES_MAX];
	unsigned int n;
};

struct sim_disk {
	struct sim *sim;
	struct sim_disk_faults faults;
	unsigned int open; /* number of open descriptors */
	struct file files[FILES_MAX];
	struct names now;
	/* names[0] is the state on the disk; each further one is the state after one more change */
	struct names *names;
	unsigned int n_names, names_room;
};

struct sim_disk *sim_disk_new(struct sim *sim)
{
	struct sim_disk *disk = calloc(1, sizeof(*disk));

	disk->sim = sim;
	disk->names_room = 16;
	disk->names = calloc(disk->names_room, sizeof(*disk->names));
	disk->n_names = 1;
	return disk;
}

static void file_free(struct file *file)
{
	free(file->now);
	free(file->stored);
	free(file->dirty);
	*file = (struct file){ 0 };
}

void sim_disk_wipe(struct sim_disk *disk)
{
	for (unsigned int i = 0; i < FILES_MAX; i++)
		file_free(&disk->files[i]);
	disk->now.n = 0;
	disk->n_names = 1;
	disk->names[0].n = 0;
}

void sim_disk_free(struct sim_disk *disk)
{
	sim_disk_wipe(disk);
	free(disk->names);
	free(disk);
}

struct sim_disk_faults *sim_disk_faults(struct sim_disk *disk)
{
	return &disk->faults;
}

unsigned int sim_disk_open_files(const struct sim_disk *disk)
{
	return disk->open;
}

/* ---- names ---- */

static bool names_have(const struct names *names, int file)
{
	for (unsigned int i = 0; i < names->n; i++)
		if (names->list[i].file == file)
			return true;
	return false;
}

/*
 * Frees the files that are in no set of names, neither the present one nor one that the disk may
 * have.
 */
static void sweep(struct sim_disk *disk)
{
	for (int i = 0; i < (int)FILES_MAX; i++) {
		bool used = names_have(&disk->now, i);

		for (unsigned int j = 0; !used && j < disk->n_names; j++)
			used = names_have(&disk->names[j], i);
		if (!used && disk->files[i].used)
			file_free(&disk->files[i]);
	}
}

static void names_changed(struct sim_disk *disk)
{
	if (disk->n_names == disk->names_room) {
		disk->names_room *= 2;
		disk->names = reallocarray(disk->names, disk->names_room,
					   sizeof(*disk->names));
	}
	disk->names[disk->n_names++] = disk->now;
}

static struct name *find_name(struct names *names, const char *name)
{
	for (unsigned int i = 0; i < names->n; i++)
		if (!strcmp(names->list[i].name, name))
			return &names->list[i];
	return NULL;
}

static void remove_name(struct names *names, struct name *name)
{
	*name = names->list[--names->n];
}

static void add_name(struct names *names, const char *name, int file)
{
	struct name *new = &names->list[names->n++];

	snprintf(new->name, sizeof(new->name), "%s", name);
	new->file = file;
}

static void settle_names(struct sim_disk *disk)
{
	disk->names[0] = disk->now;
	disk->n_names = 1;
	sweep(disk);
}

/* ---- operations ---- */

/* Returns true if the process must end before this operation. */
static bool is_broken(struct sim_disk *disk)
{
	struct sim_disk_faults *faults = &disk->faults;

	if (faults->breaks_in && !--faults->breaks_in)
		faults->broken = true;
	return faults->broken;
}

static int disk_open(void *arg, const char *name, bool make)
{
	struct sim_disk *disk = arg;
	struct name *found = find_name(&disk->now, name);

	if (!make) {
		disk->open += found != NULL;
		return found ? found->file : -ENOENT;
	}
	if (is_broken(disk))
		return -EIO;
	if (found)
		remove_name(&disk->now, found);
	for (int i = 0; i < (int)FILES_MAX; i++)
		if (!disk->files[i].used) {
			disk->files[i].used = true;
			disk->open++;
			add_name(&disk->now, name, i);
			names_changed(disk);
			return i;
		}
	abort();
}

static void disk_close(void *arg, int fd)
{
	struct sim_disk *disk = arg;

	disk->open--;
}

static int64_t disk_size(void *arg, int fd)
{
	struct sim_disk *disk = arg;

	return (int64_t)disk->files[fd].size;
}

static int disk_read(void *arg, int fd, void *buf, size_t len, uint64_t offset)
{
	struct sim_disk *disk = arg;
	const struct file *file = &disk->files[fd];

	if (offset + len > file->size)
		return -EIO;
	memcpy(buf, file->now + offset, len);
	return 0;
}

static void file_grow(struct file *file, size_t size)
{
	if (size > file->room) {
		size_t room = file->room ? file->room : 8192;

		while (room < size)
			room *= 2;
		file->now = realloc(file->now, room);
		file->stored = realloc(file->stored, room);
		file->dirty = realloc(file->dirty, room / SECTOR);
		memset(file->now + file->room, 0, room - file->room);
		memset(file->stored + file->room, 0, room - file->room);
		memset(file->dirty + file->room / SECTOR, 0,
		       (room - file->room) / SECTOR);
		file->room = room;
	}
	file->size = size;
}

static int full_error(const struct sim_disk *disk)
{
	return disk->faults.quota ? -EDQUOT : -ENOSPC;
}

static int disk_reserve(void *arg, int fd, uint64_t len)
{
	struct sim_disk *disk = arg;

	if (is_broken(disk))
		return -EIO;
	return disk->faults.full && len > disk->files[fd].size
		       ? full_error(disk)
		       : 0;
}

static int disk_write(void *arg, int fd, const void *buf, size_t len,
		      uint64_t offset)
{
	struct sim_disk *disk = arg;
	struct file *file = &disk->files[fd];

	disk->faults.writes++;
	if (is_broken(disk))
		return -EIO;
	if (offset + len > file->size) {
		if (disk->faults.full)
			return full_error(disk);
		file_grow(file, offset + len);
	}
	memcpy(file->now + offset, buf, len);
	memset(file->dirty + offset / SECTOR, 1,
	       (offset + len + SECTOR - 1) / SECTOR - offset / SECTOR);
	return 0;
}

static void store_sector(struct file *file, size_t sector)
{
	memcpy(file->stored + sector * SECTOR, file->now + sector * SECTOR,
	       SECTOR);
}

static int disk_sync(void *arg, int fd)
{
	struct sim_disk *disk = arg;
	struct file *file = &disk->files[fd];

	if (is_broken(disk)) {
		/* as on Linux: data that could not be written counts as written afterwards */
		memset(file->dirty, 0, file->room / SECTOR);
		return -EIO;
	}
	for (size_t i = 0; i < file->room / SECTOR; i++)
		if (file->dirty[i])
			store_sector(file, i);
	memset(file->dirty, 0, file->room / SECTOR);
	file->stored_size = file->size;
	return 0;
}

static int disk_rename(void *arg, const char *from, const char *to)
{
	struct sim_disk *disk = arg;
	struct name *old = find_name(&disk->now, to), *name;

	if (is_broken(disk))
		return -EIO;
	if (old)
		remove_name(&disk->now, old);
	name = find_name(&disk->now, from);
	if (!name)
		return -ENOENT;
	snprintf(name->name, sizeof(name->name), "%s", to);
	names_changed(disk);
	return 0;
}

static int disk_remove(void *arg, const char *name)
{
	struct sim_disk *disk = arg;
	struct name *found = find_name(&disk->now, name);

	if (is_broken(disk))
		return -EIO;
	if (!found)
		return -ENOENT;
	remove_name(&disk->now, found);
	names_changed(disk);
	return 0;
}

static int disk_sync_folder(void *arg)
{
	struct sim_disk *disk = arg;

	if (is_broken(disk))
		return -EIO;
	settle_names(disk);
	return 0;
}

static int disk_list(void *arg, void (*each)(void *ctx, const char *name),
		     void *ctx)
{
	struct sim_disk *disk = arg;

	for (unsigned int i = 0; i < disk->now.n; i++)
		each(ctx, disk->now.list[i].name);
	return 0;
}

static const struct disk_folder_ops disk_ops = {
	.open = disk_open,
	.close = disk_close,
	.size = disk_size,
	.read = disk_read,
	.write = disk_write,
	.reserve = disk_reserve,
	.sync = disk_sync,
	.rename = disk_rename,
	.remove = disk_remove,
	.sync_folder = disk_sync_folder,
	.list = disk_list,
};

struct disk_folder sim_disk_ops(struct sim_disk *disk)
{
	return (struct disk_folder){ &disk_ops, disk };
}

/* ---- power failures ---- */

/*
 * Returns the size of a file after a power failure: a random one between the stored size and the
 * size that the process sees, in whole sectors or up to the end.
 */
static size_t kept_size(struct sim *sim, const struct file *file)
{
	size_t kept = file->stored_size;

	if (file->size > kept)
		kept = sim_random(sim, kept, file->size) / SECTOR * SECTOR +
		       SECTOR;
	return kept < file->size ? kept : file->size;
}

static void lose_file(struct sim_disk *disk, struct file *file)
{
	struct sim *sim = disk->sim;
	unsigned int kept = (unsigned int)sim_random(sim, 0, 2) * 500;

	for (size_t i = 0; i < file->room / SECTOR; i++)
		if (file->dirty[i] && sim_chance(sim, kept))
			store_sector(file, i);
	/* usually a size that was not synced is lost: managers do not read such a file */
	file->size = disk->faults.keeps_size ? kept_size(sim, file)
					     : file->stored_size;
	file->stored_size = file->size;
	if (file->room) {
		memcpy(file->now, file->stored, file->room);
		memset(file->dirty, 0, file->room / SECTOR);
	}
}

void sim_disk_lose_power(struct sim_disk *disk)
{
	struct sim *sim = disk->sim;

	for (unsigned int i = 0; i < FILES_MAX; i++)
		if (disk->files[i].used)
			lose_file(disk, &disk->files[i]);
	disk->now = disk->names[sim_random(sim, 0, disk->n_names - 1)];
	settle_names(disk);
}

uint8_t sim_disk_flip(struct sim_disk *disk, const char *name, uint64_t offset,
		      unsigned int bit)
{
	struct file *file = &disk->files[find_name(&disk->now, name)->file];
	uint8_t before = file->now[offset];

	file->now[offset] ^= (uint8_t)(1u << bit);
	file->stored[offset] ^= (uint8_t)(1u << bit);
	return before;
}
