/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handover.h - state of the open files for the next program: exec() drops the memory of a
 * process, but keeps its descriptors.  So the library also stores what it knows about
 * them in memory that a descriptor refers to.  The stored state is always up to date,
 * because nothing announces an exec().  Only this process can write it; the next program
 * reads it (inherit.h).
 */
#ifndef HANDOVER_H
#define HANDOVER_H

#include "client/lib/file/file.h"

#define HANDOVER_NAME "pvfs-exec" /* lsof shows it as memfd:pvfs-exec */
#define HANDOVER_MAGIC 0x3178657366767070ull
#define HANDOVER_FDS 4096u /* lower descriptor numbers are handed over */
#define HANDOVER_FILES 4096u
/*
 * In handover_file.type: the layout is in another ring than 0.  Earlier releases do not know
 * dist.ring, so they must not take such a file over.  They reject a type that they do not know.
 */
#define HANDOVER_RING 0x10000u

struct handover_fd {
	_Atomic uint32_t file; /* index of the file + 1; 0: none */
	uint32_t passes; /* it stays open over exec() */
	/* identity that the kernel reports for this number */
	uint64_t dev, ino;
};

struct handover_file {
	_Atomic uint32_t used;
	uint32_t type, flags, writer;
	uint64_t mount; /* see handover_mount() */
	uint64_t fsid, handle;
	struct dist dist;
	/* sessions in which it is open, or was */
	uint64_t session[HEIR_SESSIONS];
	uint64_t open, owner, pos;
	struct file_view view;
	struct file_locks locks;
};

struct handover_map {
	uint64_t magic, size; /* size of this structure */
	uint64_t born; /* ns; if there are several, the latest counts */
	/* start time of the process; with pid, it identifies the owner */
	uint64_t start;
	int64_t pid;
	uint32_t fds, files; /* high-water marks of the arrays */
	struct handover_fd fd[HANDOVER_FDS];
	struct handover_file file[HANDOVER_FILES];
};

/* The handover state of a process. */
struct handover {
	struct handover_map *map; /* NULL: not created yet */
	int fd;
	uint64_t dev, ino; /* identity of fd; the program may have closed it */
	unsigned int passing; /* descriptors that stay open over exec() */
	bool passes; /* fd stays open over exec() */
};

void handover_init(struct handover *h);
/*
 * Records that descriptor fd refers to f; NULL: to no PVFS file.  Does nothing if fd or f cannot
 * be handed over: fd is too high, or there are too many files.  One thread at a time.
 */
void handover_set(struct handover *h, int fd, struct file *f);
/* In a child after fork(): drops the parent's state.  The child's files have no record then. */
void handover_forked(struct handover *h);

/* Updates the record of f after a change.  f->lock is held, or no other thread knows f. */
void handover_update(struct file *f);
/* Updates the record after f->pos changed.  f->pos_lock is held. */
static inline void handover_update_pos(struct file *f)
{
	if (f->handed)
		f->handed->pos = f->pos;
}
/* Removes the record.  No thread uses f. */
void handover_remove(struct file *f);

/* Returns a number by which the next program recognizes the mount. */
uint64_t handover_mount(const struct mount *mount);
/* Returns true if only the process that created the memory file fd can write or truncate it. */
bool handover_sealed(int fd);
bool handover_fd_matches(int fd, uint64_t dev, uint64_t ino);

#endif
