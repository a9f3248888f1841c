/* SPDX-License-Identifier: BSD-2-Clause */
/* mount_opt_int.h - the options in a line of pvfstab(5). */
#ifndef MOUNT_OPT_INT_H
#define MOUNT_OPT_INT_H

#include "client/lib/mount/pvfstab.h"

#define PVFSTAB_SHOWN 80 /* characters of a wrong value shown in a message */

/* The options that a line has.  A field is 0 or NULL if the line does not have its option. */
struct mount_opt {
	const char *transport, *fabric; /* point into the text */
	unsigned long port;
	unsigned long timeout, dead_peer; /* in seconds */
	unsigned long server_uid;
	struct mount *mount; /* receives the options that need no conversion */
};

/*
 * Reads the options text, "NAME=VALUE,WORD,...", into opt and splits text in place.  Returns
 * NULL, or the part of text that is an unknown, wrong or repeated option.
 */
const char *mount_opt_read(char *text, struct mount_opt *opt);
/*
 * Writes to why, of max bytes, what is wrong with the option bad, a result of mount_opt_read(),
 * and how to correct it.  Returns why.
 */
const char *mount_opt_flaw(const char *text, const char *bad, char *why,
			   size_t max);

#endif
