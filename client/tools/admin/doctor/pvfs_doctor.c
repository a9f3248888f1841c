/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-doctor - finds faults of this host or the servers, and says how to fix them. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/tools/admin/doctor/checks.h"
#include "client/tools/common/tool.h"

enum { OPT_ROOT = 2000, OPT_SKIP, OPT_LIST };

struct doctor_args {
	struct doctor d;
	const char *skip;
	bool json, verbose, list;
	char conf[PATH_MAX];
};

static int set_option(void *arg, int opt, const char *val)
{
	struct doctor_args *a = arg;

	if (opt == 'c')
		a->d.conf = val;
	else if (opt == 'a')
		; /* accepted for compatibility: all checks run without it */
	else if (opt == 'j')
		a->json = true;
	else if (opt == 'v')
		a->verbose = true;
	else if (opt == 't')
		a->d.timeout_s = (unsigned int)tool_number(val);
	else if (opt == OPT_ROOT)
		a->d.root = val;
	else if (opt == OPT_SKIP)
		a->skip = val;
	else
		a->list = true;
	return 0;
}

static const struct tool_value values[] = { { 't', 1, 3600, NULL }, { 0 } };

static const struct option longs[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "all", no_argument, NULL, 'a' },
	{ "json", no_argument, NULL, 'j' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "timeout", required_argument, NULL, 't' },
	{ "root", required_argument, NULL, OPT_ROOT },
	{ "skip", required_argument, NULL, OPT_SKIP },
	{ "list", no_argument, NULL, OPT_LIST },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-doctor",
	.usage =
		"[-c FILE] [-a] [-j] [-v] [-t S] [--skip CHECK,...] [--root DIR]",
	.help = "Looks for what is wrong on this host and on the way to the servers, and says how\n"
		"to correct it.  Without -c this is a client's host (pvfstab), and a small file is made\n"
		"and removed in each mount.\n"
		"  -c, --config FILE      a server's host: its pvfs.conf\n"
		"  -a, --all              has no effect: all checks run without it\n"
		"  -j, --json             one JSON object\n"
		"  -v, --verbose          what is well, too: round trips, flushes\n"
		"  -t, --timeout S        wait at most S seconds for each check (15)\n"
		"  --skip CHECK,...       leave these out\n"
		"  --list                 the checks, and what they look at\n"
		"  --root DIR             where /proc, /sys, /dev and /etc/fstab are\n"
		"Here 0: all was looked at and nothing found, 1: something was found, 2: nothing\n"
		"was found, but not all could be looked at.\n",
	.shorts = "c:ajvt:",
	.longs = longs,
	.values = values,
	.option = set_option,
};

static int list_checks(void)
{
	for (unsigned int i = 0; i < doctor_nchecks; i++)
		printf("%-12s %s\n", doctor_checks[i].name,
		       doctor_checks[i].looks);
	return tool_done(&tool, 0);
}

static bool is_check(const char *name, size_t len)
{
	for (unsigned int i = 0; i < doctor_nchecks; i++)
		if (!strncmp(doctor_checks[i].name, name, len) &&
		    !doctor_checks[i].name[len])
			return true;
	return false;
}

/* Rejects misspelled names, so that each name that is given is really skipped. */
static void check_skip(const char *list)
{
	while (list && *list) {
		size_t len = strcspn(list, ",");

		if (len && !is_check(list, len)) {
			tool_say(&tool,
				 "--skip %.*s: no such check; --list "
				 "names them",
				 (int)len, list);
			tool_usage(&tool);
		}
		list += len + (list[len] == ',');
	}
}

/* Keeps checks from reading standard input, and the library from printing. */
static void silence_library(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		dup2(fd, STDIN_FILENO);
	setenv("PVFS_LOG", "none", 0);
	setenv("PVFS_TIMEOUT", "5", 0);
	signal(SIGPIPE, SIG_DFL);
}

/*
 * Without servers the rest of the host is examined, and check_conf() reports the cause.
 */
static int find_subjects(struct doctor_args *a)
{
	struct doctor *d = &a->d;
	char err[DOCTOR_TEXT];
	int rc;

	if (!d->conf)
		return subjects_of_tab(d);
	if (realpath(d->conf, a->conf))
		d->conf = a->conf;
	rc = subjects_of_conf(d, err, sizeof(err));
	if (rc == -ENOMEM)
		return rc;
	return rc ? 0 : subjects_mount(d);
}

static int run_checks(struct doctor_args *a)
{
	struct check_runs runs = { 0 };
	int rc = find_subjects(a);

	if (!rc)
		rc = mounted_find(&a->d);
	if (!rc)
		rc = check_runs_make(&a->d, a->skip, &runs);
	if (!rc)
		rc = check_runs_run(&a->d, &runs);
	if (rc) {
		tool_say(&tool, "could not look: %s", strerror(-rc));
		rc = 2;
	} else {
		rc = doctor_report(&a->d, &runs, a->json, a->verbose);
		if (tool_done(&tool, 0))
			rc = 2;
	}
	check_runs_free(&runs);
	free(a->d.subject);
	free(a->d.mounted);
	return rc;
}

int main(int argc, char **argv)
{
	struct doctor_args a = { .d = { .root = "", .timeout_s = 15 } };
	const char *tab = secure_getenv("PVFSTAB_FILE");

	if (tool_options(&tool, argc, argv, &a) < argc)
		tool_usage(&tool);
	if (a.list)
		return list_checks();
	check_skip(a.skip);
	a.d.pvfstab = tab && *tab ? tab : "/etc/pvfstab";
	silence_library();
	return run_checks(&a);
}
