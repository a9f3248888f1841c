/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intent_log.h - a durable record of the regions in which this iod's objects may differ from those
 * of the other members of their copysets.  After a failure, only these regions are compared, as with
 * the write-intent bitmap of Linux' md (md(4)).
 *
 * A change of an object *counts*
 *  - while it runs: from intent_log_begin() to intent_log_end(), which comes when the change is
 *    stored here and known to be complete at all members;
 *  - until it is flushed here: an epoch that began after its end has ended;
 *  - while its copyset keeps changes, because a member that does not serve has missed some.
 * The log has a durable entry for all regions of the changes that count, from before each change
 * is made.  The file has entries for other regions as well, which costs only time to compare.
 *
 * A region is 16 MiB.  An entry is for a block of 64 regions, and has a bit for each.  Three kinds
 * of entries cover more:
 *  - a whole object: for changes of more than two blocks, and for changes of the size;
 *  - a whole copyset: in place of its entries, if the log has too many;
 *  - the horizon: all objects of files whose numbers are not below it.  Files are numbered in the
 *    order in which they were created, so changes of new files are not recorded at all.
 * If a change follows entries of the regions before it, the new entry includes regions after it: as
 * many as there are entries before, up to the end of the block.  So a sequential write of a block
 * waits for 7 entries, not for 64.
 *
 * Epochs, which are checkpoints of the log (Gray and Reuter, Transaction Processing, 1993, chapter
 * 11), all on one thread:
 *
 *	intent_log_epoch_begin()
 *	flush all objects that changed before
 *	intent_log_epoch_end()		a new file has the entries that still count
 *
 * Group commit: changes that wait for an entry share one write and one flush, which the thread that
 * calls intent_log_work() makes.
 *
 * All functions may be called from any thread, unless they say otherwise.
 */
#ifndef INTENT_LOG_H
#define INTENT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/dist/object_key.h"
#include "common/util/disk_folder.h"

#define INTENT_LOG_REGION (UINT64_C(16) << 20) /* bytes */
#define INTENT_LOG_REGIONS 64u /* of a block */
/* A good blocks_max: 50 MB of memory, and a file of 8 MiB. */
#define INTENT_LOG_BLOCKS (1u << 18)

struct intent_log;

struct intent_log_attr {
	struct disk_folder disk; /* used until intent_log_close() */
	uint64_t store; /* id of the iod's store; not 0 */
	/* if there are as many entries, the largest copyset gets one entry instead of its own */
	size_t blocks_max;
	/* intent_log_work() has work.  Called from any thread; must not block or call the log. */
	void (*submitted)(void *arg);
	void *arg;
};

/*
 * Opens the log that is there.  All its entries count as changes that have just ended.  -ENOENT:
 * there is none.  -EIO: it is damaged, or cannot be read.  -ESTALE: it is of another store.  -ENOMEM.
 */
int intent_log_open(const struct intent_log_attr *attr,
		    struct intent_log **log);
/*
 * Makes a log whose horizon is 0, so all objects differ: for a new store, and in place of a log that
 * is damaged or of another store.  epoch: higher than all that the store had.  -ENOMEM, -errno of the
 * disk.
 */
int intent_log_create(const struct intent_log_attr *attr, uint64_t epoch,
		      struct intent_log **log);
/* Changes that run or wait are forgotten, without durable().  NULL: nothing happens. */
void intent_log_close(struct intent_log *log);

/* ---- changes ---- */

/* The caller owns it, and keeps it from intent_log_begin() to intent_log_end(), or to an error. */
struct intent_log_change {
	struct object_key object; /* its handle is not 0 */
	uint64_t number; /* of the file, in the order of creation */
	/* bytes, from < end; end UINT64_MAX: the whole object, as for each change of its size */
	uint64_t from, end;
	/*
	 * rc 0: the entry is durable, and the change may be made.  -errno: it must not be made; it
	 * has ended.  Called on the thread of intent_log_work(); must not block, nor call
	 * intent_log_work() or intent_log_epoch_end().
	 */
	void (*durable)(struct intent_log_change *change, int rc);
	/* private */
	struct {
		struct intent_block *block;
		uint64_t bits;
	} part[2];
	unsigned int n_parts; /* 0: beyond the horizon */
	TAILQ_ENTRY(intent_log_change) link;
};

/*
 * Begins a change.  0: make it, then call intent_log_end().  -EINPROGRESS: durable() will be called,
 * possibly before this function returns.  Other errors: it must not be made, and has not begun:
 * -ENOMEM; the error of an earlier flush of the log, after which the log cannot be used.
 */
int intent_log_begin(struct intent_log *log, struct intent_log_change *change);
void intent_log_end(struct intent_log *log, struct intent_log_change *change);

/*
 * Writes the entries that changes wait for, flushes them, and calls durable() of these changes.  If
 * the write fails, for example with -ENOSPC, only these changes fail.  If the flush fails, all later
 * changes fail as well.
 */
void intent_log_work(struct intent_log *log);

/* ---- epochs ---- */

/*
 * Begins an epoch.  keeps(): whether changes of the copyset must be kept, because a member of it is
 * not SERVING; must not call the log.  newest: changes of files from this number on need no entries
 * from now on, and at the end of the next epoch it becomes the horizon.  0: the horizon stays;
 * required while keeps() is true for any copyset of the iod.
 */
void intent_log_epoch_begin(struct intent_log *log, uint64_t newest,
			    bool (*keeps)(void *arg, uint64_t copyset),
			    void *arg);
/*
 * Ends the epoch: drops the entries that do not count any more.  Call it only if all objects that
 * were changed before intent_log_epoch_begin() are flushed without error.  Otherwise begin the next
 * epoch without an end of this one, with newest 0 and keeps() true, until other members have been
 * compared.  Changes that need new entries wait meanwhile.  -errno: the file is as before; call it
 * again, or begin the next epoch.
 */
int intent_log_epoch_end(struct intent_log *log);

/* ---- contents ---- */

struct intent_log_status {
	uint64_t epoch; /* of the file */
	uint64_t horizon; /* all objects of files with numbers from here on count */
	size_t entries;
};
void intent_log_get_status(struct intent_log *log,
			   struct intent_log_status *status);

#define INTENT_LOG_WHOLE UINT64_MAX
struct intent_log_entry {
	uint64_t handle; /* 0: all objects of the copyset */
	/* bytes from block * 1 GiB on; INTENT_LOG_WHOLE: the whole object */
	uint64_t block;
	uint64_t bits; /* bit i: the region i of the block; at least one */
};
/*
 * Lists the entries of the copyset whose changes count, in any order.  after: the last entry of the
 * call before; NULL: from the first one.  Returns how many of the n entries were set; 0: there are no
 * more.  -ESTALE: the entry `after` does not count any more; begin again.  This cannot happen while
 * the copyset keeps changes.
 */
int intent_log_list(struct intent_log *log, uint64_t copyset,
		    const struct intent_log_entry *after,
		    struct intent_log_entry *entries, unsigned int n);

#endif
