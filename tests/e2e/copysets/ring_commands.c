/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring_commands.c - makes rings of copysets, and changes copysets, in a manager that serves.  It
 * gets its commands from a FIFO, which the environment variable PVFS_TEST_COMMANDS names: see
 * ../copysets.sh.  Each command is a line that begins with a number.  The manager logs the number
 * and the result when the change is durable.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mgr/copyset/copyset_rows.h"
#include "mgr/jobs/jobs.h"

#define POLL_MS 10
#define COPYSETS_MAX 1024u

int __real_jobs_open(struct mgr *mgr,
		     void (*fenced)(struct mgr *mgr, uint64_t session));
int __wrap_jobs_open(struct mgr *mgr,
		     void (*fenced)(struct mgr *mgr, uint64_t session));
void __real_jobs_close(struct mgr *mgr);
void __wrap_jobs_close(struct mgr *mgr);

static struct {
	struct mgr *mgr;
	int fd;
	struct rpc_timer timer;
	char text[4096]; /* commands that were read */
	size_t len;
	struct flusher_item item;
	bool busy; /* the item waits for the command `number` */
	unsigned long number;
	struct { /* by this command */
		struct copyset old, now; /* old.n 0: it is new */
	} changed[COPYSETS_MAX];
	uint32_t nchanged;
} commands = { .fd = -1 };

int __real_rpc_server_open(const struct rpc_server_attr *attr,
			   struct rpc_server **server);
int __wrap_rpc_server_open(const struct rpc_server_attr *attr,
			   struct rpc_server **server);

/* No manager of this release names the feature. */
int __wrap_rpc_server_open(const struct rpc_server_attr *attr,
			   struct rpc_server **server)
{
	struct rpc_server_attr with = *attr;

	with.features |= WIRE_FT_COPIES;
	return __real_rpc_server_open(&with, server);
}

/* ---- changes ---- */

static void note_change(const struct copyset *old, const struct copyset *now)
{
	commands.changed[commands.nchanged].old = *old;
	commands.changed[commands.nchanged++].now = *now;
}

/* After the commit. */
static void tell_changes(struct mgr *mgr)
{
	for (uint32_t i = 0; i < commands.nchanged; i++) {
		const struct copyset *old = &commands.changed[i].old;

		copyset_changed(mgr, old->n ? old : NULL,
				&commands.changed[i].now);
	}
}

/* New files are in the new ring. */
static int use_design(struct mgr *mgr, uint32_t copies,
		      const struct copyset_design *design)
{
	struct ring ring;
	int rc = ring_make(mgr->st, copies, design, &ring);

	if (rc)
		return rc;
	mgr->ns.ring = ring;
	for (uint32_t j = 0; j < design->n; j++) {
		const struct copyset none = { 0 };
		struct copyset set;

		rc = copyset_get(mgr->st, ring.first + j, &set);
		if (rc)
			return rc;
		note_change(&none, &set);
	}
	return 0;
}

/* Copyset j of the new ring is at iod j % niods. */
static int make_ring(struct mgr *mgr, uint32_t n)
{
	static uint16_t member[COPYSETS_MAX][COPYSET_COPIES_MAX];
	const struct copyset_design design = { n, member };

	if (!n || n > COPYSETS_MAX)
		return -EINVAL;
	for (uint32_t j = 0; j < n; j++)
		member[j][0] = (uint16_t)(j % mgr->conf.niods);
	return use_design(mgr, 1, &design);
}

/* Each iod is a domain of its own, because all iods of a test are on one host. */
static int make_ring_with_copies(struct mgr *mgr, uint32_t copies)
{
	uint32_t domain[COPYSETS_MAX], crowded;
	struct copyset_design design;
	int rc;

	if (copies < 2 || copies > COPYSET_COPIES_MAX ||
	    mgr->conf.niods > COPYSETS_MAX / COPYSET_ROUNDS_MAX)
		return -EINVAL;
	for (uint32_t i = 0; i < mgr->conf.niods; i++)
		domain[i] = i;
	rc = copyset_design_make(mgr->conf.niods, copies, domain, &design,
				 &crowded);
	if (rc)
		return rc;
	rc = use_design(mgr, copies, &design);
	copyset_design_free(&design);
	return rc;
}

