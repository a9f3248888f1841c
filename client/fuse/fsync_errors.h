/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fsync_errors.h - errors of fsync that concern several open files.  The servers report
 * data that a disk failed to store only once to a client, and the mount is one client
 * for all programs of its host.  So the mount passes the error on to each other file of
 * the object that was open then.  The next fsync of that file returns the error.
 *
 *	A	fsync |------------ EIO
 *	B	  fsync |----- ok ..... EIO: the lost data may have been B's
 */
#ifndef FSYNC_ERRORS_H
#define FSYNC_ERRORS_H

#include "client/lib/file/file.h"

struct fsync_errors;

/* One fsync.  The caller owns it between the two calls. */
struct fsync {
	struct file *f; /* private, like all fields */
	uint64_t number; /* in the order of the starts */
	LIST_ENTRY(fsync) link;
};

/* Returns NULL if there is no memory. */
struct fsync_errors *fsync_errors_new(void);
void fsync_errors_free(struct fsync_errors *e);

/* Called before the servers are asked to flush the data of f. */
void fsync_errors_begin(struct fsync_errors *e, struct fsync *x,
			struct file *f);
/*
 * Called with rc, the result of the flush.  Returns it, or an error of another fsync that
 * f has not reported yet.  If rc is 0, waits until the given time (clock_now()) for the
 * object's fsyncs that have begun so far.  -ETIMEDOUT: one of them has not ended.
 */
int fsync_errors_end(struct fsync_errors *e, struct fsync *x, int rc,
		     uint64_t until);
/*
 * A program that bypasses the mount got the error rc, and reports it through f: passes
 * it on to the other files of the object.  Returns false if rc is no such error.
 */
bool fsync_errors_report(struct fsync_errors *e, struct file *f, int rc);

#endif
