/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handover.h - what the next program finds of the open files of this one: exec() takes
 * a process' memory and leaves it its descriptors.  So what the library knows of
 * those lies in memory that is behind a descriptor, too, and is kept up to date all
 * the time: nobody says that an exec() is near.  Only this process can
 * write there; the next program reads it (inherit.h).
 */
#ifndef HANDOVER_H
#define HANDOVER_H

#include "client/lib/file/file.h"

#define HANDOVER_NAME "pvfs-exec" /* as lsof shows it, behind memfd: */
#define HANDOVER_MAGIC 0x3178657366767070ull
#define HANDOVER_FDS 4096u /* the numbers below that are handed over */
#define HANDOVER_FILES 4096u

struct handover_fd {
	_Atomic uint32_t file; /* its index + 1; 0: none */
	uint32_t passes; /* it stays open over an exec() */
	uint64_t dev, ino; /* what the kernel has under that number */
};

struct handover_file {
	_Atomic uint32_t used;
	uint32_t type, flags, writer;
	uint64_t mount; /* handover_mount() */
	uint64_t fsid, handle;
	struct dist dist;
	uint64_t session[HEIR_SESSIONS]; /* where it is open, or was */
	uint64_t open, owner, pos;
	struct view view;
	struct file_locks locks;
};

struct handover_map {
	uint64_t magic, size; /* of this structure */
	uint64_t born; /* ns; of several the latest counts */
	uint64_t start; /* of the process, with its pid: whose it is */
	int64_t pid;
	uint32_t fds, files; /* so many were ever used */
	struct handover_fd fd[HANDOVER_FDS];
	struct handover_file file[HANDOVER_FILES];
};

/* Of a process. */
struct handover {
	struct handover_map *map; /* NULL: none yet */
	int fd;
	uint64_t dev, ino; /* of that; the program may have closed it */
	unsigned int passing; /* descriptors that stay over an exec() */
	bool passes; /* so does fd */
};

void handover_init(struct handover *h);
/* The descriptor stands for f, or (NULL) for nothing of ours.  What cannot be handed
 * over is not.  One thread at a time. */
void handover_set(struct handover *h, int fd, struct file *f);
/* In a child after fork(), whose files know of nothing that was handed over: the
 * parent's is not ours. */
void handover_forked(struct handover *h);

/* Something of f has changed; f->lock is held, or nobody else knows f. */
void handover_note(struct file *f);
/* f->pos has; f->pos_lock is held. */
static inline void handover_moved(struct file *f)
{
	if (f->handed)
		f->handed->pos = f->pos;
}
/* Nobody uses f any more. */
void handover_dropped(struct file *f);

/* By which it is found again. */
uint64_t handover_mount(const struct mount *mount);
/* No one can write there, or cut it, but who made it. */
bool handover_sealed(int fd);
bool handover_there(int fd, uint64_t dev, uint64_t ino);

#endif
