/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-df - space, per server and in total. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json_out.h"
#include <pvfs.h>
#include "client/tools/common/tool.h"

struct room {
	uint64_t disk; /* 0: unknown */
	uint64_t bytes; /* UINT64_MAX: no limit */
};

struct df_args {
	bool json, bytes;
	struct room *room; /* per iod of this mount */
	unsigned int iods; /* iods that answered */
	struct json_object *list;
};

static int set_option(void *arg, int opt, const char *val)
{
	struct df_args *a = arg;

	if (opt == 'j')
		a->json = true;
	else
		a->bytes = true;
	return 0;
}

static const struct option longs[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "bytes", no_argument, NULL, 'b' },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-df",
	.usage = "[-b] [-j] [PATH]...",
	.help = "Shows the space of the mounts that the PATHs lie on (none: all mounts).\n"
		"  -b, --bytes            bytes instead of K, M, G\n"
		"  -j, --json             one JSON array\n",
	.shorts = "bj",
	.longs = longs,
	.option = set_option,
};

/* The share of the usable space, like df(1): space reserved for root does not count. */
static unsigned int percent_used(uint64_t used, uint64_t available)
{
	double sum = (double)used + (double)available;
	double exact = sum > 0 ? 100.0 * (double)used / sum : 0;
	unsigned int whole = (unsigned int)exact;

	return whole < exact ? whole + 1 : whole;
}

/* A tmpfs of size=0 reports only zeros. */
static bool is_unlimited(const struct statfs *st)
{
	return !st->f_blocks;
}

static void print_row(const struct df_args *a, const char *who, const char *uri,
		      const struct statfs *st)
{
	uint64_t bs = (uint64_t)st->f_bsize, size = st->f_blocks * bs;
	uint64_t val[3] = { size, size - st->f_bfree * bs, st->f_bavail * bs };
	char s[3][32];

	if (is_unlimited(st)) {
		printf("%-8s %-32s %15s %15s %15s %5s\n", who, uri, "-", "-",
		       "no limit", "-");
		return;
	}
	for (int i = 0; i < 3; i++) {
		if (a->bytes)
			snprintf(s[i], sizeof(s[i]), "%" PRIu64, val[i]);
		else
			tool_human(val[i], s[i]);
	}
	printf("%-8s %-32s %15s %15s %15s %4u%%\n", who, uri, s[0], s[1], s[2],
	       percent_used(val[1], val[2]));
}

static void json_limit(struct json_object *o, const char *key,
		       const struct statfs *st, uint64_t bytes)
{
	if (is_unlimited(st))
		json_object_object_add(o, key, NULL);
	else
		json_u64(o, key, bytes);
}

static void json_row(struct df_args *a, const char *who, const char *uri,
		     const struct statfs *st)
{
	struct json_object *o = json_object_new_object();
	uint64_t bs = (uint64_t)st->f_bsize;

	json_str(o, "server", who);
	json_str(o, "uri", uri);
	json_limit(o, "size", st, st->f_blocks * bs);
	json_limit(o, "used", st, (st->f_blocks - st->f_bfree) * bs);
	json_limit(o, "available", st, st->f_bavail * bs);
	json_u64(o, "files", st->f_files);
	json_u64(o, "files_free", st->f_ffree);
	json_object_array_add(a->list, o);
}

static void show_row(struct df_args *a, const char *who, const char *uri,
		     const struct statfs *st)
{
	if (a->json)
		json_row(a, who, uri, st);
	else
		print_row(a, who, uri, st);
}

static void add_room(struct room *r, const struct statfs *st)
{
	memcpy(&r->disk, &st->f_fsid, sizeof(r->disk));
	r->bytes = is_unlimited(st)
			   ? UINT64_MAX
			   : (uint64_t)st->f_bavail * (uint64_t)st->f_bsize;
}

/* Returns what is left for each iod on the fullest disk, or UINT64_MAX; iods may share a disk. */
static uint64_t least_room(const struct df_args *a)
{
	uint64_t least = UINT64_MAX;
	unsigned int i, k, sharers;

	for (i = 0; i < a->iods; i++) {
		const struct room *r = &a->room[i];

		for (k = 0, sharers = 0; k < a->iods; k++)
			sharers += k == i ||
				   (r->disk && a->room[k].disk == r->disk);
		if (r->bytes != UINT64_MAX && r->bytes / sharers < least)
			least = r->bytes / sharers;
	}
	return least;
}

static int server_row(struct df_args *a, const char *path,
		      const struct pvfs_server *s)
{
	struct statfs st;
	char who[32];

	snprintf(who, sizeof(who), s->role == PVFS_MGR ? "mgr" : "iod %d",
		 s->index);
	if (pvfs_statfs_mount(path, s->uri, 0, &st))
		return tool_fail(&tool, s->uri);
	show_row(a, who, s->uri, &st);
	if (s->role == PVFS_IOD)
		add_room(&a->room[a->iods++], &st);
	return 0;
}

static int total_row(struct df_args *a, const char *path)
{
	struct statfs st;

	if (pvfs_statfs(path, &st))
		return tool_fail(&tool, path);
	show_row(a, "total", path, &st);
	return 0;
}

/* A file on all iods cannot grow once the fullest iod is full. */
static void file_row(struct df_args *a)
{
	uint64_t least = least_room(a), room = least * a->iods;
	bool unlimited = least == UINT64_MAX;
	struct json_object *o;
	char text[32];

	if (a->json) {
		o = json_object_new_object();
		json_str(o, "server", "file");
		if (unlimited)
			json_object_object_add(o, "available", NULL);
		else
			json_u64(o, "available", room);
		json_object_array_add(a->list, o);
		return;
	}
	if (unlimited)
		snprintf(text, sizeof(text), "no limit");
	else if (a->bytes)
		snprintf(text, sizeof(text), "%" PRIu64, room);
	else
		tool_human(room, text);
	printf("%-8s %-32s %15s %15s %15s\n", "file", "on all iods", "", "",
	       text);
}

static int show_mount(struct df_args *a, const char *path)
{
	struct pvfs_server *list;
	int n = tool_servers(path, &list), status = 0;

	if (n < 0)
		return tool_off_mount(&tool, path);
	if (!a->json)
		printf("%-8s %-32s %15s %15s %15s %5s\n", "server", "address",
		       "size", "used", "available", "use");
	a->iods = 0;
	a->room = calloc((size_t)n, sizeof(*a->room));
	for (int i = 0; a->room && i < n; i++)
		status |= server_row(a, path, &list[i]);
	if (!a->room)
		status = tool_fail(&tool, path);
	free(list);
	status |= total_row(a, path);
	if (!status && a->iods)
		file_row(a);
	free(a->room);
	return status;
}

static int df_all(struct df_args *a)
{
	char dir[4096];
	unsigned int i;
	int status = 0;

	for (i = 0; !pvfs_mount_point(i, dir, sizeof(dir)); i++)
		status |= show_mount(a, dir);
	return i ? status : tool_no_mount(&tool);
}

int main(int argc, char **argv)
{
	struct df_args a = { 0 };
	int i = tool_options(&tool, argc, argv, &a), status = 0;

	a.list = json_object_new_array();
	if (i == argc)
		status = df_all(&a);
	for (; i < argc; i++)
		status |= show_mount(&a, argv[i]);
	if (a.json)
		json_line(a.list);
	else
		json_object_put(a.list);
	return tool_done(&tool, status);
}
