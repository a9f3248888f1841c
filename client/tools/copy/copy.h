/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy.h - the parts of pvfs-cp: a walk over the sources feeds a bounded
 * queue of jobs, threads copy (and verify) them, a progress line counts.
 * Big files are cut into pieces that several threads copy side by side.
 */
#ifndef COPY_H
#define COPY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/stat.h>

#include "patience.h"
#include "pvfs.h"

struct copy_opts {
	bool recursive, preserve, verify, quiet, json, no_clobber, verbose;
	/* No link is followed at either end, and what is there under a file's name is
	 * replaced, not written to. */
	bool nofollow;
	bool xattrs; /* extended attributes and access control lists, too */
	uint64_t threads;
	uint64_t block; /* bytes a call */
	struct pvfs_filestat meta; /* striping of new files */
};

struct copy_file;

/* What of files a target could not hold. */
#define COPY_LACKS_XATTRS 1u
#define COPY_LACKS_ACLS 2u

/* What is shared by the walk and the threads. */
struct copy {
	const struct tool *tool; /* for messages */
	struct copy_opts opt;
	mode_t umask;
	atomic_bool failed;
	struct patience patience;
	/* counted by the walk (found) and by the threads (done) */
	_Atomic uint64_t files_found, bytes_found, files, bytes, verified;
	atomic_bool walked;
	struct copy_queue *queue;
	/* For others than pvfs-cp: what is done with a file that the walk finds, instead of
	 * copying it; and with one that was started, when it ends, in any thread. */
	void (*found)(void *arg, const char *from, const char *to,
		      const struct stat *st);
	void (*ended)(void *arg, const struct copy_file *f, bool ok);
	/* The walk could not copy that, or not all that is below it. */
	void (*left_out)(void *arg, const char *from, const char *why);
	void *arg;
	_Atomic int error; /* the last one that was said */
	_Atomic unsigned int lacks; /* COPY_LACKS_ */
	struct stat target; /* of the present source; st_ino 0: not made yet */
};

/* One file being copied: shared by its pieces, freed by the last one. */
struct copy_file {
	struct copy *copy;
	char *from, *to;
	uint64_t tag; /* its starter's */
	struct stat st;
	int in, out;
	atomic_uint pieces;
	atomic_bool failed;
};

struct copy_job {
	STAILQ_ENTRY(copy_job) link;
	struct copy_file *file;
	uint64_t off, len;
};

/* Bytes [from, end) of a file. */
struct copy_extent {
	uint64_t from, end;
};

#define COPY_THREADS_MAX 64
#define COPY_PIECE (64ull << 20)

/* copy_queue.c: bounded, closed once by the walk. */
struct copy_queue *copy_queue_new(unsigned int max);
void copy_queue_free(struct copy_queue *q);
/* Waits for room.  Takes the job. */
void copy_queue_put(struct copy_queue *q, struct copy_job *job);
/* Waits for a job; NULL: closed and empty. */
struct copy_job *copy_queue_get(struct copy_queue *q);
void copy_queue_close(struct copy_queue *q);

/* copy_file.c: opens and queues a file; st is the source's.  0, or -1 after a message:
 * it was not started. */
int copy_file_start(struct copy *c, const char *from, const char *to,
		    const struct stat *st, uint64_t tag);
/* copy_data.c: of the target, if it is a file; errors are said. */
int copy_set_size(struct copy_file *f, uint64_t size);
/*
 * copy_extents.c: the source's next data in [off, end), empty at end if there is
 * none; a file that cannot tell has data everywhere.  0, or -1 after a message.
 */
int copy_next_data(struct copy_file *f, uint64_t off, uint64_t end,
		   struct copy_extent *data);
/* The same for any file.  0, or -errno. */
int copy_find_data(int fd, uint64_t off, uint64_t end,
		   struct copy_extent *data);
/* copy_data.c: copies one piece; buf holds two blocks.  0, or -1 after a
 * message. */
int copy_piece(struct copy_file *f, uint64_t off, uint64_t len, char *buf);
/* The same for a file that says it is empty: what the kernel makes up when it
 * is read (/proc) has no size. */
int copy_unsized(struct copy_file *f, char *buf);
/* copy_file.c: a thread's whole work on one piece. */
void copy_file_piece(struct copy_file *f, uint64_t off, uint64_t len,
		     char *buf);
/* One piece less; the last one finishes the file. */
void copy_file_piece_done(struct copy_file *f, bool ok);

/* copy_meta.c: mode, owner and times of to after st, as the options say. */
int copy_meta(const struct copy *c, const char *to, const struct stat *st);
/* The same, and what else from has, if that is asked for. */
int copy_attrs(struct copy *c, const char *from, const char *to,
	       const struct stat *st);
int copy_change_mode(const struct copy *c, const char *to, mode_t mode);
/* copy_xattr.c: what only st, which to will get, can say of a list that it cannot hold, is set
 * there.  0, or -1 and errno. */
int copy_xattrs(struct copy *c, const char *from, const char *to,
		struct stat *st);
void copy_failed(struct copy *c, const char *path);
/* Says that from and to are one file, which stays as it is; a failure. */
void copy_same(struct copy *c, const char *from, const char *to);

/* progress.c: a line on a terminal, nothing in a pipe. */
struct progress;
struct progress *progress_start(const struct copy *c);
void progress_stop(struct progress *p);

#endif
