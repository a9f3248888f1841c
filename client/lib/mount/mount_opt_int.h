/* SPDX-License-Identifier: BSD-2-Clause */
/* mount_opt_int.h - the options in a line of pvfstab(5). */
#ifndef MOUNT_OPT_INT_H
#define MOUNT_OPT_INT_H

#include "client/lib/mount/pvfstab.h"

#define PVFSTAB_SHOWN 80 /* characters of a wrong value shown in a message */

/*
 * The options given.  A field is 0 or NULL if its option is missing; the caller's default
 * stays.
 */
struct mount_opt {
	const char *transport, *fabric; /* point into the text */
	unsigned long port;
	unsigned long timeout, dead_peer; /* in seconds */
	unsigned long server_uid;
	struct mount *mount; /* receives the options that need no conversion */
};

/*
 * Reads "NAME=VALUE,WORD,...", and splits it in place.  Returns NULL, or the word in text
 * that is unknown, wrong or repeated.
 */
const char *mount_opt_read(char *text, struct mount_opt *opt);
/*
 * Writes what is wrong with that word, and the remedy, to why, at most max bytes.
 * Returns why.
 */
const char *mount_opt_flaw(const char *text, const char *bad, char *why,
			   size_t max);

#endif
