/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy.h - the parts of pvfs-cp.  A walk over the sources puts jobs into a bounded
 * queue, threads copy (and verify) them, and a progress line counts.  Large files are
 * split into pieces, which several threads copy concurrently.
 */
#ifndef COPY_H
#define COPY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/stat.h>

#include "client/tools/common/patience.h"
#include <pvfs.h>

struct copy_opts {
	bool recursive, preserve, verify, quiet, json, no_clobber, verbose;
	/*
	 * Follows no links at either end.  Replaces an existing file instead of writing
	 * to it.
	 */
	bool nofollow;
	bool xattrs; /* copy extended attributes */
	bool links; /* several names of a file stay names of one file */
	bool strict; /* report what a target cannot hold, as a failure */
	uint64_t threads;
	uint64_t block; /* bytes per call */
	struct pvfs_filestat meta; /* striping of new files */
};

struct copy_file;
struct copy_link;

/* The attributes of a source that its target could not store. */
#define COPY_NO_XATTRS 1u
#define COPY_NO_ACLS 2u
#define COPY_NO_OWNER 4u

/* State that the walk and the threads share. */
struct copy {
	const struct tool *tool; /* for messages */
	struct copy_opts opt;
	mode_t umask;
	atomic_bool failed;
	struct patience patience;
	/* counted by the walk (found) and by the threads (done) */
	_Atomic uint64_t files_found, bytes_found, files, bytes, verified;
	atomic_bool walked;
	/* set by a signal: the copy starts nothing more, and removes or cuts incomplete files */
	atomic_int interrupted;
	_Atomic uint64_t unfinished; /* files left incomplete */
	atomic_uint open; /* files being copied */
	struct copy_links *names; /* if opt.links */
	struct copy_made *made; /* NULL: no two sources have one target */
	struct copy_queue *queue;
	/*
	 * For callers other than pvfs-cp; NULL there.  found() is called for each file that the
	 * walk finds, and the walk does not copy it.  ended() is called, in any thread, when a file
	 * that copy_file_start() has started ends.
	 */
	void (*found)(void *arg, const char *from, const char *to,
		      const struct stat *st);
	void (*ended)(void *arg, const struct copy_file *f, bool ok);
	/* Called if the walk could not copy `from`, or could not copy everything below it. */
	void (*left_out)(void *arg, const char *from, const char *why);
	void *arg;
	_Atomic int error; /* errno of the last message */
	_Atomic unsigned int unsupported; /* COPY_NO_* */
	/* directory made for the present source; st_ino 0: none yet */
	struct stat target;
};

/*
 * A file being copied.  Its pieces share it, and the last piece frees it.  A new file
 * has a temporary name until it is complete.  An existing file is written in place.
 * Its last piece is copied after all others, so that the file has its full size only
 * when complete.
 */
struct copy_file {
	struct copy *copy;
	char *from, *to;
	char *temp; /* temporary name; NULL: in place */
	uint64_t tag; /* chosen by copy_file_start()'s caller */
	struct copy_link *link; /* record of the file's hard links; or NULL */
	struct stat st;
	mode_t mode; /* target's mode before it was restricted, or 0 */
	int in, out;
	uint64_t last; /* offset of the last piece */
	_Atomic uint64_t end; /* end of the source; UINT64_MAX: not reached */
	/* size of the target, as far as it was written */
	_Atomic uint64_t size;
	/* if a part failed: all bytes before this offset are copied */
	_Atomic uint64_t good;
	/*
	 * Number of pieces before the last one that are not copied yet, plus 1 while the walk
	 * still queues pieces.  The thread that makes this 0 copies or queues the last piece.
	 */
	atomic_uint remaining;
	atomic_bool failed;
};

struct copy_job {
	STAILQ_ENTRY(copy_job) link;
	struct copy_file *file;
	uint64_t off, len; /* of a piece before the last one */
	bool last; /* the last piece, with which the file ends */
};

