/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs_conf.c - pvfs-conf: finds errors in a configuration before a daemon is started. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/conf/iod_conf.h"
#include "mgr/state/mgr_conf.h"
#include "common/comm/cluster/server_conf.h"

#define CONF_DEFAULT "/etc/pvfs/pvfs.conf"
#define TEXT 1024
#define FINDINGS_MAX 100u /* further ones are counted, but not printed */

struct finding {
	char text[TEXT];
};

/* The settings of a server, as its own daemon reads them. */
struct server {
	char name[16]; /* name in messages: "mgr", "iod.3" */
	struct addr addr;
	char storage[PATH_MAX];
};

struct check {
	const char *path;
	unsigned int found;
	struct finding finding[FINDINGS_MAX];
	unsigned int n; /* servers with valid settings */
	struct server *server;
	char key[PATH_MAX];
	struct networks allow;
};

/* Each text is reported once: an error in [filesystem] is found again for every server. */
static bool is_told(const struct check *c, const char *text)
{
	for (unsigned int i = 0; i < c->found && i < FINDINGS_MAX; i++)
		if (!strcmp(c->finding[i].text, text))
			return true;
	return false;
}

static void tell(struct check *c, const char *text)
{
	if (is_told(c, text))
		return;
	if (c->found < FINDINGS_MAX) {
		snprintf(c->finding[c->found].text, TEXT, "%s", text);
		puts(text);
	}
	c->found++;
}

