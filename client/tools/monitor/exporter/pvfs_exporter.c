/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-exporter - metrics of the servers, for Prometheus and for a browser. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/daemon.h"
#include "client/tools/monitor/exporter/http.h"
#include <pvfs.h>
#include "client/tools/common/tool.h"

#define LISTEN "127.0.0.1:9797"
#define STOP_MS 800
#define USERS_MOST 256 /* as many as a server counts separately */

struct exporter_args {
	const char *listen;
	unsigned int timeout_ms;
	int labels;
	struct host_names hosts;
	char mount[PATH_MAX];
};

static int add_name(struct host_names *hosts, const char *name)
{
	if (hosts->n == HOSTS_MAX || !*name)
		return -1;
	hosts->name[hosts->n++] = name;
	return 0;
}

static int set_option(void *arg, int opt, const char *val)
{
	struct exporter_args *a = arg;

	if (opt == 'l')
		a->listen = val;
	else if (opt == 'n')
		return add_name(&a->hosts, val);
	else if (opt == 'u')
		a->labels = (int)tool_number(val);
	else
		a->timeout_ms = (unsigned int)tool_number(val);
	return 0;
}

static const struct tool_value values[] = { { 't', 10, 60000, NULL },
					    { 'n', 0, 0, "a name, at most 16" },
					    { 'u', 0, USERS_MOST, NULL },
					    { 0 } };

static const struct option longs[] = {
	{ "listen", required_argument, NULL, 'l' },
	{ "name", required_argument, NULL, 'n' },
	{ "timeout", required_argument, NULL, 't' },
	{ "users", required_argument, NULL, 'u' },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-exporter",
	.usage = "[-l ADDR:PORT] [-n NAME]... [-t MS] [-u N] [MOUNT]",
	.help = "Serves what the servers of MOUNT (the first of pvfstab) have done: /metrics for\n"
		"Prometheus, /health, and a page at /.\n"
		"  -l, --listen ADDR:PORT where, in numbers (" LISTEN ")\n"
		"  -n, --name NAME        another name than this host's by which it may be asked\n"
		"                         and addresses; up to 16\n"
		"  -t, --timeout MS       a server that takes longer is not up (1000)\n"
		"  -u, --users N          also what the N busiest users and jobs of each server\n"
		"                         have asked for, as far as its own user may see them (0)\n",
	.shorts = "l:n:t:u:",
	.longs = longs,
	.values = values,
	.option = set_option,
};

static int find_mount(struct exporter_args *a, const char *path)
{
	if (!path)
		return pvfs_mount_point(0, a->mount, sizeof(a->mount))
			       ? tool_no_mount(&tool)
			       : 0;
	if (!pvfs_is_pvfs(path)) {
		errno = ENODEV;
		return tool_off_mount(&tool, path);
	}
	snprintf(a->mount, sizeof(a->mount), "%s", path);
	return 0;
}

/* Servers that do not answer may delay the end; nothing is lost without it. */
static void *exit_later(void *arg)
{
	usleep(STOP_MS * 1000);
	_exit(0);
}

static void limit_stop_time(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, exit_later, NULL))
		_exit(0);
	pthread_detach(thread);
}

static void wait_for_end(struct daemon *d, const struct log *log)
{
	enum daemon_order order;

	daemon_ready(d);
	while ((order = daemon_next(d)) != DAEMON_STOP) {
		if (order == DAEMON_RELOAD)
			log_info(log, "nothing to read again");
	}
	limit_stop_time();
}

static int serve_until_stopped(const struct exporter_args *a, struct daemon *d,
			       struct collect *c, int fd, const struct log *log)
{
	struct http *http;
	char name[80];
	int rc = http_address(fd, name, sizeof(name));

	if (!rc)
		rc = http_open(fd, c, &a->hosts, log, &http);
	if (rc) {
		log_error(log, "no HTTP server: %s", strerror(-rc));
		collect_stop(c);
		return 1;
	}
	log_info(log, "ready: http://%s/", name);
	wait_for_end(d, log);
	collect_stop(c);
	http_close(http);
	return 0;
}

static int report_listen_error(const struct log *log, const char *listen,
			       int rc)
{
	if (rc == -EINVAL)
		log_error(log,
			  "--listen %s: want ADDR:PORT in numbers, as in "
			  "127.0.0.1:9797 or [::1]:9797",
			  listen);
	else
		log_error(log, "--listen %s: %s%s", listen, strerror(-rc),
			  rc == -EADDRINUSE ? "; end what has the port, or "
					      "name another one"
			  : rc == -EADDRNOTAVAIL
				  ? "; name an address of this host"
				  : "");
	return rc == -EINVAL ? 2 : 1;
}

static int run_exporter(const struct exporter_args *a, const struct log *log,
			struct daemon *d)
{
	const struct collect_attr attr = { .mount = a->mount,
					   .timeout_ms = a->timeout_ms,
					   .labels = a->labels,
					   .log = log };
	struct collect *c;
	int fd = http_listen(a->listen), rc;

	if (fd < 0)
		return report_listen_error(log, a->listen, fd);
	rc = collect_open(&attr, &c);
	if (rc) {
		log_error(log, "%s: %s", a->mount, strerror(-rc));
		close(fd);
		return 1;
	}
	rc = serve_until_stopped(a, d, c, fd, log);
	collect_close(c);
	return rc;
}

int main(int argc, char **argv)
{
	struct log_file to = { stderr, "pvfs-exporter" };
	const struct log log = { LOG_LV_INFO, log_to_file, &to };
	struct exporter_args a = { .listen = LISTEN, .timeout_ms = 1000 };
	int i = tool_options(&tool, argc, argv, &a), status;
	struct daemon d;

	if (argc - i > 1)
		tool_usage(&tool);
	/*
	 * collect.c logs an unavailable server once; the library would do so each time
	 */
	setenv("PVFS_LOG", "none", 0);
	if (find_mount(&a, argv[i]))
		return 1;
	daemon_begin(&d, &log);
	status = run_exporter(&a, &log, &d);
	daemon_end(&d);
	return status;
}
