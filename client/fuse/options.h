/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h - the command line, as mount(8) and users write it. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "client/fuse/fsd.h"

struct options {
	char *what; /* HOST:/, or a mount point in pvfstab */
	char *dir; /* mount point */
	bool foreground, debug;
	enum cache cache;
	double attr_timeout,
		entry_timeout; /* s; negative: default of the cache mode */
	unsigned int max_threads;
	char *pvfs; /* options of pvfstab(5), separated by commas; or "" */
	struct fuse_args fuse; /* arguments for libfuse */
	bool atime; /* reads update atime */
	bool suid;
	unsigned long flags; /* MS_* flags of mount(2) */
	unsigned long given; /* flags that an option sets or clears */
	bool limits; /* the options state nosuid or nodev, or their opposites */
	bool helper; /* started by mount(8) */
	bool remount; /* only change the flags of the existing mount */
	bool shown; /* options that the kernel shows were given */
	bool nonempty; /* DIR may have entries, which the mount hides */
	/* the kernel checks permissions too: default_permissions */
	bool checked;
	bool unchecked; /* no_default_permissions was given */
	bool allow_other; /* for all users of this host */
};

/*
 * -1: continue; else the exit status, and the error was printed.  Call options_free()
 * in any case.
 */
int options_parse(int argc, char **argv, struct options *opt);
void options_free(struct options *opt);

/*
 * Loads the mount that opt requests as the only one of *tab.  0 or -errno, which is
 * logged.
 */
int options_mount(const struct options *opt, const struct log *log,
		  struct pvfstab *tab);

#endif
