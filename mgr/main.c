/* SPDX-License-Identifier: BSD-2-Clause */
/* main.c - pvfs-mgr: options, signals, start and stop. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

#include "common/util/daemon.h"
#include "common/util/number.h"
#include "mgr/backup/backup.h"
#include "mgr/mgr.h"

#define CONF_DEFAULT "/etc/pvfs/pvfs.conf"

static void print_usage(FILE *out)
{
	fputs("usage: pvfs-mgr [--config FILE] [--index N]\n"
	      "                [--backup DIR | --check | --restore | --recover "
	      "[--force]]\n"
	      "\n"
	      "Serves the name space of a file system.\n"
	      "\n"
	      "  -c, --config FILE  the file system's configuration\n"
	      "                     (default " CONF_DEFAULT ")\n"
	      "  -i, --index N      the manager is that of section [mgr.N]\n"
	      "  --backup DIR       copy the database of the running manager "
	      "to DIR, and end\n"
	      "  --check            look at every page of the database, while "
	      "no manager\n"
	      "                     runs on it, and end\n"
	      "  --restore          let a database from a backup, or with a "
	      "damaged log, go\n"
	      "                     on in the place of the lost one, and end\n"
	      "  --recover          say what would be lost if this one of several "
	      "managers\n"
	      "                     went on without the others\n"
	      "  --recover --force  let it go on without the others, and end\n"
	      "  -h, --help         this text\n"
	      "  -V, --version      the version\n"
	      "\n"
	      "It stays in the foreground, logs to standard error and stops "
	      "cleanly on\nSIGTERM or SIGINT.  See pvfs-mgr(8).\n",
	      out);
}

struct mgr_options {
	const char *config;
	unsigned int index; /* or MGR_INDEX_NONE */
	const char *backup; /* or NULL */
	bool check, restore, recover, force;
};

static int parse_index(const char *text, unsigned int *index)
{
	uint64_t n;

	if (number_parse(text, WIRE_MGR_MAX - 1, &n)) {
		fprintf(stderr, "pvfs-mgr: --index %s: write 0 to %u\n", text,
			WIRE_MGR_MAX - 1);
		return -EINVAL;
	}
	*index = (unsigned int)n;
	return 0;
}

/* -1: continue; else the exit status. */
static int parse_options(int argc, char **argv, struct mgr_options *opt)
{
	static const struct option longopts[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "index", required_argument, NULL, 'i' },
		{ "backup", required_argument, NULL, 'b' },
		{ "check", no_argument, NULL, 'k' },
		{ "restore", no_argument, NULL, 'r' },
		{ "recover", no_argument, NULL, 'R' },
		{ "force", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "c:i:hV", longopts, NULL)) != -1) {
		if (c == 'c') {
			opt->config = optarg;
		} else if (c == 'i') {
			if (parse_index(optarg, &opt->index))
				return 2;
		} else if (c == 'b') {
			opt->backup = optarg;
		} else if (c == 'k') {
			opt->check = true;
		} else if (c == 'r') {
			opt->restore = true;
		} else if (c == 'R') {
			opt->recover = true;
		} else if (c == 'f') {
			opt->force = true;
		} else if (c == 'h') {
			print_usage(stdout);
			return fflush(stdout) ? 1 : 0;
		} else if (c == 'V') {
			puts("pvfs-mgr " PVFS_VERSION);
			return fflush(stdout) ? 1 : 0;
		} else {
			print_usage(stderr);
			return 2;
		}
	}
	if (optind == argc && opt->force <= opt->recover)
		return -1;
	fputs(optind < argc ? "pvfs-mgr: takes no arguments\n"
			    : "pvfs-mgr: --force is for --recover\n",
	      stderr);
	print_usage(stderr);
	return 2;
}

/* Runs the manager once.  *next: why it ended.  -errno: it did not start. */
static int run_manager(const struct mgr_conf *conf, const struct log *log,
		       struct daemon *daemon, enum daemon_order *next)
{
	struct mgr *mgr;
	int rc = mgr_start(conf, log, daemon, &mgr);

	if (rc)
		return rc;
	while ((*next = daemon_next(daemon)) == DAEMON_RELOAD)
		mgr_reload(mgr);
	mgr_stop(mgr);
	return 0;
}

/* If its leadership ends, a manager starts again in this process. */
static int run_daemon(const struct mgr_conf *conf, const struct log *log)
{
	struct daemon daemon;
	enum daemon_order next;
	int rc;

	daemon_begin(&daemon, log);
	do {
		rc = run_manager(conf, log, &daemon, &next);
	} while (!rc && next == DAEMON_RESTART);
	if (!rc)
		log_info(log, "stopped");
	daemon_end(&daemon);
	if (rc)
		return rc == -ENOSPC ? EX_TEMPFAIL : EXIT_FAILURE;
	return daemon_status(&daemon);
}

int main(int argc, char **argv)
{
	struct log_file file = { .out = stderr, .prefix = "pvfs-mgr" };
	struct log_budget budget = { 0 };
	struct log log = { LOG_LV_INFO, log_to_file, &file, &budget };
	struct mgr_options opt = { .config = CONF_DEFAULT,
				   .index = MGR_INDEX_NONE };
	struct mgr_conf conf;
	char text[1024];
	int rc;

	rc = parse_options(argc, argv, &opt);
	if (rc >= 0)
		return rc;
	if (mgr_conf_load(opt.config, opt.index, &conf, text, sizeof(text))) {
		fprintf(stderr, "pvfs-mgr: %s\n", text);
		return EXIT_FAILURE;
	}
	log.level = conf.log_level;
	if (opt.backup)
		rc = backup_run(conf.storage, conf.fsid, opt.backup, &log)
			     ? EXIT_FAILURE
			     : EXIT_SUCCESS;
	else if (opt.check)
		rc = mgr_check(&conf, &log) ? EXIT_FAILURE : EXIT_SUCCESS;
	else if (opt.restore)
		rc = mgr_restore(&conf, &log) ? EXIT_FAILURE : EXIT_SUCCESS;
	else if (opt.recover)
		rc = mgr_recover(&conf, opt.force, &log) ? EXIT_FAILURE
							 : EXIT_SUCCESS;
	else
		rc = run_daemon(&conf, &log);
	mgr_conf_free(&conf);
	return rc;
}
