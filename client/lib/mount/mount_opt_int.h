/* SPDX-License-Identifier: BSD-2-Clause */
/* mount_opt_int.h - the options of a line of pvfstab(5). */
#ifndef MOUNT_OPT_INT_H
#define MOUNT_OPT_INT_H

#include "client/lib/mount/pvfstab.h"

#define PVFSTAB_SHOWN 80 /* characters of what a line says wrong */

/* What they say; 0 or NULL where they do not, and the caller's defaults stay. */
struct mount_opt {
	const char *transport, *fabric; /* into the text */
	unsigned long port;
	unsigned long timeout, dead_peer; /* seconds */
	unsigned long server_uid;
	struct mount *mount; /* what goes there as it is */
};

/*
 * Reads "NAME=VALUE,WORD,...", which it takes apart in place.  NULL, or the
 * word in text that is unknown, wrong, or was given before.
 */
const char *mount_opt_read(char *text, struct mount_opt *opt);
/* What is wrong with that word, and the fix, at most max bytes; returns why. */
const char *mount_opt_flaw(const char *text, const char *bad, char *why,
			   size_t max);

#endif
