/* SPDX-License-Identifier: BSD-2-Clause */
/* requester_groups.c - see requester_groups.h. */
#include "client/fuse/requester_groups.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_FEW 4096u

/* The text of a file, terminated. */
struct status_text {
	char *at; /* few, or memory of its own */
	size_t len, room;
	char few[STATUS_FEW];
};

static int status_text_grow(struct status_text *text)
{
	size_t room = 4 * text->room;
	char *at = realloc(text->at == text->few ? NULL : text->at, room);

	if (!at)
		return -ENOMEM;
	if (text->at == text->few)
		memcpy(at, text->few, text->len);
	text->at = at;
	text->room = room;
	return 0;
}

static void status_text_free(struct status_text *text)
{
	if (text->at != text->few)
		free(text->at);
}

/* After an error too, the caller calls status_text_free(). */
static int status_text_read(int fd, struct status_text *text)
{
	text->at = text->few;
	text->len = 0;
	text->room = sizeof(text->few);
	for (;;) {
		ssize_t n = read(fd, text->at + text->len,
				 text->room - 1 - text->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text->len += (size_t)n;
		text->at[text->len] = '\0';
		if (!n)
			return 0;
		if (text->len == text->room - 1 && status_text_grow(text))
			return -ENOMEM;
	}
}

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

int requester_groups_read(pid_t thread, struct requester_groups *groups)
{
	struct status_text text;
	const char *line;
	char path[64];
	int fd, rc;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = status_text_read(fd, &text);
	close(fd);
	line = rc ? NULL : strstr(text.at, "\nGroups:");
	if (line)
		rc = groups_parse(line + strlen("\nGroups:"), groups);
	else if (!rc)
		rc = -EBADMSG;
	status_text_free(&text);
	return rc;
}

void requester_groups_free(struct requester_groups *groups)
{
	if (groups->gid != groups->few)
		free(groups->gid);
}
