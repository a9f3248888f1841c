/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * errands.h - requests of the kernel that are under way without a thread.
 *
 * Where as many programs ask as there are processors (alert.h), who listens begins
 * what it hears as a strand (strand.h), hears the next one, and drives for all of them:
 * nobody is woken to listen meanwhile, nor for an answer that another thread has heard.
 * What is about names and attributes goes like this; transfers have buffers of their
 * thread's, and readers of a directory wait for each other with a mutex.
 *
 *	listens | begins a LOOKUP | begins a CREATE | drives, answers both | listens
 */
#ifndef ERRANDS_H
#define ERRANDS_H

#include <stdbool.h>

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

#include "client/lib/file/fs.h"

struct errands;

/* most: at a time.  0, -ENOMEM or -errno. */
int errands_new(struct fuse_session *se, struct fs *fs, unsigned int most,
		struct errands **out);
/* Waits for those that are under way. */
void errands_free(struct errands *a);

/*
 * Begins the request, of which it takes a copy; false: it is none for this, or there are
 * too many.  It is sent at once, or by strand_kick(*batch) behind the last of some.
 */
bool errands_begin(struct errands *a, const struct fuse_buf *request,
		   struct session **batch);
/* There are some under way. */
bool errands_away(const struct errands *a);
/*
 * By one thread at a time: drives for them, and sleeps until there may be more to do, one
 * of the n descriptors is readable, or for ms (-1: for ever).  False: for ms.
 */
bool errands_doze(struct errands *a, const int *fd, unsigned int n, int ms);

#endif
