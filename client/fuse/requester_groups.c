/* SPDX-License-Identifier: BSD-2-Clause */
/* requester_groups.c - see requester_groups.h. */
#include "client/fuse/requester_groups.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/session/coroutine.h"
#include "common/util/watched_descriptor.h"

#define STATUS_BUFFER 4096u
#define MANY 1024u /* takes longer to read than it takes to create a thread */

/* line: numbers with blanks between them, up to the end of the line. */
static int groups_parse(const char *line, struct requester_groups *groups)
{
	size_t room = REQUESTER_GROUPS_FEW, len = strcspn(line, "\n");
	const char *end = line + len;
	char *next;

	groups->n = 0;
	groups->gid = groups->few;
	if (len / 2 >= room) { /* a group has a digit and a blank at least */
		groups->gid = calloc(len / 2 + 1, sizeof(*groups->gid));
		if (!groups->gid)
			return -ENOMEM;
	}
	while ((line += strspn(line, " \t")) < end) {
		groups->gid[groups->n++] = (uint32_t)strtoul(line, &next, 10);
		if (next == line) {
			requester_groups_free(groups);
			return -EBADMSG;
		}
		line = next;
	}
	return 0;
}

/* The line of the groups, which the caller frees, or NULL with errno. */
static char *status_read_groups(FILE *f)
{
	size_t room = 0;
	char *line = NULL;

	while (errno = 0, getline(&line, &room, f) > 0)
		if (!strncmp(line, "Groups:", strlen("Groups:")))
			return line;
	if (!errno)
		errno = EBADMSG;
	free(line);
	return NULL;
}

int requester_groups_read(pid_t thread, struct requester_groups *groups)
{
	char path[64], buffer[STATUS_BUFFER], *line;
	FILE *f;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	setvbuf(f, buffer, _IOFBF, sizeof(buffer));
	line = status_read_groups(f);
	rc = line ? groups_parse(line + strlen("Groups:"), groups) : -errno;
	free(line);
	fclose(f);
	return rc;
}

/* ---- long lists ---- */

struct reading {
	pid_t thread;
	struct requester_groups *groups;
};

static int read_aside(void *arg)
{
	const struct reading *r = arg;

	return requester_groups_read(r->thread, r->groups);
}

/*
 * Reads a long list while other requests are served.  If no thread can be created for this, they
 * wait.
 */
static int read_many(pid_t thread, struct requester_groups *groups)
{
	struct reading r = { thread, groups };
	int rc;

	if (!coroutine_self())
		watched_descriptor_hand_over();
	rc = coroutine_aside(read_aside, &r);
	return rc == -EAGAIN ? requester_groups_read(thread, groups) : rc;
}

int requester_groups_get(struct requester_users *users, uint32_t uid,
			 pid_t thread, struct requester_groups *groups)
{
	_Atomic uint32_t *place = &users->uid[uid % REQUESTER_GROUPS_USERS];
	bool many = atomic_load_explicit(place, memory_order_relaxed) == uid;
	int rc = many ? read_many(thread, groups)
		      : requester_groups_read(thread, groups);

	if (!rc && many != (groups->n >= MANY))
		atomic_store_explicit(place, many ? 0 : uid,
				      memory_order_relaxed);
	return rc;
}

void requester_groups_free(struct requester_groups *groups)
{
	if (groups->gid != groups->few)
		free(groups->gid);
}
