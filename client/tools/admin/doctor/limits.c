/* SPDX-License-Identifier: BSD-2-Clause */
/* limits.c - limits of this host's daemons, and of programs; stopped daemons. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/tools/admin/doctor/checks.h"
#include "common/util/number.h"

#define MEMLOCK_LEAST (64ull << 20)
#define CAP_IPC_LOCK_BIT 14
#define CLIENT_FILES 1024u

static int parse_limit(const char *text, uint64_t *limit)
{
	*limit = UINT64_MAX;
	return strcmp(text, "unlimited") ? number_parse(text, UINT64_MAX, limit)
					 : 0;
}

int limits_parse(const char *text, const char *name, uint64_t *soft,
		 uint64_t *hard)
{
	const char *at = strstr(text, name);
	char a[24], b[24];

	if (!at || sscanf(at + strlen(name), " %23s %23s", a, b) != 2)
		return -EINVAL;
	return parse_limit(a, soft) || parse_limit(b, hard) ? -EINVAL : 0;
}

static int read_limit(const struct doctor *d, const char *pid, const char *name,
		      uint64_t *soft, uint64_t *hard)
{
	char text[4096];
	int rc = host_read(d, text, sizeof(text), "/proc/%s/limits", pid);

	return rc ? rc : limits_parse(text, name, soft, hard);
}

/* Returns the text after "NAME:" of /proc/PID/status, or NULL. */
static const char *status_of(const struct doctor *d, const char *pid,
			     const char *name, char *text, size_t len)
{
	const char *at;

	if (host_read(d, text, len, "/proc/%s/status", pid))
		return NULL;
	at = strstr(text, name);
	if (!at)
		return NULL;
	at += strlen(name);
	return at + strspn(at, ": \t");
}

static bool may_lock(const struct doctor *d, const char *pid)
{
	char text[8192];
	const char *caps = status_of(d, pid, "\nCapEff", text, sizeof(text));

	return caps && (strtoull(caps, NULL, 16) >> CAP_IPC_LOCK_BIT & 1);
}

/* For each daemon of this configuration. */
struct daemon_search {
	const struct doctor *d;
	void (*look)(const struct doctor *d, const char *who, const char *pid);
	unsigned int n;
};

/* Gets the arguments, each with its NUL; the last one gets another. */
static bool read_cmdline(const struct doctor *d, const char *pid, char *text,
			 size_t len, size_t *n)
{
	char path[PATH_MAX];
	FILE *f = fopen(host_path(d, path, "/proc/%s/cmdline", pid), "re");
	*n = f ? fread(text, 1, len - 1, f) : 0;
	if (f)
		fclose(f);
	text[*n] = '\0';
	return *n;
}

/*
 * If arg is the option --config or -c, returns its value: a part of arg, or next.  Otherwise
 * NULL.  Daemons also accept shorter forms of the long option.
 */
static const char *conf_option(const char *arg, const char *next)
{
	size_t name = strcspn(arg, "=");

	if (name > 2 && !strncmp(arg, "--config", name))
		return arg[name] ? arg + name + 1 : next;
	if (strncmp(arg, "-c", 2) != 0)
		return NULL;
	return arg[2] ? arg + 2 : next;
}

const char *limits_daemon_conf(const char *args, size_t len)
{
	const char *conf = CONF_DEFAULT, *arg, *next, *value;

	for (arg = args; arg < args + len; arg = next) {
		next = arg + strlen(arg) + 1;
		value = conf_option(arg, next < args + len ? next : "");
		if (!value)
			continue;
		conf = value;
		if (value == next)
			next += strlen(next) + 1;
	}
	return conf;
}

static int visit_daemon(void *arg, const char *pid)
{
	struct daemon_search *a = arg;
	char comm[32], args[2048];
	size_t len;

	if (*pid < '1' || *pid > '9' ||
	    host_read(a->d, comm, sizeof(comm), "/proc/%s/comm", pid) ||
	    (strcmp(comm, "pvfs-mgr") != 0 && strcmp(comm, "pvfs-iod") != 0) ||
	    !read_cmdline(a->d, pid, args, sizeof(args), &len) ||
	    strcmp(limits_daemon_conf(args, len), a->d->conf) != 0)
		return 0;
	a->n++;
	a->look(a->d, comm, pid);
	return 0;
}