/* Bytes [from, end) of a file. */
struct copy_extent {
	uint64_t from, end;
};

#define COPY_THREADS_MAX 64
#define COPY_PIECE (64ull << 20)

/* copy_queue.c: bounded; the walk closes it once. */
struct copy_queue *copy_queue_new(unsigned int max);
void copy_queue_free(struct copy_queue *q);
/* Waits for room.  Takes over the job. */
void copy_queue_put(struct copy_queue *q, struct copy_job *job);
/* Waits for a job; NULL: closed and empty. */
struct copy_job *copy_queue_get(struct copy_queue *q);
void copy_queue_close(struct copy_queue *q);

/* Whether copying must stop: it was interrupted, or servers did not answer for too long. */
static inline bool copy_over(const struct copy *c)
{
	return atomic_load(&c->interrupted) || patience_over(&c->patience);
}

/*
 * copy_file.c: queues the copy of a file whose attributes are st.  tag: a value for the caller;
 * link: the record of its hard links, or NULL.  Returns 0, or -1 after a message: it was not
 * queued.
 */
int copy_file_start(struct copy *c, const char *from, const char *to,
		    const struct stat *st, uint64_t tag,
		    struct copy_link *link);
/* A thread that copies the pieces in the queue until it is closed; c: the struct copy. */
void *copy_pieces(void *c);
/*
 * copy_target.c: opens the target; a new file gets a temporary name.  Returns 0, or -1 with errno;
 * EEXIST: the target exists and must not change, because of opt.no_clobber or because this run has
 * written it.
 */
int copy_target_open(struct copy_file *f);
/*
 * Closes the target, before its times are set, because the close may report a write to the servers.
 * Returns 0, or -1 with errno.
 */
int copy_target_close(struct copy_file *f);
/*
 * Called when the file is complete: renames it from its temporary name.  Returns 0, or -1 with
 * errno; EEXIST: the target exists and must not change.
 */
int copy_target_name(struct copy_file *f);
/* Called when the file is incomplete: removes a new file; truncates an old one at the gap. */
void copy_target_drop(struct copy_file *f);
/* Returns a temporary name for path, in new memory; or NULL. */
char *copy_temp_name(const char *path);
/*
 * Calls make() with a temporary name, and renames the result to path.  If make() fails, an existing
 * file stays.  Returns 0, or -1 with errno.
 */
int copy_replace(const char *path, int (*make)(const char *path, void *arg),
		 void *arg);

/*
 * copy_data.c: sets the size of the target, if it is a file.  0, or -1 after a message.
 */
int copy_set_size(struct copy_file *f, uint64_t size);
/*
 * copy_data.c: sets the range of the next data of the source in [off, end); an empty range at end:
 * there is none.  If the file system cannot find holes, all of the file is data.  Returns 0, or -1
 * after a message.
 */
int copy_next_data(struct copy_file *f, uint64_t off, uint64_t end,
		   struct copy_extent *data);
/* The same for any descriptor.  0 or -errno. */
int copy_find_data(int fd, uint64_t off, uint64_t end,
		   struct copy_extent *data);
/*
 * copy_data.c: copies len bytes from off on, or fewer if the source ends.  Returns 0, or -1: after
 * a message, or because copying must stop.
 */
int copy_piece(struct copy_file *f, uint64_t off, uint64_t len, char *buf);
/* Copies all bytes from off to the present end of the source, and sets the target's size. */
int copy_tail(struct copy_file *f, uint64_t off, char *buf);

/* A file or directory, as a key of a table. */
struct copy_id {
	uint64_t dev, ino;
};

static inline struct copy_id copy_id_of(const struct stat *st)
{
	return (struct copy_id){ st->st_dev, st->st_ino };
}

/* copy_links.c: files with several names. */
struct copy_links *copy_links_new(void);
/*
 * Called for a file with several names.  Returns 0 and sets *link if this is its first name, which
 * the caller copies; 1: another name, and `to` becomes a hard link at the end of the run; or -1
 * with errno.
 */
