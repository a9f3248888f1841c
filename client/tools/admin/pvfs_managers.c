/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-managers - shows and changes the group of managers of a file system. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "client/tools/admin/managers_show.h"
#include "client/tools/common/tool.h"
#include "common/util/clock.h"
#include "common/util/conf.h"

#define POLL_US 100000
#define CONF_DEFAULT "/etc/pvfs/pvfs.conf"

struct managers_args {
	bool json;
	unsigned int timeout_ms, wait_s;
	const char *conf;
	const char *dir; /* path on the mount */
	char address[256]; /* of the member that is meant, "": any */
	struct pvfs_watch *watch;
	struct pvfs_managers state; /* the newest answer */
};

static int set_option(void *arg, int opt, const char *val)
{
	struct managers_args *a = arg;

	if (opt == 'j')
		a->json = true;
	else if (opt == 'c')
		a->conf = val;
	else if (opt == 't')
		a->timeout_ms = (unsigned int)tool_number(val);
	else
		a->wait_s = (unsigned int)tool_number(val);
	return 0;
}

static const struct tool_value values[] = { { 't', 1000, 3600000, NULL },
					    { 'w', 0, 86400, NULL },
					    { 'c', 0, 0, "a file" },
					    { 0 } };

static const struct option longs[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "config", required_argument, NULL, 'c' },
	{ "timeout", required_argument, NULL, 't' },
	{ "wait", required_argument, NULL, 'w' },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-managers",
	.usage = "[-t MS] [-w SECONDS] [-c FILE] COMMAND [MANAGER] PATH",
	.help = "Shows or changes the group of managers of the file system that PATH lies on.\n"
		"MANAGER: its address as status shows it, or N: that of [mgr.N] in pvfs.conf.\n"
		"  status [-j] PATH       the members, and what they lack\n"
		"  add MANAGER PATH       waits until it has joined and is a voter\n"
		"  remove MANAGER PATH    takes it out of the group\n"
		"  replace MANAGER PATH   takes it out, and waits until its new store has joined\n"
		"  transfer [MANAGER] PATH  makes it, or any other one, the leader\n"
		"  -j, --json             status: one JSON object\n"
		"  -c, --config FILE      for N (" CONF_DEFAULT ")\n"
		"  -t, --timeout MS       wait at most MS milliseconds for an answer (30000)\n"
		"  -w, --wait SECONDS     add and replace: wait at most so long (3600)\n"
		"Exit status 1 when a member is silent or not a voter yet, or the command failed.\n",
	.shorts = "jc:t:w:",
	.longs = longs,
	.values = values,
	.option = set_option,
};

/* ---- the group ---- */

static int report_error(const struct managers_args *a)
{
	switch (errno) {
	case EPERM:
		return tool_say(&tool,
				"%s: only root and the user that the manager "
				"runs as may do that",
				a->dir);
	case ENOTCONN:
		return tool_say(&tool, "%s: %s", a->dir, tool_cause(errno));
	case EBUSY:
		return tool_say(&tool,
				"%s: another change of the group is going on: "
				"wait until pvfs-managers status shows only "
				"voters, then repeat the command",
				a->dir);
	case EHOSTDOWN:
		return tool_say(&tool,
				"%s: refused: the managers that would remain "
				"and are up to date are no majority: repair "
				"one of the others first",
				a->dir);
	case ENOSYS:
		return tool_say(&tool,
				"%s: this file system has one manager, without "
				"a group, or one of an earlier release",
				a->dir);
	default:
		return tool_fail(&tool, a->dir);
	}
}

static int ask_leader(struct managers_args *a, enum pvfs_managers_command cmd,
		      uint64_t id)
{
	return pvfs_watch_managers(a->watch, cmd, id, &a->state);
}

/*
 * After a call failed: whether to repeat it, because the managers may be electing a leader, or
 * changing the group.  Pauses.
 */
static bool may_repeat(uint64_t end)
{
	int error = errno;

	if ((error != ENOTCONN && error != EBUSY) || clock_now() >= end)
		return false;
	usleep(POLL_US);
	errno = error;
	return true;
}

static int ask_state(struct managers_args *a, uint64_t end)
{
	while (ask_leader(a, PVFS_MANAGERS_STATUS, 0))
		if (!may_repeat(end))
			return report_error(a);
	return 0;
}

static const struct pvfs_member *find_address(const struct managers_args *a)
{
	for (unsigned int i = 0; i < a->state.n; i++)
		if (!strcasecmp(managers_host(a->state.member[i].address),
				a->address))
			return &a->state.member[i];
	return NULL;
}