/* Calls look for all daemons of d->conf that this user may see. */
static void each_daemon(const struct doctor *d,
			void (*look)(const struct doctor *d, const char *who,
				     const char *pid))
{
	struct daemon_search a = { d, look, 0 };
	int rc = d->conf ? host_each(d, "/proc", visit_daemon, &a) : 0;

	if (rc < 0)
		doctor_unseen(d, "/proc: %s", strerror(-rc));
}

static void check_state(const struct doctor *d, const char *who,
			const char *pid)
{
	char text[8192], fix[128];
	const char *state = status_of(d, pid, "\nState", text, sizeof(text));

	if (!state || (*state != 'T' && *state != 't' && *state != 'Z'))
		return;
	if (*state == 'Z')
		snprintf(fix, sizeof(fix),
			 "look why it ended in its log; "
			 "start it again");
	else
		snprintf(fix, sizeof(fix),
			 "kill -CONT %s (or end the "
			 "debugger that stopped it)",
			 pid);
	doctor_find(d, fix, "%s, process %s, stands still (%.*s)", who, pid,
		    (int)strcspn(state, "\n"), state);
}

void check_daemons(const struct doctor *d, const struct subject *s)
{
	(void)s;
	each_daemon(d, check_state);
}

static void check_locked_memory(const struct doctor *d, const char *who,
				const char *pid, const char *fix)
{
	uint64_t soft, hard;
	int rc = read_limit(d, pid, "Max locked memory", &soft, &hard);

	if (rc)
		doctor_unseen(d, "/proc/%s/limits: %s", pid, strerror(-rc));
	else if (soft < MEMLOCK_LEAST && !may_lock(d, pid))
		doctor_find(d, fix,
			    "%s may lock only %" PRIu64 " KiB of memory: "
			    "registering buffers for RDMA fails",
			    who, soft >> 10);
}

static void check_daemon_memlock(const struct doctor *d, const char *who,
				 const char *pid)
{
	check_locked_memory(
		d, who, pid,
		"LimitMEMLOCK=infinity in the unit (systemctl edit), memlock in "
		"/etc/security/limits.conf without one; restart it");
}

void check_memlock(const struct doctor *d, const struct subject *s)
{
	(void)s;
	if (!rdma_is_there(d))
		return;
	check_locked_memory(
		d, "a program of this user", "self",
		"memlock in /etc/security/limits.conf: * - memlock unlimited; "
		"log in anew");
	each_daemon(d, check_daemon_memlock);
}

static void check_daemon_files(const struct doctor *d, const char *who,
			       const char *pid)
{
	uint64_t soft, hard, need = conf_files(d, who);
	int rc = read_limit(d, pid, "Max open files", &soft, &hard);

	if (rc)
		doctor_unseen(d, "/proc/%s/limits: %s", pid, strerror(-rc));
	else if (hard < need)
		doctor_find(d,
			    "LimitNOFILE=1048576 in the unit (systemctl edit), "
			    "ulimit -n without one; or less max_sessions, "
			    "max_open in pvfs.conf",
			    "%s, process %s, may have %" PRIu64
			    " descriptors, and max_sessions and max_open "
			    "take %" PRIu64,
			    who, pid, hard, need);
}

void check_descriptors(const struct doctor *d, const struct subject *s)
{
	uint64_t soft, hard;
	int rc = read_limit(d, "self", "Max open files", &soft, &hard);

	(void)s;
	if (rc)
		doctor_unseen(d, "/proc/self/limits: %s", strerror(-rc));
	else if (hard < CLIENT_FILES)
		doctor_find(d,
			    "nofile in /etc/security/limits.conf: * - nofile "
			    "65536; log in anew",
			    "a program of this user may have %" PRIu64
			    " descriptors: each server takes one, and each "
			    "file",
			    hard);
	each_daemon(d, check_daemon_files);
}
