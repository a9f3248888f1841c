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

#include "client/tools/common/patience.h"
#include <pvfs.h>

struct copy_opts {
	bool recursive, preserve, verify, quiet, json, no_clobber, verbose;
	/* No link is followed at either end, and what is there under a file's name is
	 * replaced, not written to. */
	bool nofollow;
	bool xattrs; /* extended attributes, too */
	bool links; /* several names of a file stay names of one */
	bool strict; /* what a target cannot hold is said, and a failure */
	uint64_t threads;
	uint64_t block; /* bytes a call */
	struct pvfs_filestat meta; /* striping of new files */
};

struct copy_file;
struct copy_link;

/* What of files a target could not hold. */
#define COPY_LACKS_XATTRS 1u
#define COPY_LACKS_ACLS 2u
#define COPY_LACKS_OWNER 4u

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
	/* A signal: nothing more is begun, and what is not whole goes. */
	atomic_int interrupted;
	_Atomic uint64_t unfinished; /* files that are there in part */
	atomic_uint open; /* files that are being copied */
	struct copy_links *names; /* with opt.links */
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

/*
 * One file being copied: shared by its pieces, freed by the last one.  A new file has another
 * name until it is whole.  One that is there is written in place, its last piece when
 * all others are done, so that it never has its whole size before.
 */
struct copy_file {
	struct copy *copy;
	char *from, *to;
	char *temp; /* the other name; NULL: in place */
	uint64_t tag; /* its starter's */
	struct copy_link *link; /* one of its names, or NULL */
	struct stat st;
	mode_t mode; /* the target's before it was narrowed, or 0 */
	int in, out;
	uint64_t last; /* where the last piece begins */
	_Atomic uint64_t end; /* where the source was found to end */
	_Atomic uint64_t size; /* of the target, by what was written */
	_Atomic uint64_t good; /* all before it is copied, if something failed */
	atomic_uint pieces; /* but for the last one */
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

/* Is there no sense in going on? */
static inline bool copy_over(const struct copy *c)
{
	return atomic_load(&c->interrupted) || patience_over(&c->patience);
}

/* copy_file.c: opens and queues a file; st is the source's.  0, or -1 after a message:
 * it was not started.  link: the one that has it, or NULL. */
int copy_file_start(struct copy *c, const char *from, const char *to,
		    const struct stat *st, uint64_t tag,
		    struct copy_link *link);
/* A thread's whole work on one piece; buf holds two blocks, or is NULL: no memory. */
void copy_file_piece(struct copy_file *f, uint64_t off, uint64_t len,
		     char *buf);
/*
 * copy_target.c: opens the target, with another name if it is new.  0; -1: errno, EEXIST
 * if it is to be left alone.
 */
int copy_target_open(struct copy_file *f);
/* Before its times are set: close may tell the servers of a write.  0, or -1 and errno. */
int copy_target_close(struct copy_file *f);
/* It is whole, and gets its name.  0, or -1 and errno: EEXIST if that is to be left alone. */
int copy_target_name(struct copy_file *f);
/* It is not: a new one goes, one that was there ends before what is missing. */
void copy_target_drop(struct copy_file *f);
/* Another name for what is to become path, in new memory; or NULL. */
char *copy_temp_name(const char *path);
/* Calls make with another name and renames that to path: the file there stays unless make
 * succeeds.  0, or -1 and errno. */
int copy_replace(const char *path, int (*make)(const char *path, void *arg),
		 void *arg);

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
/* copy_data.c: copies one piece, which may end earlier.  0, or -1 after a message or
 * when it is over. */
int copy_piece(struct copy_file *f, uint64_t off, uint64_t len, char *buf);
/* What the source has behind off, whatever its size says, and the target's size. */
int copy_tail(struct copy_file *f, uint64_t off, char *buf);

/* copy_links.c: names of files that have several. */
struct copy_links *copy_links_new(void);
/*
 * 0 and *link: the first of its names, which is to be copied; 1: to becomes a link
 * when all is copied; -1: errno.
 */
int copy_links_add(struct copy_links *l, const struct stat *st,
		   const char *from, const char *to, struct copy_link **link);
/* It was copied; link may be NULL. */
void copy_link_is_there(struct copy_link *link);
/* Makes the links, unless it is over, and frees l. */
void copy_links_finish(struct copy *c, struct copy_links *l);

/* copy_meta.c: what to gets of from, whose st is, as the options say: mode, owner, times, its
 * list, and extended attributes.  0, or -1 and errno. */
int copy_attrs(struct copy *c, const char *from, const char *to,
	       const struct stat *st);
/* Does st's copy, and its attributes, go through a symbolic link at the target? */
bool copy_follows(const struct copy *c, const struct stat *st);
int copy_change_mode(const struct copy *c, const char *to, mode_t mode);
/* copy_xattr.c: what only st, which to will get, can say of a list that it cannot hold, is set
 * there.  0, or -1 and errno. */
int copy_xattrs(struct copy *c, const char *from, const char *to,
		struct stat *st);
/* The target cannot hold that of the source: COPY_LACKS_; errno says why. */
void copy_lacks(struct copy *c, unsigned int what, const char *path);
void copy_failed(struct copy *c, const char *path);
/* Says that from and to are one file, which stays as it is; a failure. */
void copy_same(struct copy *c, const char *from, const char *to);

/* progress.c: a line on a terminal, nothing in a pipe. */
struct progress;
struct progress *progress_start(const struct copy *c);
void progress_stop(struct progress *p);

#endif
