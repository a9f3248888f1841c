/* SPDX-License-Identifier: BSD-2-Clause */
/* server_auth.c - [filesystem] auth, and its related settings. */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/cluster/server_conf.h"

#define DAY_S 86400u
#define LIFE_MIN_S 4u

static int find_user(const char *name, uint32_t *uid)
{
	struct passwd pw, *found = NULL;
	char buf[4096], *end;
	unsigned long n;

	if (*name >= '0' && *name <= '9') {
		errno = 0;
		n = strtoul(name, &end, 10);
		if (*end || errno || n >= UINT32_MAX)
			return -EINVAL;
		getpwuid_r((uid_t)n, &pw, buf, sizeof(buf), &found);
	} else {
		getpwnam_r(name, &pw, buf, sizeof(buf), &found);
	}
	if (!found)
		return -ENOENT;
	*uid = found->pw_uid;
	return 0;
}

static int read_user(const struct conf_section *in, struct server_auth *auth)
{
	const char *name = conf_get(in, "key_user");

	if (!name)
		return conf_complain(in, "key_user",
				     "missing; with auth = key write whose the "
				     "holders of the key are: key_user = NAME");
	if (find_user(name, &auth->key_user))
		return conf_complain(in, "key_user",
				     "write the name or number of a user of "
				     "this host");
	return 0;
}

static int read_socket(const struct conf_section *in, struct server_auth *auth)
{
	const char *path = conf_get(in, "munge_socket");

	if (!path)
		return 0;
	if (path[0] != '/' || strlen(path) >= sizeof(auth->munge_socket))
		return conf_complain(in, "munge_socket",
				     "write an absolute path of less than 108 "
				     "characters");
	strcpy(auth->munge_socket, path);
	return 0;
}

/* The default depends on auth: with auth = sys, clients share no key with the servers. */
static int read_seal(const struct conf_section *in, const char *key,
		     struct server_auth *auth)
{
	const char *text = conf_get(in, "seal");

	auth->seal = auth->mode == AUTH_SYS ? SEAL_NONE : SEAL_AUTH;
	if (text && seal_mode_parse(text, &auth->seal))
		return conf_complain(in, "seal", "write " SEAL_WANT);
	if (auth->seal && !key[0])
		return conf_complain(in, "seal",
				     "needs a key that the servers share; add "
				     "key = FILE");
	return 0;
}

/* With auth = sys, anyone can claim any uid, so capabilities would protect no file. */
static int read_caps(const struct conf_section *in, struct server_auth *auth)
{
	const char *text = conf_get(in, "capabilities");

	auth->caps = auth->mode != AUTH_SYS;
	if (!text)
		return 0;
	if (strcmp(text, "on") && strcmp(text, "off"))
		return conf_complain(in, "capabilities", "write on or off");
	auth->caps = !strcmp(text, "on");
	if (auth->caps && auth->mode == AUTH_SYS)
		return conf_complain(in, "capabilities",
				     "are for users who prove who they are; "
				     "add auth = munge or key");
	return 0;
}

int server_conf_auth(const struct conf_section *in, const char *key,
		     struct server_auth *auth)
{
	struct server_auth got = { .mode = AUTH_SYS, .ticket_life = DAY_S };
	const char *mode = conf_get(in, "auth");
	int rc = 0;

	if (mode && auth_mode_parse(mode, &got.mode))
		return conf_complain(in, "auth", "write " AUTH_WANT);
	if (got.mode != AUTH_SYS && !key[0])
		return conf_complain(in, "auth",
				     "needs a key that the servers share; add "
				     "key = FILE");
	if (got.mode == AUTH_KEY)
		rc = read_user(in, &got);
	if (!rc)
		rc = read_socket(in, &got);
	if (!rc)
		rc = conf_uint(in, "ticket_life", LIFE_MIN_S, 30 * DAY_S,
			       &got.ticket_life);
	if (!rc)
		rc = read_seal(in, key, &got);
	if (!rc)
		rc = read_caps(in, &got);
	if (!rc)
		*auth = got;
	return rc;
}
