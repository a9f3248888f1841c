/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.h - an open file description: the state that descriptors made by dup() share.
 */
#ifndef FILE_H
#define FILE_H

#include "client/lib/file/fs.h"
#include "client/lib/io/io.h"
#include "client/lib/io/loans.h"
#include "client/lib/names/mgr_requests.h"
#include "client/lib/profile/profile.h"
#include "client/lib/names/file_counter.h"
#include "client/lib/names/end_reads.h"
#include "client/lib/file/filled.h"

struct dir_entries;

/* The record of the writes, for RELEASE. */
struct file_io {
	bool wrote, timed; /* WIRE_R_WROTE, WIRE_R_MTIME */
	bool doubt; /* a write failed: end is unknown */
	bool space; /* WIRE_R_SPACE */
	uint64_t end; /* offset after the highest byte written */
	int64_t mtime; /* time of the last write, ns */
	struct filled filled;
};

/* Locks that may be held on a file. */
struct file_locks {
	struct {
		/* range that contains all of them; end 0: none */
		uint64_t start, end;
		uint64_t session; /* session that holds them */
	} bytes[2]; /* [0]: of the process, through any descriptor; [1]: of the open file */
	bool whole; /* flock(2), in the session of the open file's locks */
	bool lost; /* lost with their session, and logged */
};

/*
 * What the previous program of this process recorded about the file before exec():
 * process/inherit.h.
 */
struct heir {
	uint64_t session[HEIR_SESSIONS]; /* its sessions; 0: no more */
	uint64_t open; /* open id there, or 0 */
	uint64_t next; /* session that adopts it; 0: none yet */
};

struct handover_file; /* handover.h */

struct file {
	atomic_uint refs;
	atomic_int flags; /* O_ACCMODE, O_APPEND, O_SYNC, O_DSYNC */

	/* constant after the open */
	struct fs *fs; /* NULL: an ordinary file with a partition */
	uint64_t handle;
	uint32_t type; /* S_IFREG, S_IFDIR, ... */
	struct dist dist;
	unsigned int profile; /* profile entry of its calls: profile.h */
	bool writer; /* needs an open id: it is open for writing, or held */
	/* a size that the file had at the open, if it is known; otherwise 0 */
	uint64_t least;
	/* file system that it must belong to if it was inherited; or 0 */
	uint64_t fsid;
	atomic_bool parted; /* it has a partition */
	struct loans loans; /* borrowed objects: loans.h */
	struct words words; /* lent counters: file_counter.h */
	struct end_reads ends; /* addresses of its end: end_reads.h */
	/* handover record since its first descriptor, or NULL */
	struct handover_file *handed;

	/* mount: the directory in which it had the name that it was opened by; 0: unknown */
	uint64_t dir;
	/* mount: the file had set-id bits when its mode was last seen; a write clears them */
	atomic_bool has_setid;
	/*
	 * mount: time of the last read through this open, ns; 0: none since utimensat(2) set the
	 * atime
	 */
	_Atomic int64_t read_at;
	atomic_bool paged; /* mount: the kernel requested pages through it */
	/* mount: error of an fsync through another open file, -errno, not yet reported
	 * through this one; 0: none */
	atomic_int unreported_error;
	atomic_bool unsynced; /* it is in unsynced.h; under fs->files_lock */
	/* owner number of its locks, 0: none yet; under fs->files_lock */
	uint64_t owner;
	/* locks of the process were taken through it */
	atomic_bool process_locks;

	/* taken first; held over reads and writes that move the offset */
	pthread_mutex_t pos_lock;
	uint64_t pos; /* offset in the view; directories: cookie */
	/* time when pos last moved, ns; a thread that waited for the lock uses it */
	uint64_t pos_at;
	struct dir_entries *dirbuf; /* directories, see dir.h */
	/* directories: attributes last seen, under lock; st_ino 0: none since exec */
	struct stat seen;
	/* open_blk() sets it before other threads know the descriptor, see mdbi.h */
	struct mdbi *mdbi;
	void (*mdbi_free)(struct mdbi *mdbi); /* set with it */

	/* protects all below; never held while waiting for a server, because fork and open
	 * may wait for it */
	pthread_mutex_t lock;
	struct file_view view; /* set by file_set_view() */
	struct session *s; /* session in which it is open, NULL: none */
	struct heir *heir; /* NULL: nothing to adopt */
	/* s has a capability of this open, which the close must drop (keychain_drop()) */
	bool keyed;
	uint64_t open; /* open id in s, 0: none needed */
	bool moving; /* a thread changes s and open */
	bool evicted; /* s was evicted, and this was logged */
	pthread_cond_t moved; /* signalled when moving becomes false */
	uint64_t since; /* clock_now() of the open in s */
	struct file_io io; /* writes under that open id */
	struct file_locks locks;
	LIST_ENTRY(file) link; /* fs->files, under fs->files_lock */
	LIST_ENTRY(file) same; /* fs->same, under fs->files_lock */
};

/* The list that has all open files with this handle, and some others.  Handles are random. */
static inline struct file_list *file_same(struct fs *fs, uint64_t handle)
{
	return &fs->same[handle % FS_SAME];
}

/* ---- lifetime: file.c ---- */

