/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-evict - shows and ends the sessions of a file system's clients. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/tools/admin/evict_who.h"
#include "common/json/json_out.h"
#include "client/tools/common/owner_names.h"
#include <pvfs.h>
#include "client/tools/common/tool.h"

#define ASK_MS 1000 /* ms to wait for an iod that does not run */
#define PART 64
#define NS_PER_S UINT64_C(1000000000)

struct evict_args {
	bool show, json;
	int timeout_ms;
	struct evict_who who;
	const char *dir; /* path on the mount */
	struct owner_names owners;
	struct json_object *list;
};

static int set_option(void *arg, int opt, const char *val)
{
	struct evict_args *a = arg;

	switch (opt) {
	case 'l':
		a->show = true;
		return 0;
	case 'j':
		a->json = true;
		return 0;
	case 't':
		a->timeout_ms = (int)tool_number(val);
		return 0;
	default:
		return evict_who(&a->who, opt, val);
	}
}

static const struct tool_value values[] = {
	{ 't', 1000, 3600000, NULL },
	{ 's', 0, 0, "a session, as --list shows it, and nothing else" },
	{ 'u', 0, 0, "a user, and nothing else" },
	{ 'J', 0, 0, "a job, and nothing else" },
	{ 'H', 0, 0,
	  "an address, a network, a host or local, and nothing else" },
	{ 0 }
};

static const struct option longs[] = {
	{ "list", no_argument, NULL, 'l' },
	{ "json", no_argument, NULL, 'j' },
	{ "session", required_argument, NULL, 's' },
	{ "user", required_argument, NULL, 'u' },
	{ "job", required_argument, NULL, 'J' },
	{ "host", required_argument, NULL, 'H' },
	{ "timeout", required_argument, NULL, 't' },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-evict",
	.usage =
		"[-t MS] (-s SESSION | -u USER | -J JOB | -H HOST) PATH | -l [-j] PATH",
	.help = "Ends sessions of clients of the file system that PATH lies on, with their open files,\n"
		"locks and loans.  Returns when all servers have ended them.\n"
		"No ban: programs that open files again get another session.\n"
		"  -l, --list             shows the sessions there are\n"
		"  -j, --json             with -l: one JSON array\n"
		"  -s, --session SESSION  this one\n"
		"  -u, --user USER        those of a user: a name or a number\n"
		"  -J, --job JOB          those of a job\n"
		"  -H, --host HOST        those of a host or network; local: of the manager's own host\n"
		"  -t, --timeout MS       wait at most MS milliseconds (30000)\n"
		"Exit status 1 when none is there, or not all has ended in time.\n",
	.shorts = "ljs:u:J:H:t:",
	.longs = longs,
	.values = values,
	.option = set_option,
};

static int report_error(const struct evict_args *a)
{
	switch (errno) {
	case EPERM:
		return tool_say(&tool,
				"%s: only root and the user that the manager "
				"runs as may do that; the manager may map this "
				"user to another one ([mgr] squash), and with "
				"auth = key it maps root of another host to "
				"key_user",
				a->dir);
	case ENOSYS:
		return tool_say(&tool,
				"%s: the manager is of a release that cannot "
				"evict: install this one there",
				a->dir);
	case ESRCH:
		return tool_say(&tool,
				"%s: there is no such session: it has ended; "
				"pvfs-evict --list shows those that there are",
				a->dir);
	default:
		return tool_fail(&tool, a->dir);
	}
}

static int connect_to(const struct evict_args *a, struct pvfs_watch **watch)
{
	struct pvfs_server mgr;

	if (pvfs_manager(a->dir, &mgr))
		return tool_off_mount(&tool, a->dir);
	if (pvfs_watch_open(a->dir, mgr.uri, a->timeout_ms, watch))
		return tool_fail(&tool, a->dir);
	return 0;
}

/* ---- --list ---- */

