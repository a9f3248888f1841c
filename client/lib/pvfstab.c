/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfstab.c - reading pvfstab(5), which has the form of fstab(5). */
#include "pvfstab.h"

#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MGR_PORT 3000
#define TIMEOUT_MAX_S 86400

struct options {
	const char *transport;
	unsigned long port, timeout;
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

static bool option(char *text, struct options *opt)
{
	char *val = strchr(text, '=');

	if (!val)
		return harmless(text);
	*val++ = '\0';
	if (!strcmp(text, "port"))
		return number(val, 1, 65535, &opt->port);
	if (!strcmp(text, "timeout"))
		return number(val, 1, TIMEOUT_MAX_S, &opt->timeout);
	if (strcmp(text, "transport") || !*val)
		return false;
	opt->transport = val;
	return true;
}

static const char *options(char *text, struct options *opt)
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

static int line(struct pvfstab *tab, struct mntent *ent, const char *path,
		unsigned int timeout_ms, const struct log *log)
{
	struct options opt = { .transport = "tcp", .port = MGR_PORT };
	struct mount mount = { .dir = ent->mnt_dir, .timeout_ms = timeout_ms };
	const char *bad;

	if (strcmp(ent->mnt_type, "pvfs")) {
		log_warn(log, "%s: %s: type is \"%s\", not pvfs; line skipped",
			 path, ent->mnt_dir, ent->mnt_type);
		return 0;
	}
	bad = options(ent->mnt_opts, &opt);
	if (bad) {
		log_warn(log, "%s: %s: wrong option \"%s\"; line skipped", path,
			 ent->mnt_dir, bad);
		return 0;
	}
	if (!manager(ent->mnt_fsname, &opt, &mount.mgr) || !tidy(mount.dir)) {
		log_warn(log,
			 "%s: %s %s: want manager:/directory and an absolute "
			 "mount point; line skipped",
			 path, ent->mnt_fsname, ent->mnt_dir);
		return 0;
	}
	if (opt.timeout)
		mount.timeout_ms = (unsigned int)opt.timeout * 1000;
	return add(tab, &mount);
}

int pvfstab_load(const char *path, unsigned int timeout_ms,
		 const struct log *log, struct pvfstab *tab)
{
	FILE *file = setmntent(path, "re");
	struct mntent ent;
	char buf[PATH_MAX + 1024];
	int rc = 0;

	*tab = (struct pvfstab){ 0 };
	if (!file && errno == ENOENT)
		return 0;
	if (!file) {
		rc = -errno;
		log_error(log, "%s: %s", path, strerror(errno));
		return rc;
	}
	while (!rc && getmntent_r(file, &ent, buf, sizeof(buf)))
		rc = line(tab, &ent, path, timeout_ms, log);
	endmntent(file);
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
