/* SPDX-License-Identifier: BSD-2-Clause */
/* vote_file.c - see vote_file.h. */
#include "mgr/raft/vote_file.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "mgr/raft/log_sector.h"

#define VOTE_NAME "vote"
#define VOTE_NEW_NAME "vote.new"
/* The slots are in different blocks of any disk. */
#define SLOT_SPACE 4096u
#define FILE_SIZE (2 * SLOT_SPACE)
#define VOTE_MAGIC 0x31766d6670767370ull

enum {
	WORD_MAGIC,
	WORD_SEQUENCE,
	WORD_GROUP,
	WORD_MEMBER,
	WORD_TERM,
	WORD_VOTED_FOR,
	WORDS
};

static struct log_place slot_place(uint64_t sequence)
{
	return (struct log_place){ .batch = VOTE_MAGIC,
				   .sector = (uint32_t)(sequence % 2) };
}

static void slot_seal(const struct vote *vote, uint64_t sequence, void *sector)
{
	struct log_place place = slot_place(sequence);
	uint64_t words[WORDS] = {
		[WORD_MAGIC] = htole64(VOTE_MAGIC),
		[WORD_SEQUENCE] = htole64(sequence),
		[WORD_GROUP] = htole64(vote->group),
		[WORD_MEMBER] = htole64(vote->member),
		[WORD_TERM] = htole64(vote->term),
		[WORD_VOTED_FOR] = htole64(vote->voted_for),
	};

	log_sectors_seal(&place, words, sizeof(words), sector);
}

static int write_slot(struct vote_file *file, const struct vote *vote,
		      uint64_t sequence)
{
	const struct disk_folder *disk = &file->disk;
	uint8_t sector[LOG_SECTOR];
	int rc;

	slot_seal(vote, sequence, sector);
	rc = disk_folder_write(disk, file->fd, sector, LOG_SECTOR,
			       sequence % 2 * SLOT_SPACE);
	return rc ? rc : disk_folder_sync(disk, file->fd);
}

/* Takes the slot if it is newer.  *sequence: its number; 0: it is empty. */
static int slot_load(struct vote_file *file, unsigned int slot,
		     const uint8_t *sector, uint64_t *sequence)
{
	struct log_place place = slot_place(slot);
	uint64_t words[WORDS];

	*sequence = 0;
	if (log_sector_is_empty(sector))
		return 0;
	if (!log_sector_fits(&place, sector))
		return -EIO;
	log_sectors_read(sector, 0, words, sizeof(words));
	for (int i = 0; i < WORDS; i++)
		words[i] = le64toh(words[i]);
	if (words[WORD_MAGIC] != VOTE_MAGIC || words[WORD_SEQUENCE] % 2 != slot)
		return -EIO;
	*sequence = words[WORD_SEQUENCE];
	if (*sequence > file->sequence) {
		file->sequence = *sequence;
		file->vote = (struct vote){ words[WORD_GROUP],
					    words[WORD_MEMBER],
					    words[WORD_TERM],
					    words[WORD_VOTED_FOR] };
	}
	return 0;
}

static int vote_file_load(struct vote_file *file)
{
	const struct disk_folder *disk = &file->disk;
	uint8_t sector[LOG_SECTOR];
	uint64_t sequence[2] = { 0 };
	int rc;

	if (disk_folder_size(disk, file->fd) != FILE_SIZE)
		return -EIO;
	for (unsigned int slot = 0; slot < 2; slot++) {
		rc = disk_folder_read(disk, file->fd, sector, LOG_SECTOR,
				      slot * SLOT_SPACE);
		rc = rc ? rc : slot_load(file, slot, sector, &sequence[slot]);
		if (rc)
			return rc;
	}
	/* A slot is written only after the other one is durable. */
	if (!file->vote.group ||
	    sequence[0] + sequence[1] != 2 * file->sequence - 1)
		return -EIO;
	/* If the last sync failed, the kernel may show what it never writes. */
	return write_slot(file, &file->vote, file->sequence);
}

int vote_file_open(const struct disk_folder *disk, struct vote_file *file)
{
	int fd = disk_folder_open_file(disk, VOTE_NAME, false);
	int rc;

	if (fd < 0)
		return fd;
	*file = (struct vote_file){ .disk = *disk, .fd = fd };
	rc = vote_file_load(file);
	if (rc)
		vote_file_close(file);
	return rc;
}

static int write_new_file(struct vote_file *file)
{
	const struct disk_folder *disk = &file->disk;
	uint8_t content[FILE_SIZE] = { 0 };
	int rc;

	file->sequence = 1;
	slot_seal(&file->vote, file->sequence, content + SLOT_SPACE);
	rc = disk_folder_write(disk, file->fd, content, FILE_SIZE, 0);
	rc = rc ? rc : disk_folder_sync(disk, file->fd);
	return rc ? rc : disk_folder_install(disk, VOTE_NEW_NAME, VOTE_NAME);
}

int vote_file_create(const struct disk_folder *disk, const struct vote *vote,
		     struct vote_file *file)
{
	int fd = disk_folder_open_file(disk, VOTE_NEW_NAME, true);
	int rc;

	if (fd < 0)
		return fd;
	*file = (struct vote_file){ .disk = *disk, .fd = fd, .vote = *vote };
	rc = write_new_file(file);
	if (rc)
		vote_file_close(file);
	return rc;
}

static int store_vote(struct vote_file *file, const struct vote *vote)
{
	int rc = write_slot(file, vote, file->sequence + 1);

	if (rc)
		return rc;
	file->vote = *vote;
	file->sequence++;
	return 0;
}

int vote_file_store(struct vote_file *file, uint64_t term, uint64_t voted_for)
{
	const struct vote vote = { file->vote.group, file->vote.member, term,
				   voted_for };

	return store_vote(file, &vote);
}

int vote_file_store_group(struct vote_file *file, uint64_t group, uint64_t term)
{
	const struct vote vote = { group, file->vote.member, term, 0 };

	return store_vote(file, &vote);
}

void vote_file_close(struct vote_file *file)
{
	disk_folder_close_file(&file->disk, file->fd);
	file->fd = -1;
}