/*
 * Creates a file with one reference.  flags: O_ACCMODE, O_APPEND, O_SYNC, O_DSYNC.  NULL:
 * no memory.
 */
struct file *file_new(struct fs *fs, int flags);
struct file *file_get(struct file *f);
/* Releases a reference.  The last one closes the file. */
void file_put(struct file *f);
/* Completes f after mgr_open() under s returned attr and open.  f owns the open from now on. */
void file_opened(struct file *f, struct session *s, const struct attr *attr,
		 uint64_t open);
/* Registers a file that the previous program in this process had open. */
void file_inherited(struct file *f);
/* In a child after fork(), which has one thread. */
void file_forked(struct file *f);

/*
 * Records that f was written from byte from up to end.  If rc is not 0, the write failed, and
 * any part of this may be written.  since is the unsynced_since() from before the write; 0: the
 * data is on stable storage.
 */
void file_record_write(struct file *f, uint64_t from, uint64_t end, int rc,
		       unsigned int since);
/*
 * Records that a counter of f was or may have been changed.  The RELEASE of f then reports a
 * write, but no new modification time.
 */
void file_record_counter(struct file *f);
/*
 * Records that st_blocks of f can no longer be computed from its size.  Called after
 * fallocate(2), a copy of holes, or a write in many pieces.
 */
void file_doubt_space(struct file *f);
/* Records a truncation, or extension, to size. */
void file_record_truncate(struct file *f, uint64_t size);
/* Called after utimensat(2) set the file's modification time: earlier writes no longer count. */
void file_forget_write_time(struct fs *fs, uint64_t handle);
/*
 * Sets st_mtim to the time of this process' last write to the file if that is later than the
 * time that the servers returned: the clocks of the iods' files are coarse.
 */
void file_apply_write_time(struct fs *fs, struct stat *st);

/*
 * If this process has exactly one open file of handle for writing, and had it open under s
 * from begun (clock_now()) until now, sets *end to the offset after the highest byte written
 * through it, 0 if nothing was written.  Returns false in all other cases, and if a write
 * failed so that the end is unknown.
 */
bool file_sole_end(struct fs *fs, const struct session *s, uint64_t handle,
		   uint64_t begun, uint64_t *end);

/* Called after utimensat(2) set the file's access time: forgets the times of earlier reads. */
void file_forget_read_time(struct fs *fs, uint64_t handle);
/* Returns the time of the last read, or 0: file.read_at. */
int64_t file_last_read(struct fs *fs, uint64_t handle);
/* Sets has_setid of all open files of handle. */
void file_note_setid(struct fs *fs, uint64_t handle);

/* Whether this mount has the file open; whether it has the file open for writing. */
bool file_is_open(struct fs *fs, uint64_t handle);
bool file_is_written(struct fs *fs, uint64_t handle);
/*
 * Whether the kernel has requested pages of the file through an open file of this mount
 * (file.paged).
 */
bool file_is_paged(struct fs *fs, uint64_t handle);

/* Takes f->pos_lock (seek.c).  The time of the wait counts for the deadline of the call. */
void file_lock_pos(struct file *f);
/* As lseek(2), but returns a negative errno. */
int64_t file_seek(struct file *f, int fd, int64_t off, int whence);
/* Gets the size in bytes of the view.  Returns 0 or -errno. */
int file_size(struct file *f, int fd, uint64_t *size);
/* Whether f is a file on PVFS whose view is the whole file: the program has set no partition. */
bool file_is_unpartitioned(struct file *f);

/* Sets the view.  The caller holds the lock, or no other thread knows f. */
static inline void file_set_view(struct file *f, const struct file_view *view)
{
	f->view = *view;
	atomic_store(&f->parted, view->off || view->gsize);
}

/* ---- requests to servers: file.c ---- */

/*
 * Runs op on f.  If the session has ended, file_run() opens f under the next session and runs
 * op again, at most twice: once for another ticket, once for another capability.  A change
 * that was in flight is not repeated (fs_must_retry()).  Returns the result of op or -errno.
 * -ESTALE: the process lost locks on f with the session, and must not rely on them further.
 */
typedef int (*target_op)(struct session *s, const struct target *t, void *arg);
int file_run(struct file *f, target_op op, void *arg);
/*
 * Runs op on the object that t names, which need not be open.  If the session has ended, runs
 * op again under the next one, at most twice.  Returns the result of op or -errno.
 */
int fs_run(struct fs *fs, const struct target *t, target_op op, void *arg);
/*
 * Asks the manager whether the object exists, after a call failed with -ESTALE: the object may
 * be removed, or only the session evicted.  fsid is the file system of the object, or 0.
 * Returns true if the manager no longer has the object.
 */
bool fs_has_removed(struct fs *fs, uint64_t handle, uint64_t fsid);
/* Returns 0 when all iods of the file have its data on stable storage, or -errno. */
int file_sync(struct file *f);
/*
 * Called before a file that was opened with O_APPEND is extended in another way.  Tells the
 * manager, which then asks the iods for the end of the file.  Returns 0 or -errno.
 */
int file_grows(struct file *f);
/* F_SETFL: sets or clears O_APPEND.  Returns 0 or -errno. */
int file_set_append(struct file *f, bool append);

#endif