static void json_session(struct evict_args *a, const struct pvfs_session *s)
{
	struct json_object *o = json_object_new_object();
	char id[32];

	snprintf(id, sizeof(id), "%016" PRIx64, s->id);
	json_str(o, "session", id);
	json_u64(o, "uid", s->uid);
	json_u64(o, "gid", s->gid);
	json_str(o, "job", s->job);
	json_str(o, "peer", s->peer);
	json_str(o, "program", s->name);
	json_u64(o, "age_ns", s->age_ns);
	json_u64(o, "files", s->opens);
	json_u64(o, "locks", s->locks);
	json_yes(o, "here", !(s->flags & PVFS_SESSION_AWAY));
	json_object_array_add(a->list, o);
}

static void text_session(struct evict_args *a, const struct pvfs_session *s)
{
	tool_line(stdout,
		  "%016" PRIx64 " %-10s %-10s %-12s %8" PRIu64
		  " %7u %7u  %-24s %s\n",
		  s->id, owner_names_user(&a->owners, s->uid),
		  s->job[0] ? s->job : "-",
		  s->flags & PVFS_SESSION_AWAY ? "disconnected" : "connected",
		  s->age_ns / NS_PER_S, s->opens, s->locks, s->peer, s->name);
}

static int list_sessions(struct evict_args *a, struct pvfs_watch *watch)
{
	struct pvfs_session part[PART];
	int n = pvfs_watch_sessions(watch, 0, part, PART);

	if (n >= 0 && !a->json)
		printf("%-16s %-10s %-10s %-12s %8s %7s %7s  %-24s %s\n",
		       "session", "user", "job", "state", "age s", "files",
		       "locks", "from", "program");
	while (n > 0) {
		for (int i = 0; i < n; i++)
			(a->json ? json_session : text_session)(a, &part[i]);
		n = pvfs_watch_sessions(watch, part[n - 1].id, part, PART);
	}
	return n < 0 ? report_error(a) : 0;
}

/* ---- what evicted clients still hold ---- */

static bool has_not_confirmed(const struct pvfs_evicted *done, int iod)
{
	for (unsigned int i = 0; i < done->iods; i++)
		if (done->iod[i] == (unsigned int)iod)
			return true;
	return false;
}

/* 0; -1 with errno: the iod does not say. */
static int read_kept(const char *path, const char *uri, uint64_t *kept)
{
	struct pvfs_metric *list = NULL;
	struct pvfs_watch *watch;
	int n, why;

	*kept = 0;
	if (pvfs_watch_open(path, uri, ASK_MS, &watch))
		return -1;
	n = pvfs_watch_metrics(watch, PVFS_METRICS_INSIDE, NULL, 0, &list);
	why = errno;
	pvfs_watch_close(watch);
	for (const struct pvfs_metric *m = list; m; m = m->next)
		if (!strcmp(m->name, "lent_kept"))
			*kept = m->n;
	pvfs_metrics_free(list);
	errno = why;
	return n < 0 ? -1 : 0;
}

/* An iod of an earlier release keeps nothing that it could report. */
static int report_unreachable(int iod)
{
	if (errno != ENOSYS)
		tool_say(&tool,
			 "iod %d cannot be reached from here (%s): if it does "
			 "not run and its store is in memory, evicted programs "
			 "on its host can still change the objects that it "
			 "lent to them; start the iod, or end these programs",
			 iod, strerror(errno));
	return 0;
}

static int report_kept_at(const char *path, const struct pvfs_server *server)
{
	uint64_t kept;

	if (read_kept(path, server->uri, &kept))
		return report_unreachable(server->index);
	return kept ? tool_say(&tool,
			       "iod %d has no room to copy %" PRIu64
			       " objects that it lent to evicted programs: "
			       "these can still change the objects; free space "
			       "in the iod's store, or end the programs that "
			       "its log names",
			       server->index, kept)
		    : 0;
}

