/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * walk.h - a thread that walks over the source and makes folders at the target.  It may wait for
 * servers that do not answer any more; who asks it for what it has found never does.
 */
#ifndef JOB_WALK_H
#define JOB_WALK_H

#include "client/tools/copy/copy.h"
#include "client/tools/job/stage/team.h"

struct walk;

/* copy's callbacks and arg are its from now on.  0, or -errno. */
int walk_start(struct copy *copy, const char *from, const char *to,
	       struct walk **walk);
/* Readable when there is something new. */
int walk_fd(const struct walk *w);
/* The next file that it has found, or, with why, what cannot be copied; NULL: none now.
 * The caller's. */
struct team_file *walk_next(struct walk *w);
/* It finds no more. */
bool walk_is_done(struct walk *w);
/* All files are there: folders get their modes and times now. */
void walk_finish(struct walk *w);
bool walk_is_finished(struct walk *w);
/* A walk that is not finished cannot be freed, and ends with the process. */
void walk_free(struct walk *w);

#endif
