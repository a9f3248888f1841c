/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vote_file.h - the term of a member and its vote in this term.  The member stores both durably
 * before it sends them to any other member.
 *
 * The file has two slots, which are written in turn.  The slot with the higher sequence number
 * counts. A slot is one sealed sector (log_sector.h), so after a crash it has its old or its new
 * content.  A slot that is neither sealed nor empty is damage: a vote is lost, and the member could
 * vote twice.
 */
#ifndef VOTE_FILE_H
#define VOTE_FILE_H

#include "common/util/disk_folder.h"

struct vote {
	uint64_t group; /* identifies the group; never 0 */
	uint64_t member; /* id of the member that owns the file */
	uint64_t term;
	uint64_t voted_for; /* 0: nobody */
};

struct vote_file {
	struct disk_folder disk;
	int fd;
	uint64_t sequence; /* of the last slot that was written */
	struct vote vote; /* as it is on disk */
};

/* -ENOENT: there is no file.  -EIO: it is damaged, or cannot be read. */
int vote_file_open(const struct disk_folder *disk, struct vote_file *file);
/* Makes the file with this content.  After a crash it exists with all of it, or not at all. */
int vote_file_create(const struct disk_folder *disk, const struct vote *vote,
		     struct vote_file *file);
/* Returns once the vote is durable.  Any error is final: the file must not be used again. */
int vote_file_store(struct vote_file *file, uint64_t term, uint64_t voted_for);
/* Moves the member to another group, without a vote in this term.  Errors: as vote_file_store(). */
int vote_file_store_group(struct vote_file *file, uint64_t group,
			  uint64_t term);
void vote_file_close(struct vote_file *file);

#endif