/*
 * Prints a line for each iod that has confirmed the eviction, but has no room to copy
 * the objects that it lent; and for each iod that does not answer.  Returns 1 if there is
 * one of the former, or if the iods are unknown.
 */
static int report_kept(const char *path, const struct pvfs_evicted *done)
{
	struct pvfs_server *list;
	int status = 0, n = tool_servers(path, &list);

	if (n < 0)
		return tool_fail(&tool, path);
	for (int i = 0; i < n; i++)
		if (list[i].role == PVFS_IOD &&
		    !has_not_confirmed(done, list[i].index))
			status |= report_kept_at(path, &list[i]);
	free(list);
	return status;
}

/* ---- eviction ---- */

static const char *until_text(uint64_t ns, char *buf, size_t len)
{
	time_t at = time(NULL) + (time_t)(ns / NS_PER_S) + 1;
	struct tm tm;

	if (!ns || !localtime_r(&at, &tm) ||
	    !strftime(buf, len, "until %Y-%m-%d %H:%M:%S at the latest", &tm))
		snprintf(buf, len, "until it confirms");
	return buf;
}

static int report_left(const struct pvfs_evicted *done)
{
	char when[64];

	if (done->left)
		tool_say(&tool,
			 "%u session%s not ended yet, with their files and "
			 "locks: the manager continues without this command",
			 done->left, done->left == 1 ? " has" : "s have");
	for (unsigned int i = 0; i < done->iods; i++)
		tool_say(
			&tool,
			"iod %u has not confirmed the eviction: the evicted "
			"programs can read files that they had open there %s%s",
			done->iod[i],
			until_text(done->until_ns, when, sizeof(when)),
			done->left
				? ""
				: "; only programs that keep objects that the iod lent to them can still write there");
	return done->left || done->iods;
}

/* Identifies the manager's process; 0: unknown. */
static uint64_t boot_of(struct pvfs_watch *watch)
{
	struct pvfs_ping ping;

	return pvfs_watch_ping(watch, &ping) ? 0 : ping.boot;
}

/*
 * A manager that was restarted after the first request does not know the sessions that
 * its predecessor found.
 */
static int report_none(const struct evict_args *a, struct pvfs_watch *watch,
		       uint64_t boot)
{
	if (boot == boot_of(watch))
		return tool_say(&tool, "%s: there is no such session", a->dir);
	return tool_say(&tool,
			"%s: the manager was restarted meanwhile: the sessions "
			"are evicted, or not back yet: see --list, and evict "
			"those that are there",
			a->dir);
}

static int evict_sessions(const struct evict_args *a, struct pvfs_watch *watch)
{
	uint64_t boot = boot_of(watch);
	struct pvfs_evicted done;
	int status;

	if (pvfs_watch_evict(watch, &a->who.what, &done))
		return report_error(a);
	status = report_kept(a->dir, &done);
	if (!done.sessions && !done.left && !done.iods)
		return report_none(a, watch, boot);
	status |= report_left(&done);
	printf("%u session%s evicted\n", done.sessions,
	       done.sessions == 1 ? "" : "s");
	return status;
}

static int run_command(struct evict_args *a)
{
	struct pvfs_watch *watch;
	int status = connect_to(a, &watch);

	if (status)
		return status;
	status = a->show ? list_sessions(a, watch) : evict_sessions(a, watch);
	pvfs_watch_close(watch);
	return status;
}

int main(int argc, char **argv)
{
	struct evict_args a = { .timeout_ms = 30000 };
	int i = tool_options(&tool, argc, argv, &a), status;

	if (argc - i != 1 || a.show == a.who.given || (a.json && !a.show))
		tool_usage(&tool);
	a.dir = argv[i];
	if (tool_need_mount(&tool))
		return 1;
	a.list = json_object_new_array();
	status = run_command(&a);
	if (a.json && !status)
		json_line(a.list);
	else
		json_object_put(a.list);
	owner_names_free(&a.owners);
	return tool_done(&tool, status);
}
