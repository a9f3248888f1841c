/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfstab.c - reading pvfstab(5), which has the form of fstab(5). */
#include "pvfstab.h"

#include <errno.h>
#include <mntent.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric_conf.h"
#include "rendezvous.h"

#define MGR_PORT 3000
#define TIMEOUT_MAX_S 86400
#define SHOWN 80 /* characters of what a line says wrong */

struct options {
	const char *transport, *fabric;
	unsigned long port, timeout, server_uid, dead_peer;
	struct mount *mount; /* what goes there as it is */
};

static bool number(const char *text, unsigned long min, unsigned long max,
		   unsigned long *val)
{
	char *end;
	unsigned long n;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoul(text, &end, 10);
	if (*end || errno || n < min || n > max)
		return false;
	*val = n;
	return true;
}

/* Options of fstab(5) that ask for what is the case anyway. */
static bool harmless(const char *name)
{
	static const char *const names[] = { "defaults", "rw",	 "auto",
					     "noauto",	 "user", "_netdev" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

/* Whose servers on this host are believed: a name or a number. */
static bool user(const char *text, unsigned long *uid)
{
	struct passwd pw, *found = NULL;
	char buf[1024];

	if (number(text, 0, UINT32_MAX - 1, uid))
		return true;
	if (getpwnam_r(text, &pw, buf, sizeof(buf), &found) || !found)
		return false;
	*uid = found->pw_uid;
	return true;
}

static bool set_port(const char *val, struct options *opt)
{
	return number(val, 1, 65535, &opt->port);
}

static bool set_timeout(const char *val, struct options *opt)
{
	return number(val, 1, TIMEOUT_MAX_S, &opt->timeout);
}

static bool set_dead_peer(const char *val, struct options *opt)
{
	return number(val, 1, FABRIC_DEAD_MAX_S, &opt->dead_peer);
}

static bool set_server_user(const char *val, struct options *opt)
{
	return user(val, &opt->server_uid);
}

static bool set_transport(const char *val, struct options *opt)
{
	opt->transport = val;
	return *val;
}

static bool set_fabric(const char *val, struct options *opt)
{
	opt->fabric = val;
	return fabric_option_ok(val);
}

static bool set_inline_max(const char *val, struct options *opt)
{
	return !sizes_parse(val, &opt->mount->inline_max);
}

static bool set_fast_max(const char *val, struct options *opt)
{
	return !sizes_parse(val, &opt->mount->fast_max);
}

static bool set_rendezvous(const char *val, struct options *opt)
{
	return !rendezvous_parse(val, &opt->mount->adaptive);
}

static const struct {
	const char *name;
	bool (*set)(const char *val, struct options *opt);
	const char *want;
} known[] = {
	{ "port", set_port, "1 to 65535" },
	{ "timeout", set_timeout, "1 to 86400 (seconds)" },
	{ "dead_peer", set_dead_peer, "1 to 3600 (seconds)" },
	{ "transport", set_transport, "NAME" },
	{ "fabric", set_fabric, "auto, NAME:NAME or strict:NAME" },
	{ "inline_max", set_inline_max, SIZES_WANT },
	{ "fast_max", set_fast_max, SIZES_WANT },
	{ "rendezvous", set_rendezvous, RENDEZVOUS_WANT },
	{ "server_user", set_server_user, "the name or number of a user" },
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

/* The key of an RDMA device's setting, or NULL. */
static const char *rdma_key(const char *name)
{
	size_t n = strlen(RDMA_KEY);

	return strncmp(name, RDMA_KEY, n) ? NULL : name + n;
}

/* What the option may be, or NULL: there is none of that name. */
static const char *want(const char *name)
{
	const char *key = rdma_key(name);
	size_t i;

	for (i = 0; i < KNOWN; i++) {
		if (!strcmp(known[i].name, name))
			return known[i].want;
	}
	return key ? rdma_opt_want(key) : NULL;
}

static bool value(const char *name, const char *val, struct options *opt)
{
	const char *key = rdma_key(name);
	size_t i;

	for (i = 0; i < KNOWN; i++) {
		if (!strcmp(known[i].name, name))
			return known[i].set(val, opt);
	}
	return key && !rdma_opt_set(&opt->mount->rdma, key, val);
}

static bool option(char *text, struct options *opt)
{
	char *val = strchr(text, '=');
	bool ok;

	if (!val)
		return harmless(text);
	*val = '\0';
	ok = value(text, val + 1, opt);
	*val = '='; /* for a message */
	return ok;
}

static char *options(char *text, struct options *opt)
{
	char *save = NULL, *word;

	for (word = strtok_r(text, ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		if (!option(word, opt))
			return word;
	}
	return NULL;
}

/* "host:/dir" and the options: where the manager is. */
static bool manager(const char *name, const struct options *opt,
		    struct addr *addr)
{
	const char *colon = strstr(name, ":/");
	char uri[ADDR_STRLEN];
	int n;

	if (!colon)
		return false;
	n = snprintf(uri, sizeof(uri), "%s://%.*s:%lu", opt->transport,
		     (int)(colon - name), name, opt->port);
	return n < (int)sizeof(uri) && !addr_parse(uri, 0, addr);
}

/* Leaves one '/' between names and none at the end; false: not usable. */
static bool tidy(char *dir)
{
	char *in = dir, *out = dir;

	if (*dir != '/')
		return false;
	while (*in) {
		size_t len = strcspn(in + 1, "/");

		if ((len == 1 && in[1] == '.') ||
		    (len == 2 && !strncmp(in + 1, "..", 2)))
			return false;
		if (len) {
			memmove(out, in, len + 1);
			out += len + 1;
		}
		in += len + 1;
	}
	if (out == dir)
		out++;
	*out = '\0';
	return true;
}

static int add(struct pvfstab *tab, const struct mount *mount)
{
	struct mount *grown = reallocarray(tab->mount, tab->n + 1,
					   sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	tab->mount = grown;
	tab->mount[tab->n] = *mount;
	tab->mount[tab->n].dir = strdup(mount->dir);
	if (!tab->mount[tab->n].dir)
		return -ENOMEM;
	tab->n++;
	return 0;
}

/* The line at hand, for messages and defaults. */
struct reader {
	const char *path;
	unsigned int line;
	unsigned int timeout_ms;
	const struct log *log;
};

static void complain(const struct reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void complain(const struct reader *r, const char *fmt, ...)
{
	char why[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	log_warn(r->log, "%s:%u: %s; the line is skipped", r->path, r->line,
		 why);
}

/* "NAME=VALUE", or a word without a value; shown as far as the advice fits. */
static void complain_option(const struct reader *r, char *bad)
{
	size_t len = strcspn(bad, "=");
	char *name = strndup(bad, len);
	const char *right = name ? want(name) : NULL;
	const char *more = strlen(bad) > SHOWN ? "..." : "";

	if (right)
		complain(r, "option \"%.*s%s\": write %s=%s", SHOWN, bad, more,
			 name, right);
	else
		complain(r,
			 "option \"%.*s%s\" is unknown: correct its name, or "
			 "take it out; see pvfstab(5)",
			 SHOWN, bad, more);
	free(name);
}

/* False, after saying why: not a mount of ours. */
static bool check(const struct reader *r, struct mntent *ent,
		  struct options *opt, struct mount *mount)
{
	char *bad;

	if (strcmp(ent->mnt_type, "pvfs")) {
		complain(r,
			 "the third word is \"%.*s\": write HOST:/ "
			 "MOUNT-POINT pvfs OPTIONS 0 0",
			 SHOWN, ent->mnt_type);
		return false;
	}
	bad = options(ent->mnt_opts, opt);
	if (bad) {
		complain_option(r, bad);
		return false;
	}
	if (!manager(ent->mnt_fsname, opt, &mount->mgr)) {
		complain(r,
			 "\"%.*s\" names no manager: write HOST:/, and the "
			 "port as an option",
			 SHOWN, ent->mnt_fsname);
		return false;
	}
	if (tidy(mount->dir))
		return true;
	complain(r,
		 "mount point \"%.*s\": write an absolute path without . and "
		 "..",
		 SHOWN, ent->mnt_dir);
	return false;
}

static int read_line(struct pvfstab *tab, const struct reader *r,
		     struct mntent *ent)
{
	struct mount mount = { .dir = ent->mnt_dir,
			       .timeout_ms = r->timeout_ms };
	struct options opt = { .transport = FABRIC_ANY,
			       .port = MGR_PORT,
			       .mount = &mount };

	if (!check(r, ent, &opt, &mount))
		return 0;
	mount.server_uid = (unsigned int)opt.server_uid;
	mount.dead_peer_ms = (unsigned int)opt.dead_peer * 1000;
	if (opt.fabric)
		strcpy(mount.fabric, opt.fabric);
	if (opt.timeout)
		mount.timeout_ms = (unsigned int)opt.timeout * 1000;
	return add(tab, &mount);
}

/* getmntent(3) skips lines without a word; so it gets them one by one. */
static int read_text(struct pvfstab *tab, const struct reader *r, char *text,
		     size_t len)
{
	FILE *file = fmemopen(text, len, "r");
	char buf[PATH_MAX + 1024];
	struct mntent ent;
	int rc = 0;

	if (!file)
		return -errno;
	if (getmntent_r(file, &ent, buf, sizeof(buf)))
		rc = read_line(tab, r, &ent);
	fclose(file);
	return rc;
}

int pvfstab_load(const char *path, unsigned int timeout_ms,
		 const struct log *log, struct pvfstab *tab)
{
	struct reader r = { path, 0, timeout_ms, log };
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	ssize_t len;
	int rc = 0;

	*tab = (struct pvfstab){ 0 };
	if (!file && errno == ENOENT)
		return 0;
	if (!file) {
		rc = -errno;
		log_error(log, "%s: %s", path, strerror(errno));
		return rc;
	}
	while (!rc && (len = getline(&text, &size, file)) > 0) {
		r.line++;
		rc = read_text(tab, &r, text, (size_t)len);
	}
	free(text);
	fclose(file);
	if (rc)
		pvfstab_free(tab);
	return rc;
}

void pvfstab_free(struct pvfstab *tab)
{
	unsigned int i;

	for (i = 0; i < tab->n; i++)
		free(tab->mount[i].dir);
	free(tab->mount);
	*tab = (struct pvfstab){ 0 };
}
