/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.h - an open file description: what descriptors made by dup() share.
 */
#ifndef FILE_H
#define FILE_H

#include "client/lib/file/fs.h"
#include "client/lib/io/io.h"
#include "client/lib/io/loans.h"
#include "client/lib/names/mgr.h"
#include "client/lib/profile/profile.h"
#include "client/lib/names/atomics.h"
#include "client/lib/names/end_reads.h"
#include "client/lib/file/filled.h"

struct dirbuf;

/* What RELEASE will say of the writes. */
struct file_io {
	bool wrote, timed; /* WIRE_R_WROTE, WIRE_R_MTIME */
	bool doubt; /* a write failed: end is not known */
	bool space; /* WIRE_R_SPACE */
	uint64_t end; /* behind the highest byte written */
	int64_t mtime; /* of the last one, ns */
	struct filled filled;
};

/* Locks of a file that may be held. */
struct file_locks {
	struct {
		uint64_t start, end; /* around all of them; end 0: none */
		uint64_t session; /* that has them */
	} bytes[2]; /* the process', by whatever descriptor; the open file's */
	bool whole; /* flock(2), in the session of the open file's */
	bool lost; /* with their session, and that was said */
};

/* What the program before had of it in this process, see adopt_int.h. */
struct heir {
	uint64_t session[HEIR_SESSIONS]; /* where; 0: no more */
	uint64_t open; /* id there, or 0 */
	uint64_t next; /* the session that adopts it; 0: none yet */
};

struct handover_file; /* handover.h */

struct file {
	atomic_uint refs;
	atomic_int flags; /* O_ACCMODE, O_APPEND, O_SYNC, O_DSYNC */

	/* constant */
	struct fs *fs; /* NULL: an ordinary file that is seen
					 * through a partition */
	uint64_t handle;
	uint32_t type; /* S_IFREG, S_IFDIR, ... */
	struct dist dist;
	unsigned int profile; /* what its calls count for: profile.h */
	bool writer; /* an open id is needed: it is written, or held */
	uint64_t least; /* size that was known at the open, or 0 */
	uint64_t fsid; /* of what it must be a file, if it was inherited; or 0 */
	atomic_bool parted; /* its view is less than the whole */
	struct loans loans; /* of its objects */
	struct words words; /* of its counters */
	struct end_reads ends; /* where it ends */
	struct handover_file *handed; /* since its first descriptor, or NULL */

	uint64_t dir; /* mount: where it had the name that it was opened by; 0: not
		       * known */
	atomic_bool lends; /* mount: it had set-id bits when we last saw its mode,
			    * which a write takes away */
	_Atomic int64_t read_at; /* mount: when data was read last, ns; 0: none,
				  * or it does not count */
	atomic_bool paged; /* mount: the kernel asked for pages through it */
	atomic_int untold; /* mount: what another one's fsync has met, -errno; 0:
			    * nothing that this one's has not told */
	atomic_bool unsynced; /* unsynced.h has it; under fs->files_lock */
	uint64_t owner; /* of locks, 0: none yet; under fs->files_lock */
	atomic_bool process_locks; /* some were taken through this one */

	pthread_mutex_t pos_lock; /* first; held over reads and writes
					 * that move the offset */
	uint64_t pos; /* of the view; directories: cookie */
	uint64_t pos_at; /* when it last moved, ns: who waited for the lock goes by that */
	struct dirbuf *dirbuf; /* directories, see dir.h */
	struct mdbi *mdbi; /* set by open_blk() before others know the
					 * descriptor, see mdbi.h */
	void (*mdbi_free)(struct mdbi *mdbi); /* likewise */

	pthread_mutex_t lock; /* all below; never held while waiting for a
			       * server, as fork and open may wait for it */
	struct view view; /* file_see() sets it */
	struct session *s; /* where it is open, NULL: nowhere */
	struct heir *heir; /* NULL: nothing is to be adopted */
	bool keyed; /* it was opened there: so its key is to be dropped */
	uint64_t open; /* id there, 0: none needed */
	bool moving; /* a thread changes s and open */
	bool evicted; /* s was, and that was said */
	pthread_cond_t moved; /* ... and is done */
	uint64_t since; /* clock_now() of that */
	struct file_io io; /* under that id */
	struct file_locks locks;
	LIST_ENTRY(file) link; /* fs->files, under its files_lock */
	LIST_ENTRY(file) same; /* fs->same, likewise */
};

