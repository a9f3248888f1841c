/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-stat - attributes, striping, and the place of each stripe. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/json/json_out.h"
#include <pvfs.h>
#include "client/tools/common/tool.h"

struct stat_args {
	bool json;
	bool all; /* every stripe, not only the first few */
	struct json_object *list;
};

static int set_option(void *arg, int opt, const char *val)
{
	struct stat_args *a = arg;

	if (opt == 'j')
		a->json = true;
	else
		a->all = true;
	return 0;
}

static const struct option longs[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "all-stripes", no_argument, NULL, 'a' },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-stat",
	.usage = "[-a] [-j] PATH...",
	.help = "Shows attributes, stripe metadata and where the stripes lie.\n"
		"  -a, --all-stripes      list every stripe (default: the first 8)\n"
		"  -j, --json             one JSON array\n",
	.shorts = "aj",
	.longs = longs,
	.option = set_option,
};

static const char *type_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "regular file";
	case S_IFDIR:
		return "directory";
	case S_IFLNK:
		return "symbolic link";
	default:
		return "special file";
	}
}

static void print_time(const char *what, const struct timespec *ts)
{
	struct tm tm;
	char day[40], zone[8];

	localtime_r(&ts->tv_sec, &tm);
	strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	printf("  %-9s %s.%09ld %s\n", what, day, ts->tv_nsec, zone);
}

static uint64_t stripes_of(const struct pvfs_layout *l, uint64_t size)
{
	return size / l->ssize + (size % l->ssize != 0);
}

static uint64_t stripes_shown(const struct stat_args *a, uint64_t stripes)
{
	return a->all || stripes < 8 ? stripes : 8;
}

static const char *iod_uri(int iod, const struct pvfs_server *list, int n)
{
	for (int i = 0; i < n; i++)
		if (list[i].role == PVFS_IOD && list[i].index == iod)
			return list[i].uri;
	return "?";
}

static void print_stripes(const struct stat_args *a,
			  const struct pvfs_layout *l, uint64_t size,
			  const struct pvfs_server *list, int n)
{
	uint64_t stripes = stripes_of(l, size);
	int64_t local;

	printf("  striping  base = %u, pcount = %u, ssize = %u, of %u iods\n",
	       l->base, l->pcount, l->ssize, l->niods);
	for (uint64_t i = 0; i < stripes_shown(a, stripes); i++) {
		int iod = pvfs_locate(l, (int64_t)(i * l->ssize), &local);

		printf("    offset %-12" PRIu64 " iod %d (%s) at %" PRId64 "\n",
		       i * l->ssize, iod, iod_uri(iod, list, n), local);
	}
	if (stripes_shown(a, stripes) < stripes)
		printf("    ... %" PRIu64 " stripes, round robin (-a: all)\n",
		       stripes);
}

static int print_layout(const struct stat_args *a, const char *path,
			const struct pvfs_layout *l, uint64_t size)
{
	struct pvfs_server *list;
	int n = tool_servers(path, &list);

	if (n < 0)
		return tool_fail(&tool, path);
	print_stripes(a, l, size, list, n);
	free(list);
	return 0;
}

static int print_stat(struct stat_args *a, const char *path,
		      const struct stat *st, const struct pvfs_layout *l)
{
	tool_line(stdout, "%s: %s\n", path, type_name(st->st_mode));
	printf("  size      %" PRIu64 " bytes, %" PRIu64 " allocated\n",
	       (uint64_t)st->st_size, (uint64_t)st->st_blocks * 512);
	printf("  mode      %04o  uid %u  gid %u  links %lu\n",
	       st->st_mode & 07777, st->st_uid, st->st_gid,
	       (unsigned long)st->st_nlink);
	printf("  handle    %016" PRIx64 "\n", (uint64_t)st->st_ino);
	print_time("accessed", &st->st_atim);
	print_time("modified", &st->st_mtim);
	print_time("changed", &st->st_ctim);
	return l ? print_layout(a, path, l, (uint64_t)st->st_size) : 0;
}

static void json_time(struct json_object *o, const char *key,
		      const struct timespec *ts)
{
	json_object_object_add(o, key,
			       json_object_new_int64((int64_t)ts->tv_sec *
							     1000000000 +
						     ts->tv_nsec));
}

static void json_stripes(const struct stat_args *a, struct json_object *o,
			 const struct pvfs_layout *l, uint64_t size)
{
	struct json_object *list = json_object_new_array();
	uint64_t n = stripes_shown(a, stripes_of(l, size));
	int64_t local;

	json_u64(o, "base", l->base);
	json_u64(o, "pcount", l->pcount);
	json_u64(o, "ssize", l->ssize);
	for (uint64_t i = 0; i < n; i++) {
		struct json_object *s = json_object_new_object();
		int iod = pvfs_locate(l, (int64_t)(i * l->ssize), &local);

		json_u64(s, "offset", i * l->ssize);
		json_u64(s, "iod", (uint64_t)iod);
		json_u64(s, "local", (uint64_t)local);
		json_object_array_add(list, s);
	}
	json_u64(o, "stripe_count", stripes_of(l, size));
	json_object_object_add(o, "stripes", list);
}

static int json_stat(struct stat_args *a, const char *path,
		     const struct stat *st, const struct pvfs_layout *l)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "path", path);
	json_str(o, "type", type_name(st->st_mode));
	json_id(o, "handle", st->st_ino);
	json_u64(o, "size", (uint64_t)st->st_size);
	json_u64(o, "allocated", (uint64_t)st->st_blocks * 512);
	json_u64(o, "mode", st->st_mode & 07777);
	json_u64(o, "uid", st->st_uid);
	json_u64(o, "gid", st->st_gid);
	json_u64(o, "links", st->st_nlink);
	json_time(o, "atime_ns", &st->st_atim);
	json_time(o, "mtime_ns", &st->st_mtim);
	json_time(o, "ctime_ns", &st->st_ctim);
	if (l)
		json_stripes(a, o, l, (uint64_t)st->st_size);
	json_object_array_add(a->list, o);
	return 0;
}

static int show_path(struct stat_args *a, const char *path)
{
	struct pvfs_layout layout, *l = NULL;
	struct stat st;

	if (pvfs_lstat(path, &st))
		return tool_fail(&tool, path);
	if (S_ISREG(st.st_mode) && !pvfs_layout(path, &layout))
		l = &layout;
	else if (S_ISREG(st.st_mode) && errno != ENODEV)
		return tool_fail(&tool, path);
	return (a->json ? json_stat : print_stat)(a, path, &st, l);
}

int main(int argc, char **argv)
{
	struct stat_args a = { 0 };
	int i = tool_options(&tool, argc, argv, &a), status = 0;

	if (i == argc)
		tool_usage(&tool);
	if (tool_need_mount(&tool))
		return 1;
	a.list = json_object_new_array();
	for (; i < argc; i++)
		status |= show_path(&a, argv[i]);
	if (a.json)
		json_line(a.list);
	else
		json_object_put(a.list);
	return tool_done(&tool, status);
}
