/* SPDX-License-Identifier: BSD-2-Clause */
/* tool.c - the common parts of all command line tools. */
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pvfs.h>
#include "client/tools/common/tool.h"
#include "common/util/number.h"

enum { OPT_HELP = 1000, OPT_VERSION };
#define LONGS_MAX 24

static void print_help(const struct tool *tool)
{
	printf("Usage: %s %s\n%s"
	       "  --help                 this text\n"
	       "  --version              the version\n"
	       "Exit status: 0 done, 1 something failed, 2 wrong usage.\n",
	       tool->name, tool->usage, tool->help);
	exit(tool_done(tool, 0));
}

void tool_usage(const struct tool *tool)
{
	fprintf(stderr, "Usage: %s %s\nTry '%s --help'.\n", tool->name,
		tool->usage, tool->name);
	exit(2);
}

static void all_longs(const struct tool *tool, struct option *longs)
{
	unsigned int n = 0;

	for (const struct option *o = tool->longs;
	     o && o->name && n < LONGS_MAX; o++)
		longs[n++] = *o;
	longs[n++] = (struct option){ "help", no_argument, NULL, OPT_HELP };
	longs[n++] = (struct option){ "version", no_argument, NULL,
				      OPT_VERSION };
	longs[n] = (struct option){ 0 };
}

static const struct tool_value *value_of(const struct tool *tool, int opt)
{
	const struct tool_value *v = tool->values;

	while (v && v->opt && v->opt != opt)
		v++;
	return v && v->opt ? v : NULL;
}

/* Formats a bound as a user types it: 65536 is 64K. */
static const char *bound_text(uint64_t n, char *buf)
{
	static const char units[][2] = { "", "K", "M", "G", "T" };
	unsigned int u = 0;

	while (n && !(n & 1023) && u < 4) {
		n >>= 10;
		u++;
	}
	snprintf(buf, 24, "%llu%s", (unsigned long long)n, units[u]);
	return buf;
}

/* name: of a long option, or NULL. */
static void wrong_value(const struct tool *tool, int opt, const char *name,
			const char *val)
{
	const struct tool_value *v = value_of(tool, opt);
	const char shorts[] = { '-', (char)opt, '\0' };
	char min[24], max[24];

	fprintf(stderr, "%s: %s%s %s: ", tool->name, name ? "--" : "",
		name ? name : shorts, val);
	if (!v)
		fprintf(stderr, "a wrong value\n");
	else if (v->want)
		fprintf(stderr, "want %s\n", v->want);
	else
		fprintf(stderr, "want a number from %s to %s\n",
			bound_text(v->min, min), bound_text(v->max, max));
	fprintf(stderr, "Try '%s --help'.\n", tool->name);
	exit(2);
}

static bool value_is_valid(const struct tool *tool, int opt, const char *val)
{
	const struct tool_value *v = value_of(tool, opt);
	uint64_t n;

	return !v || v->want || !tool_size(val, v->min, v->max, &n);
}

int tool_options(const struct tool *tool, int argc, char **argv, void *arg)
{
	struct option longs[LONGS_MAX + 3];
	int opt, at = -1;

	setlocale(LC_CTYPE, ""); /* for iswprint() */
	all_longs(tool, longs);
	for (; (opt = getopt_long(argc, argv, tool->shorts, longs, &at)) != -1;
	     at = -1) {
		if (opt == OPT_HELP)
			print_help(tool);
		if (opt == OPT_VERSION) {
			printf("%s %s\n", tool->name, pvfs_version());
			exit(tool_done(tool, 0));
		}
		if (opt == '?')
			tool_usage(tool);
		if (!value_is_valid(tool, opt, optarg) ||
		    tool->option(arg, opt, optarg))
			wrong_value(tool, opt, at < 0 ? NULL : longs[at].name,
				    optarg);
	}
	return optind;
}

/* ---- what an error says about a server ---- */

#define FOREIGN                                                                \
	"serves another file system: stop what is there, or correct [iod.N] "  \
	"address or [filesystem] id in the servers' pvfs.conf"
#define OUTSIDE                                                                \
	"this host is in none of its networks ([filesystem] allow), or this "  \
	"user cannot read key= of pvfstab(5); or it is on this host, and its " \
	"user is not trusted: write server_user= in pvfstab(5), if it should " \
	"be"
#define EARLIER "is of an earlier release, which does not count"
#define WAITING                                                                \
	"runs but takes no clients yet: the manager until it has heard from "  \
	"all iods, an iod until it has from the manager, either while it has " \
	"max_sessions; its log says which"
#define LEADERLESS                                                             \
	"none of its managers leads: a majority of them has to run and reach " \
	"each other; their logs say what they wait for"

#define ROOM_FOR_TOOLS                                                          \
	"; tools of root, or of the user that runs it, have a reserve: on its " \
	"host, or with auth=key or munge"
#define NO_FILES                                                               \
	"the server has no room: few descriptors are left: raise LimitNOFILE " \
	"of its unit (systemctl edit), or end clients" ROOM_FOR_TOOLS
