/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs_top.c - pvfs-top: the present work of the servers, and its users. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/tools/monitor/top/draw.h"
#include <pvfs.h>
#include "client/tools/monitor/top/screen.h"
#include "client/tools/common/tool.h"

struct top_args {
	bool batch;
	unsigned int delay_s, count; /* 0: no limit */
	struct top top;
};

static int set_option(void *arg, int opt, const char *val)
{
	struct top_args *a = arg;

	switch (opt) {
	case 'b':
		a->batch = true;
		break;
	case 'd':
		a->delay_s = (unsigned int)tool_number(val);
		break;
	case 't':
		a->top.timeout_ms = (int)tool_number(val);
		break;
	default:
		a->count = (unsigned int)tool_number(val);
		break;
	}
	return 0;
}

static const struct tool_value values[] = { { 'd', 1, 86400, NULL },
					    { 'n', 1, UINT32_MAX, NULL },
					    { 't', 10, 60000, NULL },
					    { 0 } };

static const struct option longs[] = {
	{ "batch", no_argument, NULL, 'b' },
	{ "delay", required_argument, NULL, 'd' },
	{ "count", required_argument, NULL, 'n' },
	{ "timeout", required_argument, NULL, 't' },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-top",
	.usage = "[-b] [-d SECONDS] [-n COUNT] [-t MS] [PATH | URI]...",
	.help = "Follows the servers of the mounts that the PATHs lie on (none: all mounts of\n"
		"pvfstab), or servers by their URIs, in a terminal: requests, bytes and times of each,\n"
		"and of users and their jobs.  q ends it.\n"
		"  -b, --batch            one page below the other, for files and programs\n"
		"  -d, --delay SECONDS    between two pages (2)\n"
		"  -n, --count COUNT      so many pages, then the end\n"
		"  -t, --timeout MS       wait at most MS milliseconds for a server (1000)\n"
		"Users other than root and the user of the servers see only themselves.\n",
	.shorts = "bd:n:t:",
	.longs = longs,
	.values = values,
	.option = set_option,
};

static int add_server(void *arg, const char *path, const char *who,
		      const char *uri)
{
	struct top_args *a = arg;

	return top_add(&a->top, path, who, uri) ? 0 : tool_fail(&tool, uri);
}

/* ---- pages ---- */

static int draw_batch(const struct top_args *a, struct owner_names *owners)
{
	struct top_page page = { .end = "\n", .owners = owners };

	draw(stdout, &page, &a->top);
	putchar('\n');
	return fflush(stdout) ? -errno : 0;
}

/* The last row stays empty, or the page would scroll. */
static int draw_live(const struct top_args *a, struct owner_names *owners)
{
	struct top_page page = { .end = "\033[K\r\n", .owners = owners };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int rc;

	if (!out)
		return -ENOMEM;
	screen_size(&page.rows, &page.columns);
	page.rows -= page.rows > 1;
	draw(out, &page, &a->top);
	rc = fclose(out) ? -ENOMEM : screen_show(text, len);
	free(text);
	return rc;
}

static int run_batch(struct top_args *a, struct owner_names *owners)
{
	int rc = 0;

	top_gather(&a->top);
	for (unsigned int i = 0; !rc && (!a->count || i < a->count); i++) {
		sleep(a->delay_s);
		top_gather(&a->top);
		rc = draw_batch(a, owners);
	}
	return rc;
}

static int run_live(struct top_args *a, struct owner_names *owners)
{
	struct screen screen;
	int rc = screen_open(&screen);

	if (rc)
		return rc;
	for (unsigned int i = 0; !rc && (!a->count || i < a->count); i++) {
		top_gather(&a->top);
		rc = draw_live(a, owners);
		if (!rc && !screen_wait(&screen, a->delay_s * 1000))
			break;
	}
	screen_close(&screen);
	return rc;
}

static int run_top(struct top_args *a)
{
	struct owner_names owners = { 0 };
	int rc = a->batch ? run_batch(a, &owners) : run_live(a, &owners);

	owner_names_free(&owners);
	if (rc == -ENOTTY)
		return tool_say(
			&tool, "standard output is no terminal: --batch writes "
			       "one page below the other");
	errno = -rc;
	return rc ? tool_fail(&tool, "standard output") : 0;
}

/* Discards log lines: the page shows which servers are down. */
static void drop_line(void *arg, int level, const char *msg)
{
	(void)arg;
	(void)level;
	(void)msg;
}

int main(int argc, char **argv)
{
	struct top_args a = { .delay_s = 2, .top.timeout_ms = 1000 };
	int i = tool_options(&tool, argc, argv, &a);
	int status;

	top_init(&a.top);
	if (!a.batch && isatty(STDERR_FILENO))
		pvfs_set_log(drop_line, NULL, 0);
	status = tool_each_server(&tool, argv + i, add_server, &a);
	if (!status)
		status = run_top(&a);
	top_free(&a.top);
	return tool_done(&tool, status);
}
