/* SPDX-License-Identifier: BSD-2-Clause */
/* owner_names.c - see owner_names.h. */
#include "client/tools/common/owner_names.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <uthash.h>

#include "common/util/number.h"

struct owner {
	UT_hash_handle hh; /* by id */
	unsigned int id;
	char name[64];
};

static const char *user_name(unsigned int uid)
{
	const struct passwd *pw = getpwuid(uid);

	return pw ? pw->pw_name : NULL;
}

static const char *group_name(unsigned int gid)
{
	const struct group *gr = getgrgid(gid);

	return gr ? gr->gr_name : NULL;
}

static const char *find_or_add(struct owner **table, unsigned int id,
			       const char *(*look)(unsigned int id))
{
	struct owner *o;
	const char *name;

	HASH_FIND(hh, *table, &id, sizeof(id), o);
	if (o)
		return o->name;
	o = calloc(1, sizeof(*o));
	if (!o)
		return "?";
	o->id = id;
	name = look(id);
	if (name)
		snprintf(o->name, sizeof(o->name), "%s", name);
	else
		snprintf(o->name, sizeof(o->name), "%u", id);
	HASH_ADD(hh, *table, id, sizeof(o->id), o);
	return o->name;
}

const char *owner_names_user(struct owner_names *owners, unsigned int uid)
{
	return find_or_add(&owners->users, uid, user_name);
}

const char *owner_names_uid(struct owner_names *owners, const char *uid)
{
	uint64_t n;

	return number_parse(uid, UINT32_MAX, &n)
		       ? uid
		       : owner_names_user(owners, (unsigned int)n);
}

const char *owner_names_group(struct owner_names *owners, unsigned int gid)
{
	return find_or_add(&owners->groups, gid, group_name);
}

static void free_all(struct owner **table)
{
	struct owner *o, *next;

	HASH_ITER(hh, *table, o, next) {
		HASH_DEL(*table, o);
		free(o);
	}
}

void owner_names_free(struct owner_names *owners)
{
	free_all(&owners->users);
	free_all(&owners->groups);
}
