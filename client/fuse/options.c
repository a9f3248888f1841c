/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c - see options.h. */
#include "client/fuse/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "client/fuse/daemon/mount_point.h"

#define TIMEOUT_S 30
#define THREADS_MAX 1024

static void print_usage(FILE *out)
{
	fputs("usage: pvfs-fuse HOST:/ DIR [-o OPTION,...] [-f] [-d]\n"
	      "       pvfs-fuse MOUNT-POINT-IN-PVFSTAB DIR [...]\n"
	      "\n"
	      "Shows a PVFS file system to all programs, at DIR; umount DIR "
	      "ends it.\n"
	      "\n"
	      "  -o port=N           and all other options of pvfstab(5)\n"
	      "  -o cache=none       the kernel keeps nothing: a read sees "
	      "each write that\n"
	      "                      returned before, wherever (default)\n"
	      "  -o cache=open       it keeps the pages of a file until an "
	      "open finds it\n"
	      "                      changed\n"
	      "  -o attr_timeout=S, entry_timeout=S\n"
	      "                      how long attributes and names may be old, "
	      "seconds\n"
	      "                      (default 0; cache=open: 1)\n"
	      "  -o max_threads=N    requests at a time (default 256)\n"
	      "  -o allow_other      all users of this host (default if root "
	      "mounts)\n"
	      "  -o no_default_permissions\n"
	      "                      the kernel checks no permissions\n"
	      "  -o noatime          reads leave atime alone (default: "
	      "relatime)\n"
	      "  -o ro, ...          as of mount(8) and mount.fuse3(8)\n"
	      "  -f, --foreground    does not go to the background\n"
	      "  -d, --debug         shows what the kernel asks, too\n"
	      "  -h, --help          this text\n"
	      "  -V, --version       the version\n"
	      "\n"
	      "See pvfs-fuse(8).\n",
	      out);
}

/* ---- one word of -o ---- */

static bool parse_seconds(const char *val, double *s)
{
	char *end;

	*s = strtod(val, &end);
	return *val && !*end && *s >= 0 && *s <= 86400;
}

static bool set_cache(struct options *opt, const char *val)
{
	if (!strcmp(val, "none"))
		opt->cache = CACHE_NONE;
	else if (!strcmp(val, "open"))
		opt->cache = CACHE_OPEN;
	else
		return false;
	return true;
}

static bool set_attr_timeout(struct options *opt, const char *val)
{
	return parse_seconds(val, &opt->attr_timeout);
}

static bool set_entry_timeout(struct options *opt, const char *val)
{
	return parse_seconds(val, &opt->entry_timeout);
}

static bool set_max_threads(struct options *opt, const char *val)
{
	char *end;
	unsigned long n = strtoul(val, &end, 10);

	opt->max_threads = (unsigned int)n;
	return *val >= '1' && *val <= '9' && !*end && n <= THREADS_MAX;
}

/*
 * Accepts an option that only the kernel writes.  The kernel shows it for a mount, so mount(8)
 * passes it on with a remount.
 */
static bool set_kernel_only(struct options *opt, const char *val)
{
	opt->kernel_only = true;
	return *val;
}

static const struct {
	const char *name;
	bool (*set)(struct options *opt, const char *val);
	const char *want;
} own[] = {
	{ "cache", set_cache, "none or open" },
	{ "attr_timeout", set_attr_timeout, "0 to 86400 (seconds)" },
	{ "entry_timeout", set_entry_timeout, "0 to 86400 (seconds)" },
	{ "max_threads", set_max_threads, "1 to 1024" },
	{ "user_id", set_kernel_only, "N, with remount" },
	{ "group_id", set_kernel_only, "N, with remount" },
};