/* Finds a member by its host without a port; the host must have only one member. */
static const struct pvfs_member *find_host(const struct managers_args *a)
{
	const struct pvfs_member *found = NULL;
	size_t len = strlen(a->address);

	for (unsigned int i = 0; i < a->state.n; i++) {
		const struct pvfs_member *m = &a->state.member[i];
		const char *host = managers_host(m->address);

		if (strncasecmp(host, a->address, len) || host[len] != ':')
			continue;
		if (found)
			return NULL;
		found = m;
	}
	return found;
}

static const struct pvfs_member *find_member(const struct managers_args *a)
{
	const struct pvfs_member *m = find_address(a);

	return m ? m : find_host(a);
}

static int report_no_member(const struct managers_args *a)
{
	return tool_say(&tool,
			"%s: no member of the group has the address %s: "
			"pvfs-managers status shows the members; if it was "
			"removed already, use add",
			a->dir, a->address);
}

/* ---- commands ---- */

static int show_status(struct managers_args *a)
{
	(a->json ? managers_json : managers_text)(&a->state);
	return managers_healthy(&a->state) ? 0 : 1;
}

/* Whether it is a voter; text: its state, as a line that is printed when it changes. */
static bool describe_progress(const struct managers_args *a, char *text,
			      size_t len)
{
	const struct pvfs_member *m = find_member(a);

	if (!m)
		snprintf(text, len,
			 "%s has not joined: write its [mgr.N] into pvfs.conf "
			 "on the hosts of all managers, restart these one by "
			 "one, and start it with an empty storage",
			 a->address);
	else
		managers_describe(m, text, len);
	return m && m->flags & PVFS_MEMBER_VOTER;
}

static int wait_for_voter(struct managers_args *a)
{
	uint64_t end = clock_after_ms(a->wait_s * 1000);
	char text[512], last[512] = "";

	for (;;) {
		bool is_voter = describe_progress(a, text, sizeof(text));

		if (strcmp(text, last) != 0) {
			tool_line(stdout, "%s\n", text);
			fflush(stdout);
			strcpy(last, text);
		}
		if (is_voter)
			return 0;
		if (clock_now() >= end)
			return tool_say(&tool,
					"%s: %s is no voter after %u s; it "
					"continues to join without this program",
					a->dir, a->address, a->wait_s);
		usleep(5 * POLL_US);
		if (ask_state(a, end))
			return EXIT_FAILURE;
	}
}

/* Whether member `to` leads; if it is 0, any member other than before. */
static bool is_handed_over(const struct managers_args *a, uint64_t before,
			   uint64_t to)
{
	return to ? a->state.leader == to
		  : a->state.leader && a->state.leader != before;
}

/*
 * Sends TRANSFER to the leader, at most once in each term; *asked is the term of the last
 * request.  A newly elected leader refuses with ENOTCONN, and with EHOSTDOWN until the target
 * answers and is almost up to date; both are retried.  If the reply is lost because the transfer
 * succeeded, the new leader refuses the repeated request with ENOENT, which counts as success.
 */
static int ask_transfer(struct managers_args *a, uint64_t to, uint64_t *asked)
{
	if (a->state.term == *asked)
		return 0;
	if (!ask_leader(a, PVFS_MANAGERS_TRANSFER, to) || errno == ENOENT)
		*asked = a->state.term;
	else if (errno != ENOTCONN && errno != EHOSTDOWN && errno != EBUSY)
		return report_error(a);
	return 0;
}

/*
 * Hands the leadership to member `to`, or to any other one if it is 0.  A transfer may fail, for
 * example if the target is busy or was just started; any manager may then be elected.  The
 * connection follows the leader.
 */
static int hand_over(struct managers_args *a, uint64_t to)
{
	uint64_t end = clock_after_ms(a->timeout_ms);
	uint64_t before = a->state.leader, asked = 0;

	do {
		if (ask_transfer(a, to, &asked) || ask_state(a, end))
			return EXIT_FAILURE;
		if (is_handed_over(a, before, to)) {
			printf("%s leads\n", managers_leader(&a->state));
			return 0;
		}
		usleep(POLL_US);
	} while (clock_now() < end);
	return tool_say(&tool,
			"%s: %s still leads after %u ms: check in "
			"pvfs-managers status that the other one is up and "
			"lacks few entries, then repeat the command",
			a->dir, managers_leader(&a->state), a->timeout_ms);
}

/* A member that is gone was removed by an earlier attempt, or by somebody else. */
static int remove_id(struct managers_args *a, uint64_t id)
{
	uint64_t end = clock_after_ms(a->timeout_ms);

	while (ask_leader(a, PVFS_MANAGERS_REMOVE, id)) {
		if (errno == ENOENT)
			return ask_state(a, end);
		if (!may_repeat(end))
			return report_error(a);
	}
	return 0;
}

