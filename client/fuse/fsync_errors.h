/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fsync_errors.h - reports an error of fsync through all open files of an object.  If a disk
 * failed to store data, the servers report that only once to a client.  The mount is one client
 * for all programs of its host.  So when one fsync gets the error, the daemon records it for
 * each other file of the object that is open then.  The next fsync of that file returns it.
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
 * Called with rc, the result of the flush.  If rc is 0, waits until `until` (clock_now()) for the
 * other fsyncs of the object that have begun.  Returns rc; or an error of another fsync that was
 * not yet reported through this file; -ETIMEDOUT: another fsync has not ended.
 */
int fsync_errors_end(struct fsync_errors *e, struct fsync *x, int rc,
		     uint64_t until);
/*
 * Called when a program that bypasses the mount has got the error rc, which it reports through
 * its open file f: records rc for the other open files of the object.  Returns false if rc does
 * not mean that data is lost.
 */
bool fsync_errors_report(struct fsync_errors *e, struct file *f, int rc);

#endif