int copy_links_add(struct copy_links *l, const struct stat *st,
		   const char *from, const char *to, struct copy_link **link);
/* The file of link was copied; link may be NULL. */
void copy_link_is_there(struct copy_link *link);
/* Makes the links, unless copying must stop, and frees l. */
void copy_links_finish(struct copy *c, struct copy_links *l);

/*
 * copy_made.c: the targets that this run has written.  No later source of the run overwrites them.
 */
struct copy_made *copy_made_new(void);
void copy_made_free(struct copy_made *m);
/*
 * Called when the walk begins to copy from the directory from (NULL: the operands) into a directory
 * whose attributes are st.  Returns the record of the latter, valid until copy_made_free(), or NULL
 * with errno.  Only the walk calls this and copy_made_name().
 */
struct copy_place *copy_made_enter(struct copy_made *m, const struct stat *st,
				   const char *from);
/*
 * Called before the walk copies from to name in the directory p.  Returns 0: it may; 1: it has
 * already done so; or -1 with errno; EEXIST: this run has written the name from another source, and
 * not both are directories.
 */
int copy_made_name(struct copy_place *p, const char *name, const char *from,
		   bool is_dir);
/*
 * Called in any thread before it overwrites the existing file st.  Returns 0, or -1 with errno;
 * EEXIST: this run has already overwritten that file, perhaps by another name.
 */
int copy_made_write(struct copy_made *m, const struct stat *st);

/* copy_walk.c: directories that get their attributes later. */
struct copy_dirs {
	struct copy_dir {
		char *from, *path;
		struct stat st;
	} * v;
	size_t n, cap;
};

/* Sets the attributes, deepest first, and frees the list. */
void copy_dirs_finish(struct copy *c, struct copy_dirs *dirs);

/*
 * Copies from, and everything below it, to `to`, by adding jobs to the queue.  place: the record of
 * the directory of `to`; NULL: the run writes no other name there.
 */
void copy_walk(struct copy *c, struct copy_dirs *dirs, const char *from,
	       const char *to, struct copy_place *place);

/*
 * copy_attrs.c: gives `to` the attributes of from, whose attributes are st, as the
 * options say: mode, owner, times, access control list, and extended attributes.  0, or
 * -1 with errno.
 */
int copy_attrs(struct copy *c, const char *from, const char *to,
	       const struct stat *st);
/* Follows no symbolic link if opt.nofollow.  0, or -1 with errno. */
int copy_change_mode(const struct copy *c, const char *to, mode_t mode);
/*
 * copy_output.c: notes that the target cannot store an attribute of the source (COPY_NO_*).  errno
 * says why.
 */
void copy_note_unsupported(struct copy *c, unsigned int what, const char *path);
void copy_failed(struct copy *c, const char *path);
/* Reports that from and to are one file, which stays unchanged; a failure. */
void copy_same(struct copy *c, const char *from, const char *to);
/* Reports that the run has already made `to`, which stays unchanged; a failure. */
void copy_twice(struct copy *c, const char *from, const char *to);

/* The progress of a copy: a line on a terminal; if the output is a pipe or file, nothing. */
struct progress;
struct progress *progress_start(const struct copy *c);
void progress_stop(struct progress *p);

/*
 * copy_signals.c: signals interrupt a copy.  copy_signals_begin() comes before the
 * process starts its first thread.
 */
void copy_signals_begin(void);
/*
 * From now on, a signal that would end the process sets c->interrupted instead.  A further signal,
 * more than 1 s after the first one, ends the process.  Only for one copy in a process.
 */
void copy_signals_hear(struct copy *c);
/* Ends the process as the signal would have done, if there was one. */
void copy_signals_end(const struct copy *c);
/*
 * Called before and after a call that may wait for a source without limit: a signal then makes this
 * call fail with EINTR.  They keep errno.
 */
void copy_wait_begin(void);
void copy_wait_end(void);

#endif
