/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfstab.c - reading pvfstab(5), which has the format of fstab(5), and finding mounts. */
#include "client/lib/mount/pvfstab.h"

#include <errno.h>
#include <mntent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/mount/manager_list_int.h"

#define MGR_PORT 3000

/* Leaves one '/' between names and none at the end.  False: unusable. */
static bool dir_normalize(char *dir)
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

/* The current line, for messages and defaults. */
struct line_reader {
	const char *path;
	unsigned int line; /* 0: no file */
	unsigned int timeout_ms;
	const struct log *log;
};

static int pvfstab_add(struct pvfstab *tab, const struct line_reader *r,
		       const struct mount *mount)
{
	struct mount *grown = reallocarray(tab->mount, tab->n + 1,
					   sizeof(*grown));
	struct mount *entry;

	if (!grown)
		return -ENOMEM;
	tab->mount = grown;
	entry = &tab->mount[tab->n++];
	*entry = *mount;
	entry->dir = strdup(mount->dir);
	if (asprintf(&entry->where, "%s:%u", r->path, r->line) < 0)
		entry->where = NULL;
	return entry->dir && entry->where ? 0 : -ENOMEM;
}

static void line_complain(const struct line_reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void line_complain(const struct line_reader *r, const char *fmt, ...)
{
	char why[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (r->line)
		log_warn(r->log, "%s:%u: %s; the line is skipped", r->path,
			 r->line, why);
	else
		log_error(r->log, "%s: %s", r->path, why);
}

/*
 * Checks a line of pvfstab, and reads its options.  Returns false, and logs the reason, if the line
 * describes no usable PVFS mount.
 */
static bool line_is_usable(const struct line_reader *r, struct mntent *ent,
			   struct mount_opt *opt, struct mount *mount)
{
	const char *bad;
	char why[400];

	if (strcmp(ent->mnt_type, "pvfs")) {
		line_complain(r,
			      "the third word is \"%.*s\": write HOST:/ "
			      "MOUNT-POINT pvfs OPTIONS 0 0",
			      PVFSTAB_SHOWN, ent->mnt_type);
		return false;
	}
	bad = mount_opt_read(ent->mnt_opts, opt);
	if (bad) {
		line_complain(r, "%s",
			      mount_opt_flaw(ent->mnt_opts, bad, why,
					     sizeof(why)));
		return false;
	}
	if (mount->auth == AUTH_KEY && !mount->key[0]) {
		line_complain(r,
			      "auth=key needs a key: write key=FILE, a copy of "
			      "the servers' [filesystem] key");
		return false;
	}
	if (mount->seal && mount->auth == AUTH_SYS) {
		line_complain(
			r,
			"seal= needs keys: also write auth=munge, or auth=key "
			"and key=FILE");
		return false;
	}
	bad = manager_list_read(ent->mnt_fsname, opt, mount);
	if (bad) {
		line_complain(r, "\"%.*s\" %s", PVFSTAB_SHOWN, ent->mnt_fsname,
			      bad);
		return false;
	}
	if (dir_normalize(mount->dir))
		return true;
	line_complain(
		r,
		"mount point \"%.*s\": write an absolute path without . and "
		"..",
		PVFSTAB_SHOWN, ent->mnt_dir);
	return false;
}

/* A second mount at the same place could never be reached. */
static bool is_taken(const struct pvfstab *tab, const struct line_reader *r,
		     const char *dir)
{
	unsigned int i;

	for (i = 0; i < tab->n && strcmp(tab->mount[i].dir, dir); i++)
		;
	if (i < tab->n)
		line_complain(r,
			      "mount point \"%.*s\" is that of a line before: "
			      "write another one",
			      PVFSTAB_SHOWN, dir);
	return i < tab->n;
}

static int read_line(struct pvfstab *tab, const struct line_reader *r,
		     struct mntent *ent)
{
	struct mount mount = { .dir = ent->mnt_dir,
			       .timeout_ms = r->timeout_ms };
	struct mount_opt opt = { .transport = FABRIC_ANY,
				 .port = MGR_PORT,
				 .mount = &mount };

	if (!line_is_usable(r, ent, &opt, &mount) ||
	    is_taken(tab, r, mount.dir))
		return 0;
	mount.server_uid = (unsigned int)opt.server_uid;
	mount.dead_peer_ms = (unsigned int)opt.dead_peer * 1000;
	if (opt.fabric)
		strcpy(mount.fabric, opt.fabric);
	if (opt.timeout)
		mount.timeout_ms = (unsigned int)opt.timeout * 1000;
	return pvfstab_add(tab, r, &mount);
}

/* getmntent(3) silently skips lines without enough words.  So it gets one line at a time. */
static int read_text(struct pvfstab *tab, const struct line_reader *r,
		     char *text, size_t len)
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
	struct line_reader r = { path, 0, timeout_ms, log };
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
		log_error(log,
			  "%s cannot be read: %s; correct its type, owner or "
			  "mode",
			  path, strerror(-rc));
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

int pvfstab_line(const char *what, const char *dir, const char *options,
		 unsigned int timeout_ms, const struct log *log,
		 struct pvfstab *tab)
{
	struct line_reader r = { what, 0, timeout_ms, log };
	char *words = strdup(*options ? options : "defaults");
	struct mntent ent = { .mnt_fsname = (char *)(uintptr_t)what,
			      .mnt_type = (char *)(uintptr_t) "pvfs",
			      .mnt_opts = words };
	char *where = strdup(dir);
	int rc = words && where ? 0 : -ENOMEM;

	*tab = (struct pvfstab){ 0 };
	ent.mnt_dir = where;
	if (!rc)
		rc = read_line(tab, &r, &ent);
	if (!rc && !tab->n)
		rc = -EINVAL;
	if (rc)
		pvfstab_free(tab);
	free(where);
	free(words);
	return rc;
}

static void mount_free(struct mount *mount)
{
	free(mount->dir);
	free(mount->where);
}

void pvfstab_keep(struct pvfstab *tab, const struct mount *mount)
{
	struct mount kept = *mount;

	for (unsigned int i = 0; i < tab->n; i++)
		if (&tab->mount[i] != mount)
			mount_free(&tab->mount[i]);
	tab->mount[0] = kept;
	tab->n = 1;
}

void pvfstab_free(struct pvfstab *tab)
{
	for (unsigned int i = 0; i < tab->n; i++)
		mount_free(&tab->mount[i]);
	free(tab->mount);
	*tab = (struct pvfstab){ 0 };
}

/* ---- paths ---- */

int path_absolute(const char *path, char buf[PATH_MAX])
{
	size_t len = strlen(path), dir = 0;

	if (!len)
		return -ENOENT;
	if (*path != '/') {
		if (!getcwd(buf, PATH_MAX))
			return errno == ERANGE ? -ENAMETOOLONG : -errno;
		dir = strlen(buf);
		buf[dir++] = '/';
	}
	if (dir + len >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(buf + dir, path, len + 1);
	return 0;
}

int path_redirected(const struct mount *mount, const char *target,
		    char buf[PATH_MAX])
{
	int dir, n;

	if (*target == '/') {
		n = snprintf(buf, PATH_MAX, "%s", target);
	} else {
		if (strncmp(target, "..", 2) || (target[2] && target[2] != '/'))
			return -EPROTO;
		dir = (int)(strrchr(mount->dir, '/') - mount->dir);
		n = snprintf(buf, PATH_MAX, "%.*s/%s", dir, mount->dir,
			     target + 2);
	}
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* A path without "." and "//", and with ".." resolved textually. */
struct plain {
	char path[PATH_MAX];
	size_t len;
};

static bool plain_add(struct plain *p, const char *name, size_t len)
{
	if (p->len + 1 + len >= sizeof(p->path))
		return false;
	p->path[p->len++] = '/';
	memcpy(p->path + p->len, name, len);
	p->len += len;
	return true;
}

static void plain_up(struct plain *p)
{
	while (p->len && p->path[--p->len] != '/')
		;
}

static const struct mount *mount_at(const struct pvfstab *tab,
				    const struct plain *p)
{
	unsigned int i;

	for (i = 0; i < tab->n; i++) {
		const char *dir = tab->mount[i].dir + 1;
		size_t len = strlen(dir);

		if (len ? p->len == len + 1 && !memcmp(p->path + 1, dir, len)
			: p->len == 0)
			return &tab->mount[i];
	}
	return NULL;
}

const struct mount *pvfstab_find(const struct pvfstab *tab, const char *path,
				 const char **rest)
{
	const struct mount *found = NULL, *m;
	struct plain plain = { .len = 0 };

	for (;;) {
		size_t len;

		path += strspn(path, "/");
		m = mount_at(tab, &plain);
		if (m) {
			found = m;
			*rest = path;
		}
		len = strcspn(path, "/");
		if (!len)
			return found;
		if (len == 2 && !memcmp(path, "..", 2)) {
			if (found)
				return found;
			plain_up(&plain);
		} else if (len != 1 || *path != '.') {
			if (!plain_add(&plain, path, len))
				return found;
		}
		path += len;
	}
}