#define NO_SEATS                                                               \
	"the server has no room: max_sessions, or host_sessions, clients are " \
	"there: raise that in its pvfs.conf, or end clients" ROOM_FOR_TOOLS

bool tool_full(int err)
{
	return err == ENOSR || err == EUSERS;
}

const char *tool_state(int err)
{
	if (!err)
		return "up";
	if (err == EINVAL)
		return "wrong";
	if (err == EAGAIN || err == ENOTCONN)
		return "waits";
	if (tool_full(err))
		return "full";
	return err == ENXIO || err == EPROTOTYPE ? "foreign" : "down";
}

const char *tool_cause(int err)
{
	if (err == EACCES)
		return OUTSIDE;
	if (err == EAGAIN)
		return WAITING;
	if (err == ENOTCONN)
		return LEADERLESS;
	if (err == ENOSR)
		return NO_FILES;
	if (err == EUSERS)
		return NO_SEATS;
	if (err == ENOSYS)
		return EARLIER;
	if (err == EPROTOTYPE)
		return "not a PVFS server: another service has that port";
	return err == ENXIO ? FOREIGN : strerror(err);
}

/* ---- messages ---- */

int tool_fail(const struct tool *tool, const char *what)
{
	return tool_say(tool, "%s: %s", what,
			tool_full(errno) ? tool_cause(errno) : strerror(errno));
}

int tool_say(const struct tool *tool, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", tool->name);
	va_start(ap, fmt);
	tool_vline(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 1;
}

int tool_no_mount(const struct tool *tool)
{
	return tool_say(tool, "no mount: set PVFSTAB_FILE to a pvfstab(5), or "
			      "write /etc/pvfstab");
}

static bool has_mount(void)
{
	char dir[PATH_MAX];

	return !pvfs_mount_point(0, dir, sizeof(dir));
}

int tool_need_mount(const struct tool *tool)
{
	return has_mount() ? 0 : tool_no_mount(tool);
}

int tool_need_path(const struct tool *tool, char *const *path, int n)
{
	for (int i = 0; i < n; i++)
		if (pvfs_is_pvfs(path[i]))
			return 0;
	return tool_need_mount(tool) ||
	       tool_say(tool,
			"%s: lies on no mount of pvfstab(5)%s; for ordinary "
			"files use %s",
			path[0], n > 1 ? ", nor do the others" : "",
			tool->ordinary);
}

int tool_off_mount(const struct tool *tool, const char *path)
{
	if (errno != ENODEV)
		return tool_fail(tool, path);
	if (!has_mount())
		return tool_no_mount(tool);
	return tool_say(tool, "%s: lies on no mount of pvfstab(5)", path);
}

int tool_done(const struct tool *tool, int status)
{
	bool lost = ferror(stdout);

	if (fflush(stdout))
		return tool_fail(tool, "standard output");
	return lost ? tool_say(tool, "standard output: a write failed")
		    : status;
}

static int suffix_shift(const char *suffix)
{
	static const char units[] = "KMGT";
	const char *unit;

	if (!*suffix)
		return 0;
	unit = strchr(units, *suffix >= 'a' ? *suffix - 32 : *suffix);
	return unit && *unit && !suffix[1] ? 10 * (int)(unit - units + 1) : -1;
}

int tool_size(const char *text, uint64_t min, uint64_t max, uint64_t *val)
{
	uint64_t n;
	int shift;

	if (number_scan(&text, UINT64_MAX, &n))
		return -1;
	shift = suffix_shift(text);
	if (shift < 0 || n > UINT64_MAX >> shift)
		return -1;
	n <<= shift;
	if (n < min || n > max)
		return -1;
	*val = n;
	return 0;
}

uint64_t tool_number(const char *text)
{
	uint64_t n = 0;

	tool_size(text, 0, UINT64_MAX, &n);
	return n;
}

const char *tool_human(uint64_t n, char *buf)
{
	static const char units[] = "BKMGTPE";
	double v = (double)n;
	unsigned int u = 0;

	while (v >= 1023.5 && units[u + 1]) {
		v /= 1024;
		u++;
	}
	if (u == 0)
		snprintf(buf, 16, "%u", (unsigned int)n);
	else
		snprintf(buf, 16, v < 9.95 ? "%.1f%c" : "%.0f%c", v, units[u]);
	return buf;
}

char *tool_join(const char *dir, const char *name)
{
	size_t len = strlen(dir);
	char *path;

	while (len > 1 && dir[len - 1] == '/')
		len--;
	if (asprintf(&path, "%.*s%s%s", (int)len, dir,
		     len == 1 && dir[0] == '/' ? "" : "/", name) < 0)
		return NULL;
	return path;
}

char *tool_base(const char *path)
{
	size_t end = strlen(path), start;

	while (end > 1 && path[end - 1] == '/')
		end--;
	start = end;
	while (start > 0 && path[start - 1] != '/')
		start--;
	return strndup(path + start, end - start);
}