/* Records the options that mount(2) knows as flags. */
static void note_flags(struct options *opt, const char *word)
{
	static const struct {
		const char *name;
		unsigned long set, clear;
	} words[] = {
		{ "ro", MS_RDONLY, 0 },
		{ "rw", 0, MS_RDONLY },
		{ "nosuid", MS_NOSUID, 0 },
		{ "suid", 0, MS_NOSUID },
		{ "nodev", MS_NODEV, 0 },
		{ "dev", 0, MS_NODEV },
		{ "noexec", MS_NOEXEC, 0 },
		{ "exec", 0, MS_NOEXEC },
		{ "sync", MS_SYNCHRONOUS, 0 },
		{ "async", 0, MS_SYNCHRONOUS },
		{ "dirsync", MS_DIRSYNC, 0 },
		{ "noatime", MS_NOATIME, 0 },
		{ "atime", 0, MS_NOATIME },
		{ "relatime", 0, MS_NOATIME },
		{ "strictatime", 0, MS_NOATIME },
		{ "nodiratime", MS_NODIRATIME, 0 },
		{ "diratime", 0, MS_NODIRATIME },
		{ "nosymfollow", NOSYMFOLLOW, 0 },
		{ "symfollow", 0, NOSYMFOLLOW },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i].name))
			continue;
		opt->flags = (opt->flags & ~words[i].clear) | words[i].set;
		opt->flags_given |= words[i].set | words[i].clear;
		opt->limits_given |= (words[i].set | words[i].clear) &
				     (MS_NOSUID | MS_NODEV);
	}
}

/* mount(8) removes "suid" and "dev" before we see them. */
static const char *without_allow(const char *word)
{
	if (!strcmp(word, "allow_suid"))
		return "suid";
	return strcmp(word, "allow_dev") ? word : "dev";
}

/* Whether the word is an option for mount(8), systemd or libfuse. */
static bool is_mount_option(const char *word)
{
	static const char *const names[] = {
		"ro",	   "rw",      "suid",	  "nosuid",
		"dev",	   "nodev",   "exec",	  "noexec",
		"atime",   "noatime", "sync",	  "async",
		"dirsync", "fsname=", "subtype=", "auto_unmount",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);

		if (names[i][n - 1] == '=' ? !strncmp(word, names[i], n)
					   : !strcmp(word, names[i]))
			return true;
	}
	return false;
}

/*
 * Whether the option has no effect here.  Some options only tell mount(8) when to mount,
 * and who may.  Others set how access times change.  The manager keeps these times: a read
 * of a file changes them as with relatime, and a read of a directory never does.
 */
static bool is_ignored_option(const char *word)
{
	static const char *const names[] = {
		"defaults",   "auto",	     "noauto",	      "user",
		"nouser",     "users",	     "_netdev",	      "nofail",
		"relatime",   "norelatime",  "nousers",	      "owner",
		"group",      "nogroup",     "noowner",	      "diratime",
		"nodiratime", "strictatime", "nostrictatime", "lazytime",
		"nolazytime", "silent",	     "loud",	      "symfollow",
		"mand",	      "nomand",	     "iversion",      "noiversion",
		"_rnetdev",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(word, names[i]))
			return true;
	return !strncmp(word, "x-", 2) || !strncmp(word, "X-", 2) ||
	       !strncmp(word, "comment=", 8);
}

static int list_append(char **list, const char *word)
{
	char *longer;

	if (asprintf(&longer, "%s%s%s", *list, **list ? "," : "", word) < 0)
		return -ENOMEM;
	free(*list);
	*list = longer;
	return 0;
}

/*
 * 1: it is one of ours, and set; 0: it is not; -EINVAL: its value is wrong, which was
 * printed.
 */
static int parse_own_option(struct options *opt, const char *word)
{
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (strlen(own[i].name) != len ||
		    strncmp(word, own[i].name, len))
			continue;
		if (word[len] && own[i].set(opt, word + len + 1))
			return 1;
		fprintf(stderr, "pvfs-fuse: option \"%s\": write %s=%s\n", word,
			own[i].name, own[i].want);
		return -EINVAL;
	}
	return 0;
}

static int add_fuse_option(struct options *opt, const char *word)
{
	if (fuse_opt_add_arg(&opt->fuse, "-o") ||
	    fuse_opt_add_arg(&opt->fuse, word))
		return -ENOMEM;
	return 0;
}

