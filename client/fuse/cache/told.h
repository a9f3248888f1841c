/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * told.h - attributes in the last reply to a thread, of a file that it created.  If the
 * kernel checks permissions, it asks for them again before open(2) returns.  All iods
 * would be asked for the size of an empty file.
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

/* Called before the thread gets the reply. */
void told_note(struct told *t, pid_t thread, const struct stat *st);

/*
 * The same for a directory that the thread changed.  The attributes are valid until
 * `until` (clock_now()), and only if no other change was answered since this one began.
 * So each change calls told_changed() before its reply.
 */
uint64_t told_changes(const struct told *t); /* at the start of a request */
void told_changed(struct told *t);
void told_note_dir(struct told *t, pid_t thread, const struct stat *st,
		   uint64_t changes, uint64_t until);

/*
 * Called with each request of the thread.  True: *st is what the previous request
 * returned; only once.
 */
bool told_take(struct told *t, pid_t thread, struct stat *st);

#endif
