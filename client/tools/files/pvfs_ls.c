/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-ls - lists directories. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/json/json_out.h"
#include "client/tools/common/owner_names.h"
#include "client/tools/common/patience.h"
#include <pvfs.h>

struct ls_args {
	bool all, dir, human, json, lng, numeric, recursive, unsorted;
	struct owner_names owners;
	/* in_dir: the last line was of a directory */
	bool titles, printed, in_dir;
	struct patience patience;
};

struct ls_entry {
	char *name;
	char *path;
	struct stat st;
};

struct ls_entries {
	struct ls_entry *v;
	size_t n, cap;
};

static int set_option(void *arg, int opt, const char *val)
{
	struct ls_args *a = arg;

	switch (opt) {
	case 'a':
		a->all = true;
		break;
	case 'd':
		a->dir = true;
		break;
	case 'h':
		a->human = true;
		break;
	case 'j':
		a->json = true;
		break;
	case 'l':
		a->lng = true;
		break;
	case 'n':
		a->lng = a->numeric = true;
		break;
	case 'R':
		a->recursive = true;
		break;
	default:
		a->unsorted = true;
		break;
	}
	return 0;
}

static const struct option longs[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "directory", no_argument, NULL, 'd' },
	{ "human-readable", no_argument, NULL, 'h' },
	{ "json", no_argument, NULL, 'j' },
	{ "long", no_argument, NULL, 'l' },
	{ "numeric-uid-gid", no_argument, NULL, 'n' },
	{ "recursive", no_argument, NULL, 'R' },
	{ "unsorted", no_argument, NULL, 'U' },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-ls",
	.usage = "[-adhjlnRU] [PATH]...",
	.help = "Lists directories; without PATH the current one.\n"
		"  -a, --all              names that start with a dot, too\n"
		"  -d, --directory        a directory itself, not its entries\n"
		"  -h, --human-readable   sizes as 1.5G\n"
		"  -j, --json             one JSON object a line\n"
		"  -l, --long             mode, links, owner, group, size, time\n"
		"  -n, --numeric-uid-gid  as -l, with the numbers of owner and group\n"
		"  -R, --recursive        directories below, too\n"
		"  -U, --unsorted         in the order of the directory\n",
	.shorts = "adhjlnRU",
	.longs = longs,
	.option = set_option,
};

static char type_char(mode_t m)
{
	switch (m & S_IFMT) {
	case S_IFREG:
		return '-';
	case S_IFDIR:
		return 'd';
	case S_IFLNK:
		return 'l';
	case S_IFIFO:
		return 'p';
	case S_IFSOCK:
		return 's';
	case S_IFCHR:
		return 'c';
	case S_IFBLK:
		return 'b';
	}
	return '?';
}

static void mode_string(mode_t m, char *s)
{
	static const char rwx[] = "rwxrwxrwx";

	s[0] = type_char(m);
	for (int i = 0; i < 9; i++)
		s[1 + i] = m & (0400u >> i) ? rwx[i] : '-';
	if (m & S_ISUID)
		s[3] = m & S_IXUSR ? 's' : 'S';
	if (m & S_ISGID)
		s[6] = m & S_IXGRP ? 's' : 'S';
	if (m & S_ISVTX)
		s[9] = m & S_IXOTH ? 't' : 'T';
	s[10] = '\0';
}

static void print_owner(struct ls_args *a, const struct stat *st)
{
	if (a->numeric)
		printf("%5u %5u", st->st_uid, st->st_gid);
	else
		printf("%-8s %-8s", owner_names_user(&a->owners, st->st_uid),
		       owner_names_group(&a->owners, st->st_gid));
}

/* Gets "" if it is no link. */
static void link_text(const struct ls_entry *e, char *text, size_t len)
{
	ssize_t n = 0;

	if (S_ISLNK(e->st.st_mode))
		n = pvfs_readlink(e->path, text, len - 1);
	text[n > 0 ? n : 0] = '\0';
}

static void print_long(struct ls_args *a, const struct ls_entry *e)
{
	char mode[11], size[24], when[32], target[4096];
	struct tm tm;

	mode_string(e->st.st_mode, mode);
	if (a->human)
		tool_human((uint64_t)e->st.st_size, size);
	else
		snprintf(size, sizeof(size), "%" PRIu64,
			 (uint64_t)e->st.st_size);
	localtime_r(&e->st.st_mtime, &tm);
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
	printf("%s %3lu ", mode, (unsigned long)e->st.st_nlink);
	print_owner(a, &e->st);
	link_text(e, target, sizeof(target));
	tool_line(stdout, " %12s %s %s%s%s\n", size, when, e->name,
		  S_ISLNK(e->st.st_mode) ? " -> " : "", target);
}

