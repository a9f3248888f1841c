/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h - the command line, as mount(8) and users write it. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "client/fuse/fuse_daemon.h"

struct options {
	char *source; /* HOST:/, or a mount point in pvfstab */
	char *dir; /* mount point */
	char *pvfs_options; /* of pvfstab(5), separated by commas; or "" */
	struct fuse_args fuse; /* arguments for libfuse */

	/* how the daemon runs */
	bool foreground, debug;
	bool helper; /* started by mount(8) */
	bool fake; /* `mount -f`: check everything, and mount nothing */
	unsigned int max_threads;

	/* caches of the kernel */
	enum cache cache;
	/* seconds; while parsing, negative: the default of the cache mode */
	double attr_timeout, entry_timeout;

	/* permissions */
	bool allow_other; /* for all users of this host */
	bool default_permissions; /* the kernel checks permissions too */
	bool no_default_permissions; /* was given */

	/* the mount */
	bool remount; /* only change the flags of the existing mount */
	bool nonempty; /* DIR may have entries, which the mount hides */
	unsigned long flags; /* MS_* flags of mount(2) */
	/* those flags that an option sets or clears */
	unsigned long flags_given;
	bool limits_given; /* nosuid, nodev, or one of their opposites */
	bool kernel_only; /* options were given that only the kernel writes */
};

/*
 * Parses the command line.  Returns -1 to continue.  Otherwise returns the exit status; it
 * has printed the error, the help or the version.  Call options_free() in any case.
 */
int options_parse(int argc, char **argv, struct options *opt);
void options_free(struct options *opt);

/*
 * Loads the mount that opt requests as the only one of *tab.  Returns 0 or -errno, which
 * is logged.
 */
int options_mount(const struct options *opt, const struct log *log,
		  struct pvfstab *tab);

#endif