static int parse_option(struct options *opt, const char *given)
{
	const char *word = without_allow(given);
	int rc = parse_own_option(opt, word);

	if (rc)
		return rc < 0 ? rc : 0;
	note_flags(opt, word);
	opt->remount |= !strcmp(word, "remount");
	opt->nonempty |= !strcmp(word, "nonempty");
	if (is_ignored_option(word) || !strcmp(word, "nosymfollow") ||
	    !strcmp(word, "nonempty") || !strcmp(word, "remount"))
		return 0;
	if (!strcmp(word, "allow_other")) {
		opt->allow_other = true;
		return 0;
	}
	if (!strcmp(word, "default_permissions") ||
	    !strcmp(word, "no_default_permissions")) {
		opt->no_default_permissions = *word == 'n';
		opt->default_permissions = !opt->no_default_permissions;
		return 0;
	}
	if (is_mount_option(word))
		return add_fuse_option(opt, word);
	return list_append(&opt->pvfs_options, word);
}

static int parse_option_list(struct options *opt, char *list)
{
	char *save = NULL, *word;
	int rc = 0;

	for (word = strtok_r(list, ",", &save); word && !rc;
	     word = strtok_r(NULL, ",", &save))
		rc = parse_option(opt, word);
	return rc;
}

/* ---- the command line ---- */

/* -1: continue; else the exit status.  mount(8) adds -f (its own, "fake"), -n, -s and -v. */
static int parse_letter(struct options *opt, int letter)
{
	switch (letter) {
	case 'o':
		return parse_option_list(opt, optarg) ? 2 : -1;
	case 'f':
		opt->fake = opt->helper;
		opt->foreground = !opt->helper;
		return -1;
	case 'd':
		opt->debug = opt->foreground = true;
		return -1;
	case 'r':
		return parse_option(opt, "ro") ? 2 : -1;
	case 'n':
	case 's':
	case 'v':
	case 'w':
		return -1;
	case 'h':
		print_usage(stdout);
		return fflush(stdout) ? 1 : 0;
	case 'V':
		puts("pvfs-fuse " PVFS_VERSION);
		return fflush(stdout) ? 1 : 0;
	}
	print_usage(stderr);
	return 2;
}