/* iod UINT32_MAX: the copyset gets a new version, and keeps its member. */
static int move_copyset(struct mgr *mgr, uint32_t id, uint32_t iod)
{
	struct copyset old, now;
	int rc = copyset_get(mgr->st, id, &old);

	if (rc)
		return rc;
	if (iod != UINT32_MAX && iod >= mgr->conf.niods)
		return -EINVAL;
	now = old;
	if (iod != UINT32_MAX)
		now.member[0].iod = iod;
	rc = copyset_change(mgr->st, &now);
	if (!rc)
		note_change(&old, &now);
	return rc;
}

static int move_all(struct mgr *mgr)
{
	uint32_t id = COPYSET_FIRST;
	int rc = 0;

	while (commands.nchanged < COPYSETS_MAX &&
	       !(rc = move_copyset(mgr, id, UINT32_MAX)))
		id++;
	return rc == -ENOENT && id > COPYSET_FIRST ? 0 : rc;
}

static int change(struct mgr *mgr, const char *command)
{
	unsigned int a, b;

	if (sscanf(command, "ring %u", &a) == 1)
		return make_ring(mgr, a);
	if (sscanf(command, "copies %u", &a) == 1)
		return make_ring_with_copies(mgr, a);
	if (sscanf(command, "move %u %u", &a, &b) == 2)
		return move_copyset(mgr, a, b);
	if (sscanf(command, "renew %u", &a) == 1)
		return move_copyset(mgr, a, UINT32_MAX);
	return strcmp(command, "renew all") ? -EINVAL : move_all(mgr);
}

/* ---- commands ---- */

static void report(int rc)
{
	log_info(commands.mgr->log, "command %lu: %s", commands.number,
		 rc ? strerror(-rc) : "done");
}

static void on_durable(struct flusher_item *item)
{
	commands.busy = false;
	report(0);
}

static void run_command(const char *line)
{
	struct mgr *mgr = commands.mgr;
	char *command;
	int rc;

	commands.number = strtoul(line, &command, 10);
	commands.nchanged = 0;
	rc = ns_begin(&mgr->ns);
	if (!rc) {
		rc = change(mgr, command + (*command == ' '));
		commands.item.durable = on_durable;
		rc = mgr_end_transaction(mgr, rc, &commands.item);
	}
	commands.busy = !rc;
	if (rc)
		report(rc);
	else
		tell_changes(mgr);
}

/* One command at a time; the first line of the text is complete. */
static void run_first(char *end)
{
	*end++ = '\0';
	run_command(commands.text);
	commands.len -= (size_t)(end - commands.text);
	memmove(commands.text, end, commands.len);
}

static void on_poll(struct rpc_timer *timer)
{
	ssize_t n = read(commands.fd, commands.text + commands.len,
			 sizeof(commands.text) - commands.len);
	char *end;

	if (n > 0)
		commands.len += (size_t)n;
	end = memchr(commands.text, '\n', commands.len);
	if (end && !commands.busy)
		run_first(end);
	rpc_timer_set(commands.mgr->ctx, timer, clock_after_ms(POLL_MS));
}

/* After a restart, new files are in the newest ring again. */
static int use_last_ring(struct mgr *mgr)
{
	struct ring ring;
	uint32_t id = 0;
	int rc;

	while (!(rc = ring_get(mgr->st, id, &ring))) {
		mgr->ns.ring = ring;
		id++;
	}
	return rc == -ENOENT ? 0 : rc;
}

int __wrap_jobs_open(struct mgr *mgr,
		     void (*fenced)(struct mgr *mgr, uint64_t session))
{
	const char *path = getenv("PVFS_TEST_COMMANDS");
	int rc = __real_jobs_open(mgr, fenced);

	if (!rc)
		rc = use_last_ring(mgr);
	if (rc || !path)
		return rc;
	if (mkfifo(path, 0600) && errno != EEXIST)
		return -errno;
	commands.mgr = mgr;
	commands.busy = false;
	commands.fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (commands.fd < 0)
		return -errno;
	commands.timer.fire = on_poll;
	rpc_timer_set(mgr->ctx, &commands.timer, clock_after_ms(POLL_MS));
	return 0;
}

void __wrap_jobs_close(struct mgr *mgr)
{
	if (commands.fd >= 0) {
		rpc_timer_clear(mgr->ctx, &commands.timer);
		close(commands.fd);
		commands.fd = -1;
	}
	__real_jobs_close(mgr);
}