static void print_json(const struct ls_entry *e)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "path", e->path);
	json_id(o, "handle", e->st.st_ino);
	json_u64(o, "mode", e->st.st_mode);
	json_u64(o, "links", e->st.st_nlink);
	json_u64(o, "uid", e->st.st_uid);
	json_u64(o, "gid", e->st.st_gid);
	json_u64(o, "size", (uint64_t)e->st.st_size);
	json_object_object_add(o, "mtime",
			       json_object_new_int64(e->st.st_mtime));
	json_line(o);
}

static void print_entry(struct ls_args *a, const struct ls_entry *e)
{
	if (a->json)
		print_json(e);
	else if (a->lng)
		print_long(a, e);
	else
		tool_line(stdout, "%s\n", e->name);
}

static int report_failure(struct ls_args *a, const char *path)
{
	return patience_fail(&a->patience, &tool, path);
}

static bool needs_stat(const struct ls_args *a)
{
	return a->lng || a->json || a->recursive;
}

static int add_entry(struct ls_args *a, struct ls_entries *list,
		     const char *dir, const char *name)
{
	struct ls_entry *e;
	int status = 0;

	if (list->n == list->cap) {
		size_t cap = list->cap ? 2 * list->cap : 64;
		struct ls_entry *v = realloc(list->v, cap * sizeof(*v));

		if (!v)
			return tool_fail(&tool, dir);
		list->v = v;
		list->cap = cap;
	}
	e = &list->v[list->n];
	*e = (struct ls_entry){ strdup(name), tool_join(dir, name), { 0 } };
	list->n++;
	if (!e->name || !e->path)
		status = tool_fail(&tool, dir);
	else if (!needs_stat(a) || !pvfs_lstat(e->path, &e->st))
		return 0;
	else if (errno != ENOENT)
		status = report_failure(a, e->path);
	/* removed since the directory was read: no entry, no error */
	free(e->name);
	free(e->path);
	list->n--;
	return status;
}

static void free_entries(struct ls_entries *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->v[i].name);
		free(list->v[i].path);
	}
	free(list->v);
}

static int by_name(const void *x, const void *y)
{
	return strcmp(((const struct ls_entry *)x)->name,
		      ((const struct ls_entry *)y)->name);
}

static int read_dir(struct ls_args *a, const char *path,
		    struct ls_entries *list)
{
	PVFS_DIR *dir = pvfs_opendir(path);
	struct dirent *d;
	int status = 0;

	if (!dir)
		return report_failure(a, path);
	while (errno = 0,
	       !patience_over(&a->patience) && (d = pvfs_readdir(dir))) {
		if (d->d_name[0] == '.' && !a->all)
			continue;
		status |= add_entry(a, list, path, d->d_name);
	}
	if (errno)
		status |= report_failure(a, path);
	pvfs_closedir(dir);
	if (!a->unsorted && list->n)
		qsort(list->v, list->n, sizeof(*list->v), by_name);
	return status;
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* A blank line separates directories, and a directory from the operands after it. */
static void print_title(struct ls_args *a, const char *path, bool dir)
{
	if (a->titles && !a->json && (dir ? a->printed : a->in_dir))
		putchar('\n');
	if (a->titles && !a->json && dir)
		tool_line(stdout, "%s:\n", path);
	a->printed = true;
	a->in_dir = dir;
}

static int list_dir(struct ls_args *a, const char *path)
{
	struct ls_entries list = { 0 };
	int status = read_dir(a, path, &list);

	print_title(a, path, true);
	for (size_t i = 0; i < list.n; i++)
		print_entry(a, &list.v[i]);
	for (size_t i = 0; a->recursive && i < list.n; i++) {
		if (patience_over(&a->patience))
			break;
		if (!S_ISDIR(list.v[i].st.st_mode) || is_dots(list.v[i].name))
			continue;
		status |= list_dir(a, list.v[i].path);
	}
	free_entries(&list);
	return status;
}

static int list_path(struct ls_args *a, char *path)
{
	struct ls_entry e = { path, path, { 0 } };

	if (pvfs_lstat(path, &e.st))
		return report_failure(a, path);
	if (S_ISDIR(e.st.st_mode) && !a->dir)
		return list_dir(a, path);
	print_title(a, path, false);
	print_entry(a, &e);
	return 0;
}

int main(int argc, char **argv)
{
	struct ls_args a = { 0 };
	int i = tool_options(&tool, argc, argv, &a), status = 0;
	char here[] = ".";

	if (tool_need_mount(&tool))
		return 1;
	a.titles = a.recursive || argc - i > 1;
	if (i == argc)
		status = list_path(&a, here);
	for (; i < argc && !patience_over(&a.patience); i++)
		status |= list_path(&a, argv[i]);
	owner_names_free(&a.owners);
	return tool_done(&tool, status);
}
