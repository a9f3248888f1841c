/* SPDX-License-Identifier: BSD-2-Clause */
/* evict_who.c - see evict_who.h. */
#include "client/tools/admin/evict_who.h"

#include <netdb.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/number.h"

static int parse_session(struct pvfs_evict *what, const char *val)
{
	what->by = PVFS_EVICT_SESSION;
	return number_parse_hex(val, UINT64_MAX, &what->session) ||
			       !what->session
		       ? -1
		       : 0;
}

static int parse_user(struct pvfs_evict *what, const char *val)
{
	const struct passwd *pw = getpwnam(val);
	uint64_t uid = pw ? pw->pw_uid : 0;

	what->by = PVFS_EVICT_USER;
	if (!pw && number_parse(val, UINT32_MAX, &uid))
		return -1;
	what->uid = (unsigned int)uid;
	return 0;
}

static int add_word(struct evict_who *who, const char *text)
{
	size_t len = strlen(who->text);

	if (!*text || len + strlen(text) + 1 >= sizeof(who->text))
		return -1;
	if (len)
		who->text[len++] = ' ';
	strcpy(who->text + len, text);
	who->what.text = who->text;
	return 0;
}

/* Adds each address once, as a number, without the scope of a link-local address. */
static int add_address(struct evict_who *who, const struct addrinfo *ai)
{
	char name[NI_MAXHOST];

	if (getnameinfo(ai->ai_addr, ai->ai_addrlen, name, sizeof(name), NULL,
			0, NI_NUMERICHOST))
		return -1;
	name[strcspn(name, "%")] = '\0';
	return add_word(who, name);
}

/* The manager knows hosts by their addresses. */
static int look_up(struct evict_who *who, const char *val)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *all, *ai;
	int rc = 0;

	if (getaddrinfo(val, NULL, &hints, &all))
		return -1;
	for (ai = all; !rc && ai; ai = ai->ai_next)
		rc = add_address(who, ai);
	freeaddrinfo(all);
	return rc;
}

static int parse_host(struct evict_who *who, const char *val)
{
	who->what.by = PVFS_EVICT_HOST;
	if (!strcmp(val, "local") || strpbrk(val, "/ ,"))
		return add_word(who, val);
	return look_up(who, val);
}

static int parse_job(struct evict_who *who, const char *val)
{
	who->what.by = PVFS_EVICT_JOB;
	return add_word(who, val);
}

int evict_who(struct evict_who *who, int opt, const char *val)
{
	if (who->given)
		return -1;
	who->given = true;
	switch (opt) {
	case 's':
		return parse_session(&who->what, val);
	case 'u':
		return parse_user(&who->what, val);
	case 'J':
		return parse_job(who, val);
	default:
		return parse_host(who, val);
	}
}