static int parse_letters(int argc, char **argv, struct options *opt)
{
	static const struct option longopts[] = {
		{ "foreground", no_argument, NULL, 'f' },
		{ "debug", no_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int c, rc = -1;

	while (rc < 0 && (c = getopt_long(argc, argv, "o:fdrnsvwhV", longopts,
					  NULL)) != -1)
		rc = parse_letter(opt, c);
	return rc;
}

static int apply_defaults(struct options *opt)
{
	double timeout = opt->cache == CACHE_OPEN ? 1 : 0;
	int rc = 0;

	if (opt->attr_timeout < 0)
		opt->attr_timeout = timeout;
	if (opt->entry_timeout < 0)
		opt->entry_timeout = timeout;
	if (!geteuid())
		opt->allow_other = true;
	if (opt->allow_other)
		rc = add_fuse_option(opt, "allow_other");
	/*
	 * If another user than root mounts with allow_other, all users have the mounting user's
	 * rights, so the kernel must not check permissions.  Otherwise it must: only the kernel can
	 * check them for names that it keeps.
	 */
	opt->default_permissions |= !opt->no_default_permissions &&
				    !(opt->allow_other && geteuid());
	opt->default_permissions |= opt->allow_other && opt->entry_timeout > 0;
	if (!rc && opt->default_permissions)
		rc = add_fuse_option(opt, "default_permissions");
	if (!rc)
		rc = add_fuse_option(opt, "subtype=pvfs");
	if (!rc && opt->debug)
		rc = fuse_opt_add_arg(&opt->fuse, "-d");
	return rc;
}

/* The source may be a list of managers, and libfuse ends an option at a comma. */
static int add_fsname(struct options *opt)
{
	char *word, *escaped = NULL;
	int rc;

	if (asprintf(&word, "fsname=%s", opt->source) < 0)
		return -ENOMEM;
	rc = fuse_opt_add_opt_escaped(&escaped, word);
	if (!rc)
		rc = add_fuse_option(opt, escaped);
	free(escaped);
	free(word);
	return rc;
}

int options_parse(int argc, char **argv, struct options *opt)
{
	int rc;

	*opt = (struct options){ .attr_timeout = -1,
				 .entry_timeout = -1,
				 .max_threads = 256,
				 .flags = MS_NOSUID | MS_NODEV,
				 .pvfs_options = strdup("") };
	if (!opt->pvfs_options || fuse_opt_add_arg(&opt->fuse, argv[0]))
		return EXIT_FAILURE;
	opt->helper = !strncmp(basename(argv[0]), "mount.", 6);
	rc = parse_letters(argc, argv, opt);
	if (rc >= 0)
		return rc;
	if (optind != argc - 2) {
		print_usage(stderr);
		return 2;
	}
	if (opt->kernel_only && !opt->remount) {
		fprintf(stderr, "pvfs-fuse: options \"user_id\" and "
				"\"group_id\": only with remount\n");
		return 2;
	}
	/*
	 * mount(8) passes all flags that are to remain, after those of /proc/self/mountinfo.  It
	 * does not pass words like "exec" and "atime", which only clear a flag, so missing flags
	 * are cleared.
	 */
	if (opt->kernel_only)
		opt->flags_given |= MS_NOEXEC | MS_SYNCHRONOUS | MS_DIRSYNC |
				    MS_NOATIME | MS_NODIRATIME | NOSYMFOLLOW;
	opt->source = argv[optind];
	opt->dir = argv[optind + 1];
	return add_fsname(opt) || apply_defaults(opt) ? EXIT_FAILURE : -1;
}

void options_free(struct options *opt)
{
	free(opt->pvfs_options);
	fuse_opt_free_args(&opt->fuse);
}

/* ---- which file system ---- */

static unsigned int timeout_ms(const struct log *log)
{
	const char *text = secure_getenv("PVFS_TIMEOUT");
	unsigned long s = TIMEOUT_S;
	char *end = "";

	if (text)
		s = strtoul(text, &end, 10);
	if (*end || !s || s > 86400) {
		log_warn(log,
			 "PVFS_TIMEOUT=%s: want 1 to 86400 seconds; using %d",
			 text, TIMEOUT_S);
		s = TIMEOUT_S;
	}
	return (unsigned int)s * 1000;
}

static const char *tab_path(void)
{
	const char *path = secure_getenv("PVFSTAB_FILE");

	return path && *path ? path : "/etc/pvfstab";
}

/* Keeps only the mount of that directory in the table. */
static int keep_mount_of(struct pvfstab *tab, const char *dir,
			 const struct log *log)
{
	const char *rest;
	const struct mount *m = pvfstab_find(tab, dir, &rest);

	if (!m || *rest) {
		log_error(log,
			  "%s: no mount point of %s: write HOST:/, or one of "
			  "these",
			  dir, tab_path());
		return -ENOENT;
	}
	pvfstab_keep(tab, m);
	return 0;
}

/* For a file system that the command line names. */
static int parse_command_line_mount(const struct options *opt,
				    const struct log *log, struct pvfstab *tab)
{
	const char *root = strstr(opt->source, ":/");
	char *dir;
	int rc;

	if (root && root[2]) {
		log_error(log,
			  "%s: only a whole file system can be mounted, and no "
			  "directory of it: write %.*s",
			  opt->source, (int)(root + 2 - opt->source),
			  opt->source);
		return -EINVAL;
	}
	dir = realpath(opt->dir, NULL);
	rc = dir ? 0 : -errno;
	if (rc) {
		log_error(log, "mount point %s: %s", opt->dir, strerror(-rc));
		return rc;
	}
	rc = pvfstab_line(opt->source, dir, opt->pvfs_options, timeout_ms(log),
			  log, tab);
	free(dir);
	return rc;
}

int options_mount(const struct options *opt, const struct log *log,
		  struct pvfstab *tab)
{
	int rc;

	if (*opt->source != '/')
		return parse_command_line_mount(opt, log, tab);
	if (*opt->pvfs_options) {
		log_error(log,
			  "option \"%s\": none of pvfs-fuse; one of "
			  "pvfstab(5) stands in %s, or write HOST:/ for %s",
			  opt->pvfs_options, tab_path(), opt->source);
		return -EINVAL;
	}
	rc = pvfstab_load(tab_path(), timeout_ms(log), log, tab);
	if (rc)
		return rc;
	rc = keep_mount_of(tab, opt->source, log);
	if (rc)
		pvfstab_free(tab);
	return rc;
}
