/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * member_rig.h - stores of several managers with a log in memory, and a model of their rows.
 *
 * The model has the rows of some tables, and the seed of each value.  The rig keeps a model for
 * each entry of the log, computed from the bytes of the entries.  So every store can be compared
 * with the model of what it has applied.
 */
#ifndef MEMBER_RIG_H
#define MEMBER_RIG_H

#include "mgr/db/store.h"

#define RIG_TABLES 3
#define RIG_KEYS 24
#define RIG_ENTRIES 4096

struct rig_model {
	uint32_t seed[RIG_TABLES][RIG_KEYS]; /* 0: the row does not exist */
};

enum rig_entry_kind { RIG_DATA, RIG_NOTHING, RIG_CONFIG };

struct rig_entry {
	enum rig_entry_kind kind;
	uint64_t term;
	void *bytes;
	size_t len;
	struct rig_model after;
};

struct rig {
	struct log_file out;
	struct log log;
	uint64_t term;
	/* the entry with index 1 is entry[1] */
	struct rig_entry entry[RIG_ENTRIES];
	uint64_t last, committed;
	/* the stores have no hook: rig_flush() takes their entries */
	bool takes_entries;
	int refuse; /* so many next calls of the hook fail with -ENOSPC */
	bool depose; /* the hook stores the entry, but returns an error */
	struct store *leader; /* the store that calls the hook */
};

/* A member has a folder. */
struct rig_member {
	char dir[64];
	struct store *st;
};

void rig_init(struct rig *rig);
void rig_free(struct rig *rig);
/* Removes the entries that are not committed. */
void rig_truncate(struct rig *rig);
/* Appends and commits an entry without changes, and tells the leader. */
void rig_append_other(struct rig *rig, enum rig_entry_kind kind);

void rig_member_make(struct rig_member *m, const char *name);
void rig_member_remove(struct rig_member *m);
/* Copies the files in their current state, as after a kill. */
void rig_member_copy(const struct rig_member *from, struct rig_member *to);
/* Returns 0, or the error of store_open(). */
int rig_open(struct rig *rig, struct rig_member *m);
void rig_close(struct rig_member *m);
/* Makes the store the one that calls the hook. */
void rig_lead(struct rig *rig, struct rig_member *m);

/* Calls store_flush() of the leader, or does the same by store_next_entry(). */
int rig_flush(struct rig *rig);

/* Changes one row; seed 0 deletes it.  Returns the result of the store's function. */
int rig_put(struct store *st, unsigned int table, unsigned int key,
	    uint32_t seed);
/* Returns the next index that the store needs. */
uint64_t rig_next_index(struct store *st);
/* Applies entry `index`, of any kind. */
int rig_apply(struct rig *rig, struct rig_member *m, uint64_t index);
void rig_apply_all(struct rig *rig, struct rig_member *m);
/* Checks that the store has exactly these rows. */
void rig_check_rows(struct store *st, const struct rig_model *model);
/* Checks that the rows are those of the model for what the store has applied. */
void rig_check_applied(struct rig *rig, struct rig_member *m);
/* Returns a checksum of all rows of all tables. */
uint32_t rig_sum(struct store *st);

#endif
