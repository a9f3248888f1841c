/* SPDX-License-Identifier: BSD-2-Clause */
/* main.c - pvfs-fsck: options, and exit statuses as for fsck(8). */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/fsck/fsck.h"

#define CONF_DEFAULT "/etc/pvfs/pvfs.conf"
#define SETTLE_MS 2000 /* a removal in progress ends in this time */

enum { CLEAN = 0, REPAIRED = 1, DAMAGED = 4, FAILED = 8, WRONG_USE = 16 };

struct fsck_options {
	const char *config;
	bool repair, json;
	unsigned int timeout_s;
};

static void print_usage(FILE *out)
{
	fputs("usage: pvfs-fsck [--config FILE] [--repair] [--json]\n"
	      "\n"
	      "Compares the names of a file system with the objects on its "
	      "iods.  All\nservers must run; clients may go on.  Run it on the "
	      "manager's host.\n"
	      "\n"
	      "  -c, --config FILE  the file system's configuration\n"
	      "                     (default " CONF_DEFAULT ")\n"
	      "  -r, --repair       remove objects that belong to no file\n"
	      "  -j, --json         one JSON object\n"
	      "  -t, --timeout S    wait so long for each answer (30)\n"
	      "  -h, --help         this text\n"
	      "  -V, --version      the version\n"
	      "\n"
	      "Exit status: 0 nothing wrong, 1 all was repaired, 4 problems "
	      "are left,\n8 it could not be done, 16 wrong usage.  See "
	      "pvfs-fsck(8).\n",
	      out);
}

static bool parse_timeout(const char *text, unsigned int *s)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*s = (unsigned int)n;
	return *text >= '0' && *text <= '9' && !*end && n >= 1 && n <= 86400;
}

/* -1: continue; otherwise the exit status. */
static int parse_options(int argc, char **argv, struct fsck_options *opt)
{
	static const struct option longopts[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "repair", no_argument, NULL, 'r' },
		{ "json", no_argument, NULL, 'j' },
		{ "timeout", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "c:rjt:hV", longopts, NULL)) !=
	       -1) {
		if (c == 'c') {
			opt->config = optarg;
		} else if (c == 'r') {
			opt->repair = true;
		} else if (c == 'j') {
			opt->json = true;
		} else if (c == 'h') {
			print_usage(stdout);
			return fflush(stdout) ? FAILED : CLEAN;
		} else if (c == 'V') {
			puts("pvfs-fsck " PVFS_VERSION);
			return fflush(stdout) ? FAILED : CLEAN;
		} else if (c != 't' ||
			   !parse_timeout(optarg, &opt->timeout_s)) {
			print_usage(stderr);
			return WRONG_USE;
		}
	}
	if (optind == argc)
		return -1;
	fputs("pvfs-fsck: takes no arguments\n", stderr);
	return WRONG_USE;
}

static int exit_status(const struct problem_list *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (!all->p[i].repaired)
			return DAMAGED;
	return all->n ? REPAIRED : CLEAN;
}

static int run_fsck(struct fsck *f, const struct fsck_options *opt)
{
	struct problem_list all = { 0 };
	int rc = fsck_open_servers(f), status;

	if (!rc)
		rc = fsck_run_passes(f, SETTLE_MS, &all);
	if (!rc && opt->repair)
		rc = fsck_remove_orphans(f, &all);
	if (rc)
		log_error(f->log, "not completed: %s", strerror(-rc));
	else
		rc = fsck_print_report(f, &all, opt->json);
	status = rc ? FAILED : exit_status(&all);
	problem_list_free(&all);
	fsck_close_servers(f);
	return status;
}

int main(int argc, char **argv)
{
	struct log_file file = { .out = stderr, .prefix = "pvfs-fsck" };
	struct log log = { LOG_LV_WARN, log_to_file, &file };
	struct fsck_options opt = { .config = CONF_DEFAULT, .timeout_s = 30 };
	struct fsck f = { .log = &log };
	char text[1024];
	int rc;

	rc = parse_options(argc, argv, &opt);
	if (rc >= 0)
		return rc;
	if (mgr_conf_load(opt.config, 0, &f.conf, text, sizeof(text))) {
		fprintf(stderr, "pvfs-fsck: %s\n", text);
		return FAILED;
	}
	f.timeout_ms = opt.timeout_s * 1000;
	rc = run_fsck(&f, &opt);
	mgr_conf_free(&f.conf);
	return rc;
}
