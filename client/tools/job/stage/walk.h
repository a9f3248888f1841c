/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * walk.h - a thread that walks over the source and creates the directories of the target.  The
 * thread may wait for servers that do not answer.  The functions that return its results do not
 * wait.
 */
#ifndef JOB_WALK_H
#define JOB_WALK_H

#include "client/tools/files/copy/copy.h"
#include "client/tools/job/stage/team.h"

struct walk;

/*
 * Starts the walk.  Sets the callbacks and arg of copy, which the walk uses until its end.  0 or
 * -errno.
 */
int walk_start(struct copy *copy, const char *from, const char *to,
	       struct walk **walk);
/* Returns a descriptor that is readable when there is something new. */
int walk_fd(const struct walk *w);
/*
 * Returns the next file that the walk has found, which the caller then owns; if its why is set, it
 * cannot be copied.  NULL: there is none now.
 */
struct team_file *walk_next(struct walk *w);
/* Whether the walk has ended and walk_next() has returned all of its files. */
bool walk_is_done(struct walk *w);
/* Called when all files are copied: sets the modes and times of the directories, in the thread. */
void walk_finish(struct walk *w);
bool walk_is_finished(struct walk *w);
/* Only a finished walk may be freed.  One that is not finished ends with the process. */
void walk_free(struct walk *w);

#endif
