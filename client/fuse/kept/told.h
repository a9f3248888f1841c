/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * told.h - attributes that a thread has just been told, of a file that it made.  Where
 * the kernel checks permissions it asks for them again before open(2) returns, and
 * all iods would have to say how long a file is that is empty.
 */
#ifndef TOLD_H
#define TOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct told;

struct told *told_new(void);
void told_free(struct told *t);

/* Before thread gets the answer. */
void told_note(struct told *t, pid_t thread, const struct stat *st);

/*
 * Of a directory that it changed, too, where the kernel asks the same.  That holds
 * until then (clock_now()), and only as long as no other change was answered since it
 * began: each says so before it is.
 */
uint64_t told_changes(const struct told *t); /* as it begins */
void told_changed(struct told *t);
void told_note_dir(struct told *t, pid_t thread, const struct stat *st,
		   uint64_t changes, uint64_t until);

/* With each request of thread's: what it was told by the one before, and only once. */
bool told_take(struct told *t, pid_t thread, struct stat *st);

#endif
