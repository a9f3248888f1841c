/* SPDX-License-Identifier: BSD-2-Clause */
/* managers_show.c - see managers_show.h. */
#include "client/tools/admin/managers_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/tools/common/tool.h"
#include "common/json/json_out.h"

#define MIB (1024.0 * 1024)

const char *managers_host(const char *address)
{
	const char *host = strstr(address, "://");

	return host ? host + 3 : address;
}

const char *managers_leader(const struct pvfs_managers *state)
{
	for (unsigned int i = 0; i < state->n; i++)
		if (state->member[i].id == state->leader)
			return managers_host(state->member[i].address);
	return "nobody";
}

static const char *role_of(const struct pvfs_managers *state,
			   const struct pvfs_member *m)
{
	if (m->id == state->leader)
		return "leader";
	return m->flags & PVFS_MEMBER_VOTER ? "follower" : "joining";
}

static const char *condition_of(const struct pvfs_member *m)
{
	if (!(m->flags & PVFS_MEMBER_RECENT))
		return "silent";
	if (m->flags & PVFS_MEMBER_FILLED)
		return "is filled";
	return "up";
}

bool managers_healthy(const struct pvfs_managers *state)
{
	const unsigned int good = PVFS_MEMBER_VOTER | PVFS_MEMBER_RECENT;

	for (unsigned int i = 0; i < state->n; i++)
		if ((state->member[i].flags & good) != good)
			return false;
	return !(state->flags & PVFS_MANAGERS_LOG_FULL);
}

/* The lag of a busy group always changes, so it is not part of the text. */
void managers_describe(const struct pvfs_member *m, char *text, size_t len)
{
	const char *host = managers_host(m->address);

	if (m->flags & PVFS_MEMBER_VOTER)
		snprintf(text, len, "%s is a voter", host);
	else if (!(m->flags & PVFS_MEMBER_RECENT))
		snprintf(text, len, "%s has joined, and is silent", host);
	else if (m->flags & PVFS_MEMBER_FILLED)
		snprintf(text, len, "%s gets the database: %.0f MiB", host,
			 (double)m->filled / MIB);
	else
		snprintf(text, len, "%s has joined, and reads the log", host);
}

static void print_member(const struct pvfs_managers *state,
			 const struct pvfs_member *m)
{
	tool_line(stdout,
		  "%-9s %-32s %-9s %10" PRIu64 " %10.1f  %016" PRIx64 "\n",
		  role_of(state, m), managers_host(m->address), condition_of(m),
		  m->lag, (double)m->filled / MIB, m->id);
}

void managers_text(const struct pvfs_managers *state)
{
	if (!state->n) {
		printf("one manager, without a group\n");
		return;
	}
	printf("term %" PRIu64 ", committed %" PRIu64
	       ", log %.1f of %.0f MiB%s%s\n",
	       state->term, state->committed, (double)state->log_bytes / MIB,
	       (double)state->log_limit / MIB,
	       state->flags & PVFS_MANAGERS_LOG_FULL ? ", full" : "",
	       state->flags & PVFS_MANAGERS_CHANGE ? ", a member is changed"
						   : "");
	printf("%-9s %-32s %-9s %10s %10s  %s\n", "role", "address", "state",
	       "lag", "filled MiB", "id");
	for (unsigned int i = 0; i < state->n; i++)
		print_member(state, &state->member[i]);
}

static struct json_object *member_object(const struct pvfs_managers *state,
					 const struct pvfs_member *m)
{
	struct json_object *o = json_object_new_object();

	json_id(o, "id", m->id);
	json_str(o, "address", m->address);
	json_str(o, "role", role_of(state, m));
	json_yes(o, "voter", m->flags & PVFS_MEMBER_VOTER);
	json_yes(o, "up", m->flags & PVFS_MEMBER_RECENT);
	json_yes(o, "filling", m->flags & PVFS_MEMBER_FILLED);
	json_u64(o, "lag", m->lag);
	json_u64(o, "filled_bytes", m->filled);
	return o;
}

void managers_json(const struct pvfs_managers *state)
{
	struct json_object *o = json_object_new_object(),
			   *list = json_object_new_array();

	json_u64(o, "term", state->term);
	json_id(o, "leader", state->leader);
	json_u64(o, "committed", state->committed);
	json_u64(o, "first", state->first);
	json_u64(o, "last", state->last);
	json_u64(o, "log_bytes", state->log_bytes);
	json_u64(o, "log_limit", state->log_limit);
	json_yes(o, "log_full", state->flags & PVFS_MANAGERS_LOG_FULL);
	json_yes(o, "changing", state->flags & PVFS_MANAGERS_CHANGE);
	json_yes(o, "healthy", managers_healthy(state));
	for (unsigned int i = 0; i < state->n; i++)
		json_object_array_add(list,
				      member_object(state, &state->member[i]));
	json_object_object_add(o, "members", list);
	json_line(o);
}