static int remove_member(struct managers_args *a)
{
	const struct pvfs_member *m = find_member(a);
	char name[sizeof(m->address)];
	uint64_t id;

	if (!m)
		return report_no_member(a);
	id = m->id;
	snprintf(name, sizeof(name), "%s", managers_host(m->address));
	if (id == a->state.leader && hand_over(a, 0))
		return EXIT_FAILURE;
	if (remove_id(a, id))
		return EXIT_FAILURE;
	printf("%s is no member any more\n", name);
	return 0;
}

static int replace_member(struct managers_args *a)
{
	int status = remove_member(a);

	if (status)
		return status;
	printf("start its pvfs-mgr with an empty storage, if it does not run: "
	       "it joins by itself\n");
	return wait_for_voter(a);
}

static uint64_t leader_to_be(const struct managers_args *a)
{
	const struct pvfs_member *m = a->address[0] ? find_member(a) : NULL;

	return m ? m->id : 0;
}

static int transfer_leadership(struct managers_args *a)
{
	uint64_t id = leader_to_be(a);

	if (a->address[0] && !id)
		return report_no_member(a);
	if (id && id == a->state.leader) {
		printf("%s leads already\n", managers_leader(&a->state));
		return 0;
	}
	return hand_over(a, id);
}

static const struct command {
	const char *name;
	int (*run)(struct managers_args *a);
	bool takes, needs; /* a manager */
} commands[] = {
	{ "status", show_status, false, false },
	{ "add", wait_for_voter, true, true },
	{ "remove", remove_member, true, true },
	{ "replace", replace_member, true, true },
	{ "transfer", transfer_leadership, true, false },
	{ 0 },
};

/* ---- operands ---- */

/* N: the address of [mgr.N]. */
static int read_number(struct managers_args *a, const char *number)
{
	char err[512], section[32];
	struct conf_section in = { .name = section,
				   .err = err,
				   .errlen = sizeof(err) };
	struct conf *conf;
	const char *address;

	if (conf_load(a->conf, &conf, err, sizeof(err)))
		return tool_say(&tool, "%s; or name the manager by its address",
				err);
	snprintf(section, sizeof(section), "mgr.%.8s", number);
	in.conf = conf;
	address = conf_get(&in, "address");
	if (address)
		snprintf(a->address, sizeof(a->address), "%s",
			 managers_host(address));
	conf_free(conf);
	return address ? 0
		       : tool_say(&tool, "%s: there is no [%s] with an address",
				  a->conf, section);
}

static int read_manager(struct managers_args *a, const char *text)
{
	if (!text)
		return 0;
	if (strspn(text, "0123456789") == strlen(text))
		return read_number(a, text);
	snprintf(a->address, sizeof(a->address), "%s", managers_host(text));
	return 0;
}

static const struct command *read_operands(struct managers_args *a, int n,
					   char **operand, const char **manager)
{
	const struct command *c = commands;

	while (n && c->name && strcmp(c->name, operand[0]) != 0)
		c++;
	if (n < 2 || n > 3 || !c->name || (n == 3 && !c->takes) ||
	    (n == 2 && c->needs) || (a->json && c->run != show_status))
		tool_usage(&tool);
	*manager = n == 3 ? operand[1] : NULL;
	a->dir = operand[n - 1];
	return c;
}

/* Connects, and asks for the state.  To show it, no leader is awaited. */
static int open_group(struct managers_args *a, const struct command *c,
		      const char *uri)
{
	uint64_t end = clock_after_ms(a->timeout_ms);

	while (pvfs_watch_open(a->dir, uri, (int)a->timeout_ms, &a->watch))
		if (c->run == show_status || !may_repeat(end))
			return -1;
	while (ask_leader(a, PVFS_MANAGERS_STATUS, 0))
		if (c->run == show_status || !may_repeat(end))
			return -1;
	return 0;
}

static int run_command(struct managers_args *a, const struct command *c)
{
	struct pvfs_server mgr;
	int status;

	if (pvfs_manager(a->dir, &mgr))
		return tool_off_mount(&tool, a->dir);
	status = open_group(a, c, mgr.uri) ? report_error(a) : c->run(a);
	pvfs_watch_close(a->watch);
	return status;
}

int main(int argc, char **argv)
{
	struct managers_args a = { .timeout_ms = 30000,
				   .wait_s = 3600,
				   .conf = CONF_DEFAULT };
	int i = tool_options(&tool, argc, argv, &a), status;
	const char *manager;
	const struct command *c = read_operands(&a, argc - i, argv + i,
						&manager);

	status = read_manager(&a, manager);
	return tool_done(&tool, status ? status : run_command(&a, c));
}
