/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * member_rig.h - managers' stores around a log in memory, and a model of their rows.
 *
 * The model is the rows of some tables, each as the seed of its value.  The rig has the model after
 * each entry of the log, made from the bytes of the entries, so every store can be compared with
 * the model at what it has applied.
 */
#ifndef MEMBER_RIG_H
#define MEMBER_RIG_H

#include "mgr/db/store.h"

#define RIG_TABLES 3
#define RIG_KEYS 24
#define RIG_ENTRIES 4096

struct rig_model {
	uint32_t seed[RIG_TABLES][RIG_KEYS]; /* 0: no such row */
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
	/* index 1 is entry[1] */
	struct rig_entry entry[RIG_ENTRIES];
	uint64_t last, committed;
	/* answers of the next calls of the hook */
	bool takes_entries; /* the stores have no hook: rig_flush() takes their entries */
	int refuse; /* so many times -ENOSPC */
	bool depose; /* the entry is stored, and the leader is not told */
	struct store *leader; /* that calls the hook */
};

/* A member: its folder. */
struct rig_member {
	char dir[64];
	struct store *st;
};

void rig_init(struct rig *rig);
void rig_free(struct rig *rig);
/* Removes the entries after the committed ones. */
void rig_truncate(struct rig *rig);
/* Appends an entry without changes, and commits it; the leader is told. */
void rig_append_other(struct rig *rig, enum rig_entry_kind kind);

void rig_member_make(struct rig_member *m, const char *name);
void rig_member_remove(struct rig_member *m);
/* Copies the files as they are, as after a kill. */
void rig_member_copy(const struct rig_member *from, struct rig_member *to);
/* 0, or what store_open() returns. */
int rig_open(struct rig *rig, struct rig_member *m);
void rig_close(struct rig_member *m);
/* The store becomes the one that calls the hook. */
void rig_lead(struct rig *rig, struct rig_member *m);

/* store_flush() of the leader, or the same by store_next_entry(). */
int rig_flush(struct rig *rig);

/* One change of one row; 0 deletes it.  As the store's functions. */
int rig_put(struct store *st, unsigned int table, unsigned int key,
	    uint32_t seed);
/* The next index that the store needs. */
uint64_t rig_next_index(struct store *st);
/* Applies entry `index`, of any kind. */
int rig_apply(struct rig *rig, struct rig_member *m, uint64_t index);
void rig_apply_all(struct rig *rig, struct rig_member *m);
/* The rows are these, and no others. */
void rig_check_rows(struct store *st, const struct rig_model *model);
/* The rows are those of the model at what the store has applied. */
void rig_check_applied(struct rig *rig, struct rig_member *m);
/* All rows of all tables. */
uint32_t rig_sum(struct store *st);

#endif
