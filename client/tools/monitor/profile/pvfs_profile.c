/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvfs-profile - summarizes what a program did, from the files that PVFS_PROFILE wrote.
 */
#include <stdlib.h>

#include "common/json/json_out.h"
#include "client/tools/monitor/profile/prof.h"
#include "client/tools/common/tool.h"

struct profile_args {
	bool json;
	const char *svg;
	size_t most;
};

static int set_option(void *arg, int opt, const char *val)
{
	struct profile_args *a = arg;

	switch (opt) {
	case 'j':
		a->json = true;
		break;
	case 's':
		a->svg = val;
		break;
	default:
		a->most = (size_t)tool_number(val);
	}
	return 0;
}

static const struct tool_value values[] = { { 'n', 1, 1000000, NULL }, { 0 } };

static const struct option longs[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "svg", required_argument, NULL, 's' },
	{ "number", required_argument, NULL, 'n' },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-profile",
	.usage = "[-j] [-n NUMBER] [-s FILE] PROFILE...",
	.help = "Shows what a program did on PVFS, and what it could do better, of the files that\n"
		"its processes wrote because PVFS_PROFILE was set.\n"
		"  -n, --number NUMBER    of files and processes that are named, at most (20)\n"
		"  -s, --svg FILE         draws it, too\n"
		"  -j, --json             one JSON object\n",
	.shorts = "js:n:",
	.longs = longs,
	.values = values,
	.option = set_option,
};

static int read_one(struct prof *all, const char *path)
{
	struct prof_process p = { 0 };
	const char *why = "no memory";

	if (!prof_read(path, &p, &why) && p.source && !prof_add(all, &p))
		return 0;
	tool_say(&tool, "%s: no profile: %s", path, why);
	prof_process_free(&p);
	return 1;
}

static int draw_svg(const struct prof *all, const char *path)
{
	FILE *out = fopen(path, "we");
	int failed;

	if (!out)
		return tool_fail(&tool, path);
	prof_svg(all, out);
	failed = ferror(out);
	if (fclose(out) || failed)
		return tool_fail(&tool, path);
	return 0;
}

static int show_summary(const struct prof *all, const struct profile_args *a)
{
	struct advice_line *advice;
	int n = prof_advice(all, &advice);

	if (n < 0)
		return tool_fail(&tool, "advice");
	if (a->json)
		json_line(prof_json(all, advice, n));
	else
		prof_text(all, advice, n, a->most);
	free(advice);
	return a->svg ? draw_svg(all, a->svg) : 0;
}

int main(int argc, char **argv)
{
	struct profile_args a = { .most = 20 };
	int i = tool_options(&tool, argc, argv, &a), status = 0;
	struct prof all = { 0 };

	if (i == argc)
		tool_usage(&tool);
	for (; i < argc; i++)
		status |= read_one(&all, argv[i]);
	if (all.processes) {
		if (prof_sum(&all))
			status = tool_fail(&tool, "memory");
		else
			status |= show_summary(&all, &a);
	}
	prof_free(&all);
	return tool_done(&tool, status);
}