/* Where all open files with that handle are, and some others; handles are random. */
static inline struct file_list *file_same(struct fs *fs, uint64_t handle)
{
	return &fs->same[handle % FS_SAME];
}

/* ---- life: file.c ---- */

/* A new one, with one reference. */
struct file *file_new(struct fs *fs, int flags);
struct file *file_get(struct file *f);
/* The last one closes the file. */
void file_put(struct file *f);
/* What mgr_open() answered under s; the file belongs to f from now on. */
void file_opened(struct file *f, struct session *s, const struct attr *attr,
		 uint64_t open);
/* From the program before. */
void file_inherited(struct file *f);
/* In a child after fork(), with one thread. */
void file_forked(struct file *f);

/* After a write: [from, end) is written, or (rc) nobody knows.  since: when it began, by
 * unsynced_since(), or 0: it is flushed, too. */
void file_wrote(struct file *f, uint64_t from, uint64_t end, int rc,
		unsigned int since);
/* A counter of it was changed, or may have been: it has objects, and its times stay. */
void file_counted(struct file *f);
/* Its size may no longer say how much space it takes: fallocate(2), a copy of holes, a
 * write in many pieces. */
void file_doubt_space(struct file *f);
/* It was cut, or made longer, to size. */
void file_cut(struct file *f, uint64_t size);
/* The times of a file were set explicitly: earlier writes do not count. */
void file_timed(struct fs *fs, uint64_t handle);
/* st, as the servers told it, with the time of what this process wrote to the file since
 * then: the clocks of the iods' files are coarse. */
void file_show_writes(struct fs *fs, struct stat *st);

/*
 * *end: behind the highest byte that was written by this process through the one open
 * file that it had of handle for writing, under s, from before begun (clock_now()) until
 * now, 0: none was.  False: it had none, or several, or it does not know.
 */
bool file_sole_end(struct fs *fs, const struct session *s, uint64_t handle,
		   uint64_t begun, uint64_t *end);

/* Its access time was set explicitly: earlier reads do not count. */
void file_atimed(struct fs *fs, uint64_t handle);
/* ... last read of it, or 0; file.read_at. */
int64_t file_read(struct fs *fs, uint64_t handle);
/* The file has set-id bits from now on; see file.lends. */
void file_lends(struct fs *fs, uint64_t handle);

/* Has this process the file open?  ... and for writing? */
bool file_is_open(struct fs *fs, uint64_t handle);
bool file_is_written(struct fs *fs, uint64_t handle);
/* ... by an open through which the kernel got pages of it?  file.paged. */
bool file_is_paged(struct fs *fs, uint64_t handle);

/* Offset of a descriptor (seek.c).  Takes f->pos_lock; the time of the call counts while it waits. */
void file_lock_pos(struct file *f);
/* As lseek(2), negative errno. */
int64_t file_seek(struct file *f, int fd, int64_t off, int whence);
/* Where it ends, in bytes of the view; likewise. */
int file_size(struct file *f, int fd, uint64_t *size);
/* It is of PVFS, and has no partition. */
bool file_seen_whole(struct file *f);

/* Its view, from now on.  With the lock, or before others know it. */
static inline void file_see(struct file *f, const struct view *view)
{
	f->view = *view;
	atomic_store(&f->parted, view->off || view->gsize);
}

/* ---- at the servers: file_session.c ---- */

/*
 * Runs op on the file, by its handle.  If the session turns out to have ended
 * the file is opened again under the next one, and op runs again, twice at most
 * (another ticket, then another capability); see fs_lost() for what is not
 * repeated.  -ESTALE: locks went with the session, and whoever relies on them
 * must not go on.
 */
typedef int (*target_op)(struct session *s, const struct target *t, void *arg);
int file_run(struct file *f, target_op op, void *arg);
/* The same on what t names, open or not: fs_lost.c. */
int fs_run(struct fs *fs, const struct target *t, target_op op, void *arg);
/* Returns when all servers of the file have its data on stable storage. */
int file_sync(struct file *f);
/* It may grow in another way than by an append: from here on the mgr asks where it ends. */
int file_grows(struct file *f);
/* F_SETFL: O_APPEND on or off. */
int file_set_append(struct file *f, bool append);
/* RELEASE, not waited for.  Nobody else uses the file any more. */
void file_release(struct file *f);

#endif