static void find(struct check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void find(struct check *c, const char *fmt, ...)
{
	char text[TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	tell(c, text);
}

static void add_server(struct check *c, const char *name,
		       const struct addr *addr, const char *storage)
{
	struct server *s = &c->server[c->n++];

	snprintf(s->name, sizeof(s->name), "%s", name);
	s->addr = *addr;
	snprintf(s->storage, sizeof(s->storage), "%s", storage);
}

static bool is_transport(const char *name, size_t len)
{
	static const char *const all[] = { "auto", "local", "verbs", "tcp" };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strlen(all[i]) == len && !strncmp(all[i], name, len))
			return true;
	return false;
}

/* Checks against all transports: the server's build may have others than this program's. */
static void check_fabric(struct check *c, const struct fabric_conf *fc)
{
	const char *at = fc->option;

	if (!strncmp(at, "strict:", 7))
		at += 7;
	while (*at) {
		size_t len = strcspn(at, ":");

		if (!is_transport(at, len))
			find(c,
			     "%s: there is no transport \"%.*s\"; write auto, "
			     "or names of local, verbs and tcp",
			     fc->where, (int)len, at);
		at += len + (at[len] == ':');
	}
}

/* Reads a manager's settings as the manager does. */
static void check_mgr(struct check *c, unsigned int index)
{
	struct mgr_conf conf;
	char err[TEXT], name[16] = "mgr";

	if (mgr_conf_load(c->path, index, &conf, err, sizeof(err))) {
		tell(c, err);
		return;
	}
	snprintf(c->key, sizeof(c->key), "%s", conf.key);
	check_fabric(c, &conf.fabric);
	if (conf.mgrs.numbered)
		snprintf(name, sizeof(name), "mgr.%u", index);
	add_server(c, name, &conf.addr, conf.storage);
	mgr_conf_free(&conf);
}

static void check_iod(struct check *c, uint32_t index)
{
	struct iod_conf conf;
	char err[TEXT], name[16];

	if (iod_conf_load(c->path, index, &conf, err, sizeof(err))) {
		tell(c, err);
		return;
	}
	snprintf(name, sizeof(name), "iod.%u", index);
	c->allow = conf.allow;
	check_fabric(c, &conf.fabric);
	add_server(c, name, &conf.addr, conf.storage);
	iod_conf_free(&conf);
}

/* *mgrs, *iods: how many there are; 1 and 0: they could not be read, which was reported. */
static void count_servers(struct check *c, unsigned int *mgrs, uint32_t *iods)
{
	char err[TEXT];
	struct conf_section in = { .err = err, .errlen = sizeof(err) };
	struct server_addrs all;
	struct conf *file;
	int rc = server_conf_load(c->path, &file, err, sizeof(err));

	*mgrs = 1;
	*iods = 0;
	if (rc) {
		tell(c, err);
		return;
	}
	in.conf = file;
	in.name = "filesystem";
	rc = server_conf_addresses(&in, &all);
	conf_free(file);
	if (rc) {
		tell(c, err);
		return;
	}
	free(all.iod);
	*mgrs = all.mgrs.n;
	*iods = all.niods;
}

static bool same_host(const struct server *a, const struct server *b)
{
	return !strcmp(a->addr.host, b->addr.host);
}

/* b is the directory a or lies below it.  All absolute paths lie below "/". */
static bool within(const char *a, const char *b)
{
	size_t len = strlen(a);

	while (len && a[len - 1] == '/')
		len--;
	return !strncmp(a, b, len) && (b[len] == '\0' || b[len] == '/');
}

/* a contains b, or they are equal; then only one order of the pair counts. */
static bool clash(const struct server *a, const struct server *b)
{
	return a != b && same_host(a, b) && within(a->storage, b->storage) &&
	       (a < b || !within(b->storage, a->storage));
}

static void check_storage(struct check *c, const struct server *a)
{
	for (const struct server *b = c->server; b < c->server + c->n; b++)
		if (clash(a, b))
			find(c,
			     "%s: [%s] storage %s and [%s] storage %s are one "
			     "folder, or one in the other, on host %s; give "
			     "each server a folder of its own",
			     c->path, a->name, a->storage, b->name, b->storage,
			     a->addr.host);
}

static bool several_hosts(const struct check *c)
{
	for (unsigned int i = 1; i < c->n; i++)
		if (!same_host(&c->server[0], &c->server[i]))
			return true;
	return false;
}

static void check_loopback(struct check *c)
{
	bool beyond = false;

	for (unsigned int i = 0; i < c->n; i++)
		beyond |= !addr_is_loopback(&c->server[i].addr);
	for (unsigned int i = 0; beyond && i < c->n; i++)
		if (addr_is_loopback(&c->server[i].addr))
			find(c,
			     "%s: [%s] address is on %s, which other hosts do "
			     "not reach, and other servers are not; name its "
			     "host",
			     c->path, c->server[i].name,
			     c->server[i].addr.host);
}

/* Names are not resolved, so only numeric addresses are checked. */
static bool is_refused(const struct networks *allow, const char *host)
{
	uint8_t addr[PEER_HOST_LEN];

	return !networks_addr(host, addr) && !networks_have_addr(allow, addr);
}

/* Servers connect to each other from the hosts where they listen. */
static void check_allow(struct check *c)
{
	if (!c->allow.n || !several_hosts(c))
		return;
	for (unsigned int i = 0; i < c->n; i++)
		if (is_refused(&c->allow, c->server[i].addr.host))
			find(c,
			     "%s: [%s] address is on %s, which is in no "
			     "network of [filesystem] allow: the other servers "
			     "would refuse it; add it there",
			     c->path, c->server[i].name,
			     c->server[i].addr.host);
}

static void check_key(struct check *c)
{
	struct stat sb;

	if (!c->key[0] && several_hosts(c))
		find(c,
		     "%s: [filesystem] has no key: servers on several hosts "
		     "believe each other's addresses; set key = "
		     "/etc/pvfs/key, the same file on each of their hosts",
		     c->path);
	else if (c->key[0] && !stat(c->key, &sb) && (sb.st_mode & 077))
		find(c, "%s: others can read the servers' key; chmod 600 %s",
		     c->key, c->key);
}

static void report_none_found(const struct check *c, unsigned int mgrs,
			      uint32_t iods)
{
	char managers[32] = "a manager";

	if (mgrs > 1)
		snprintf(managers, sizeof(managers), "%u managers", mgrs);
	printf("%s: %s and %u iods: nothing is wrong\n", c->path, managers,
	       iods);
}

/* 0 or -ENOMEM. */
static int check_all(struct check *c)
{
	unsigned int mgrs;
	uint32_t iods;

	count_servers(c, &mgrs, &iods);
	c->server = calloc(iods + mgrs, sizeof(c->server[0]));
	if (!c->server)
		return -ENOMEM;
	for (unsigned int i = 0; i < mgrs; i++)
		check_mgr(c, i);
	for (uint32_t i = 0; i < iods; i++)
		check_iod(c, i);
	for (unsigned int i = 0; i < c->n; i++)
		check_storage(c, &c->server[i]);
	check_loopback(c);
	check_allow(c);
	if (c->n == iods + mgrs)
		check_key(c);
	free(c->server);
	if (!c->found)
		report_none_found(c, mgrs, iods);
	else if (c->found > FINDINGS_MAX)
		printf("... and %u more\n", c->found - FINDINGS_MAX);
	return 0;
}

/* Checked here, because the message of a daemon would name the daemon's own option. */
static bool can_read(struct check *c)
{
	if (!access(c->path, R_OK))
		return true;
	find(c,
	     "%s: %s; name a file that can be read, or make one with "
	     "pvfs-mkconf",
	     c->path, strerror(errno));
	return false;
}

static void usage(FILE *out)
{
	fputs("usage: pvfs-conf check [FILE]\n"
	      "\n"
	      "Says what is wrong with a configuration (" CONF_DEFAULT "),\n"
	      "a line each, and how to correct it.  Starts and changes nothing.\n"
	      "\n"
	      "  -h, --help     this text\n"
	      "  -V, --version  the version\n"
	      "\n"
	      "Exit status: 0 nothing, 1 something, 2 wrong usage.  See "
	      "pvfs-conf(8).\n",
	      out);
}

/* -1: continue; otherwise the exit status. */
static int parse_options(int argc, char **argv)
{
	static const struct option longopts[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int c = getopt_long(argc, argv, "hV", longopts, NULL);

	if (c == 'h') {
		usage(stdout);
		return fflush(stdout) ? 1 : 0;
	}
	if (c == 'V') {
		puts("pvfs-conf " PVFS_VERSION);
		return fflush(stdout) ? 1 : 0;
	}
	if (c == -1 && argc - optind >= 1 && argc - optind <= 2 &&
	    !strcmp(argv[optind], "check"))
		return -1;
	usage(stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct check *c;
	int rc = parse_options(argc, argv);

	if (rc >= 0)
		return rc;
	c = calloc(1, sizeof(*c));
	if (!c)
		return EXIT_FAILURE;
	c->path = argc - optind == 2 ? argv[optind + 1] : CONF_DEFAULT;
	rc = !can_read(c) || check_all(c) || c->found ? EXIT_FAILURE
						      : EXIT_SUCCESS;
	free(c);
	return rc;
}
