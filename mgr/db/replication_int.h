/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replication_int.h - a store with the same rows as the stores of other managers.
 *
 * Each transaction that changes rows is a change with a number: 1, 2, 3, ..., continued by each new
 * leader.  A store that had rows before it was replicated begins at a random number.  So an entry
 * fits only a store that has exactly the changes before it.
 *
 * 	change:   1 .. a | a+1 ............... c | c+1 ......... z
 * 	          in the tables permanently       | committed     | not known as committed
 * 	                   ^ applied.change                ^ noted.change    ^ change
 * 	                 undo rows are void | undo rows exist: each open undoes them
 */
#ifndef REPLICATION_INT_H
#define REPLICATION_INT_H

#include <sys/queue.h>

#include "mgr/db/db_int.h"
#include "mgr/db/write_set.h"

/*
 * The changes of one transaction: its write set, and the old row of each change.  Writing the old
 * rows in reverse order undoes the transaction.
 */
struct row_changes {
	struct row_list before; /* the old row of each change, in order */
	struct row_list after; /* the write set */
	/* not 0 if the lists are incomplete: -ENOMEM, -EIO, -E2BIG (too long for an entry) */
	int error;
};

struct queued_entry {
	bool handed_out; /* store_next_entry() has returned it */
	struct write_entry entry;
	STAILQ_ENTRY(queued_entry) link;
};
STAILQ_HEAD(entry_queue, queued_entry);

/* The undo rows of this process, by their keys: the last change that used each slot. */
struct undo_slots {
	uint64_t *change;
	unsigned int n, room;
	unsigned int next; /* the slot to be used again next */
};

struct replication {
	store_replicate_fn *replicate;
	void *arg;

	/* only the store's thread uses the following fields */
	bool leading;
	struct row_changes changes; /* changes of the open transaction */
	/* the position that the database has recorded */
	struct store_applied applied;
	/* the open transaction writes applied_next */
	bool writes_applied;
	struct store_applied applied_next;
	struct undo_slots undo;
	struct queued_entry *spare; /* has room for the open transaction */

	pthread_mutex_t
		flush_lock; /* one flush runs at a time; locked before `lock` */
	pthread_mutex_t lock; /* protects the following fields */
	/* entries committed here and not yet replicated */
	struct entry_queue entries;
	/* the last entry; NULL if that is full or was sent */
	struct queued_entry *filling;
	uint64_t change; /* number of the last change that was committed here */
	/* position committed in the managers' log */
	struct store_applied noted;
	uint64_t index_written; /* applied.index, for other threads */
	uint64_t index_durable; /* applied.index as of the last flush */
};

/* ---- replication.c ---- */

/* Returns 0 or -ENOMEM. */
int replication_new(const struct store_attr *attr, struct replication **out);
void replication_free(struct replication *rep);
/* Loads the position that the database has applied. */
int replication_load(struct store *st);
/*
 * Call them before and after the commit of a transaction that changed rows. Only for the store's
 * thread.
 */
int replication_before_commit(struct store *st);
void replication_after_commit(struct store *st);
/* Call it once the tables contain these entries and the database records this. */
void replication_set_applied(struct replication *rep,
			     const struct store_applied *applied);
/* Does the work of store_flush(). Any thread may call it. */
int replication_flush(struct store *st);
/* Call them before and after a flush of Berkeley DB's log. Any thread may call them. */
uint64_t replication_index_written(struct replication *rep);
void replication_note_durable(struct replication *rep, uint64_t index);

/* ---- applied_row.c: rows of TABLE_MEMBER; store's thread ---- */

/*
 * Reads the applied position, all zero if the store has none. Returns 0, or -EIO, which is logged,
 * if the rows are damaged.
 */
int applied_get(struct store *st, struct store_applied *applied);
/* A transaction must be open.  Writes the configuration only if it differs from that in before. */
int applied_put(struct store *st, const struct store_applied *applied,
		const struct store_applied *before);
int applied_del(struct store *st);

/* ---- undo.c: rows of TABLE_MEMBER; store's thread ---- */

/*
 * Adds undo rows of this change to the open transaction. Returns 0, or -EBADMSG if before is
 * malformed.
 */
int undo_put(struct store *st, uint64_t change, const struct row_list *before);
/*
 * Undoes all changes that have undo rows and are not recorded as applied, the last one first, in
 * several transactions, and deletes all undo rows. After a crash, the next call continues. No
 * transaction may be open. Returns -EIO, which is logged, if a row is damaged.
 */
int undo_all(struct store *st);
void undo_slots_free(struct undo_slots *slots);

#endif
