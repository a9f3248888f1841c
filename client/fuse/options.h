/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * options.h - the command line, as mount(8) and people write it.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "client/fuse/fsd.h"

struct options {
	char *what; /* HOST:/, or a mount point of pvfstab */
	char *dir; /* where it is shown */
	bool foreground, debug;
	enum cache cache;
	double attr_timeout,
		entry_timeout; /* s; below 0: as the cache has it */
	unsigned int max_threads;
	char *pvfs; /* options of pvfstab(5), with commas, or "" */
	struct fuse_args fuse; /* for libfuse */
	bool atime; /* reads count */
	bool suid;
	unsigned long flags; /* of mount(2), MS_* */
	unsigned long given; /* those that an option sets or clears */
	bool limits; /* it was said whether nosuid and nodev are wanted */
	bool helper; /* mount(8) has started us */
	bool remount; /* what is shown there gets these flags; nothing is mounted */
	bool nonempty; /* DIR may have names, which nobody sees then */
	bool checked; /* by the kernel, too: default_permissions; */
	bool unchecked; /* ... is not wanted */
	bool allow_other; /* all users of this host */
};

/*
 * -1: go on; else the exit status, and what is wrong was said.  options_free() in
 * any case.
 */
int options_parse(int argc, char **argv, struct options *opt);
void options_free(struct options *opt);

/* The mount that opt asks for, the only one of *tab.  -errno: said to log. */
int options_mount(const struct options *opt, const struct log *log,
		  struct pvfstab *tab);

#endif
