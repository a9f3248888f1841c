/* SPDX-License-Identifier: BSD-2-Clause */
/* main.c - pvfs-iod: options, signals, start and stop. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/util/daemon.h"
#include "server/iod.h"

#define CONF_DEFAULT "/etc/pvfs/pvfs.conf"

struct iod_options {
	const char *config;
	long index; /* -1: not given */
	bool new_store;
};

static void print_usage(FILE *out)
{
	fputs("usage: pvfs-iod [--config FILE] --index N [--new-store]\n"
	      "\n"
	      "Serves the file stripes in iod N's storage directory.\n"
	      "\n"
	      "  -c, --config FILE  the file system's configuration\n"
	      "                     (default " CONF_DEFAULT ")\n"
	      "  -i, --index N      which iod this is: section [iod.N]\n"
	      "  --new-store        what this iod held is lost: begin with an "
	      "empty store\n"
	      "  -h, --help         this text\n"
	      "  -V, --version      the version\n"
	      "\n"
	      "It stays in the foreground, logs to standard error and stops "
	      "cleanly on\nSIGTERM or SIGINT.  See pvfs-iod(8).\n",
	      out);
}

static long parse_index(const char *text)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || end == text || *end || n < 0 || n > 65535) {
		fprintf(stderr,
			"pvfs-iod: --index %s: write the number N of a "
			"section [iod.N]\n",
			text);
		return -1;
	}
	return n;
}

/* -1: continue; otherwise the exit status. */
static int parse_options(int argc, char **argv, struct iod_options *opt)
{
	static const struct option longopts[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "index", required_argument, NULL, 'i' },
		{ "new-store", no_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "c:i:hV", longopts, NULL)) != -1) {
		if (c == 'c') {
			opt->config = optarg;
		} else if (c == 'i') {
			opt->index = parse_index(optarg);
			if (opt->index < 0)
				return 2;
		} else if (c == 'n') {
			opt->new_store = true;
		} else if (c == 'h') {
			print_usage(stdout);
			return fflush(stdout) ? 1 : 0;
		} else if (c == 'V') {
			puts("pvfs-iod " PVFS_VERSION);
			return fflush(stdout) ? 1 : 0;
		} else {
			print_usage(stderr);
			return 2;
		}
	}
	if (opt->index >= 0 && optind == argc)
		return -1;
	fprintf(stderr, "pvfs-iod: %s\n",
		optind < argc ? "takes no arguments" : "needs --index N");
	print_usage(stderr);
	return 2;
}

static int run_iod(const struct iod_conf *conf, const struct log *log)
{
	struct daemon daemon;
	struct iod *iod;

	daemon_begin(&daemon, log);
	if (iod_start(conf, log, &daemon, &iod)) {
		daemon_end(&daemon);
		return EXIT_FAILURE;
	}
	while (daemon_next(&daemon) == DAEMON_RELOAD)
		iod_reload(iod);
	iod_stop(iod);
	log_info(log, "stopped");
	daemon_end(&daemon);
	return daemon_status(&daemon);
}

int main(int argc, char **argv)
{
	struct iod_options opt = { .config = CONF_DEFAULT, .index = -1 };
	struct log_file file = { .out = stderr };
	struct log_budget budget = { 0 };
	struct log log = { LOG_LV_INFO, log_to_file, &file, &budget };
	struct iod_conf conf;
	char text[1024], prefix[32];
	int rc;

	rc = parse_options(argc, argv, &opt);
	if (rc >= 0)
		return rc;
	if (iod_conf_load(opt.config, (uint32_t)opt.index, &conf, text,
			  sizeof(text))) {
		fprintf(stderr, "pvfs-iod: %s\n", text);
		return EXIT_FAILURE;
	}
	snprintf(prefix, sizeof(prefix), "pvfs-iod %u", conf.index);
	conf.new_store = opt.new_store;
	file.prefix = prefix;
	log.level = conf.log_level;
	rc = run_iod(&conf, &log);
	iod_conf_free(&conf);
	return rc;
}
