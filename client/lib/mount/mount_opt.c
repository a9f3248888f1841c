/* SPDX-License-Identifier: BSD-2-Clause */
/* mount_opt.c - the options of pvfstab(5), their values, and where they are stored. */
#include "client/lib/mount/mount_opt_int.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/fabric/fabric_conf.h"
#include "common/comm/fabric/rendezvous.h"

#define TIMEOUT_MAX_S 86400

static bool option_number(const char *text, unsigned long min,
			  unsigned long max, unsigned long *val)
{
	char *end;
	unsigned long n;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoul(text, &end, 10);
	if (*end || errno || n < min || n > max)
		return false;
	*val = n;
	return true;
}

/* Options of fstab(5) that are accepted and have no effect. */
static bool option_has_no_effect(const char *name)
{
	static const char *const names[] = { "defaults", "rw",	 "auto",
					     "noauto",	 "user", "_netdev" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

/* A user name or number, whose servers on this host are trusted. */
static bool parse_user(const char *text, unsigned long *uid)
{
	struct passwd pw, *found = NULL;
	char buf[1024];

	if (option_number(text, 0, UINT32_MAX - 1, uid))
		return true;
	if (getpwnam_r(text, &pw, buf, sizeof(buf), &found) || !found)
		return false;
	*uid = found->pw_uid;
	return true;
}

static bool set_port(const char *val, struct mount_opt *opt)
{
	return option_number(val, 1, 65535, &opt->port);
}

static bool set_timeout(const char *val, struct mount_opt *opt)
{
	return option_number(val, 1, TIMEOUT_MAX_S, &opt->timeout);
}

static bool set_dead_peer(const char *val, struct mount_opt *opt)
{
	return option_number(val, 1, FABRIC_DEAD_MAX_S, &opt->dead_peer);
}

static bool set_server_user(const char *val, struct mount_opt *opt)
{
	return parse_user(val, &opt->server_uid);
}

static bool set_auth(const char *val, struct mount_opt *opt)
{
	return !auth_mode_parse(val, &opt->mount->auth);
}

static bool set_seal(const char *val, struct mount_opt *opt)
{
	return !seal_mode_parse(val, &opt->mount->seal);
}

static bool copy_path(const char *val, char *path, size_t max)
{
	if (*val != '/' || strlen(val) >= max)
		return false;
	strcpy(path, val);
	return true;
}

static bool set_key(const char *val, struct mount_opt *opt)
{
	return copy_path(val, opt->mount->key, sizeof(opt->mount->key));
}

static bool set_munge_socket(const char *val, struct mount_opt *opt)
{
	return copy_path(val, opt->mount->munge_socket,
			 sizeof(opt->mount->munge_socket));
}

static bool set_transport(const char *val, struct mount_opt *opt)
{
	opt->transport = val;
	return *val;
}

static bool set_fabric(const char *val, struct mount_opt *opt)
{
	opt->fabric = val;
	return fabric_option_ok(val);
}

static bool set_inline_max(const char *val, struct mount_opt *opt)
{
	return !sizes_parse(val, &opt->mount->inline_max);
}

static bool set_fast_max(const char *val, struct mount_opt *opt)
{
	return !sizes_parse(val, &opt->mount->fast_max);
}

static bool set_direct(const char *val, struct mount_opt *opt)
{
	opt->mount->indirect = !strcmp(val, "off");
	return opt->mount->indirect || !strcmp(val, "on");
}

static bool set_rendezvous(const char *val, struct mount_opt *opt)
{
	return !rendezvous_parse(val, &opt->mount->adaptive);
}

static const struct {
	const char *name;
	bool (*set)(const char *val, struct mount_opt *opt);
	const char *want;
} known[] = {
	{ "port", set_port, "1 to 65535" },
	{ "timeout", set_timeout, "1 to 86400 (seconds)" },
	{ "dead_peer", set_dead_peer, "1 to 3600 (seconds)" },
	{ "transport", set_transport, "NAME" },
	{ "fabric", set_fabric, "auto, NAME:NAME or strict:NAME" },
	{ "inline_max", set_inline_max, SIZES_WANT },
	{ "fast_max", set_fast_max, SIZES_WANT },
	{ "direct", set_direct, "on or off" },
	{ "rendezvous", set_rendezvous, RENDEZVOUS_WANT },
	{ "auth", set_auth, AUTH_WANT },
	{ "seal", set_seal, SEAL_WANT },
	{ "key", set_key, "an absolute path" },
	{ "munge_socket", set_munge_socket, "an absolute path" },
	{ "server_user", set_server_user, "the name or number of a user" },
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

/* The name of an RDMA device setting without the prefix, or NULL. */
static const char *rdma_key(const char *name)
{
	size_t n = strlen(RDMA_KEY);

	return strncmp(name, RDMA_KEY, n) ? NULL : name + n;
}

/* Describes the valid values of the option.  NULL: there is no such option. */
static const char *option_valid_values(const char *name)
{
	const char *key = rdma_key(name);
	size_t i;

	for (i = 0; i < KNOWN; i++) {
		if (!strcmp(known[i].name, name))
			return known[i].want;
	}
	return key ? rdma_opt_want(key) : NULL;
}

static bool option_set_value(const char *name, const char *val,
			     struct mount_opt *opt)
{
	const char *key = rdma_key(name);
	size_t i;

	for (i = 0; i < KNOWN; i++) {
		if (!strcmp(known[i].name, name))
			return known[i].set(val, opt);
	}
	return key && !rdma_opt_set(&opt->mount->rdma, key, val);
}

static bool option_read(char *text, struct mount_opt *opt)
{
	char *val = strchr(text, '=');
	bool ok;

	if (!val)
		return option_has_no_effect(text);
	*val = '\0';
	ok = option_set_value(text, val + 1, opt);
	*val = '='; /* restored for messages */
	return ok;
}

/* Words without a value may be repeated: they have no effect. */
static bool option_is_repeated(const char *text, const char *word)
{
	size_t len = strcspn(word, "=");
	const char *w;

	if (!word[len])
		return false;
	for (w = text + strspn(text, ","); w < word;
	     w += strlen(w) + 1, w += strspn(w, ",")) {
		if (!strncmp(w, word, len + 1))
			return true;
	}
	return false;
}

const char *mount_opt_read(char *text, struct mount_opt *opt)
{
	char *save = NULL, *word;

	for (word = strtok_r(text, ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		if (option_is_repeated(text, word) || !option_read(word, opt))
			return word;
	}
	return NULL;
}

const char *mount_opt_flaw(const char *text, const char *bad, char *why,
			   size_t max)
{
	const char *more = strlen(bad) > PVFSTAB_SHOWN ? "..." : "";
	int len = (int)strcspn(bad, "=");
	char *name = strndup(bad, (size_t)len);
	const char *right = name ? option_valid_values(name) : NULL;

	if (option_is_repeated(text, bad))
		snprintf(why, max,
			 "option \"%.*s%s\": %.*s is there before; take one "
			 "of the two out",
			 PVFSTAB_SHOWN, bad, more, len, bad);
	else if (right)
		snprintf(why, max, "option \"%.*s%s\": write %s=%s",
			 PVFSTAB_SHOWN, bad, more, name, right);
	else
		snprintf(why, max,
			 "option \"%.*s%s\" is unknown: correct its name, or "
			 "take it out; see pvfstab(5)",
			 PVFSTAB_SHOWN, bad, more);
	free(name);
	return why;
}
