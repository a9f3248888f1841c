/* SPDX-License-Identifier: BSD-2-Clause */
/* owner_names.h - names of users and groups, each looked up once per run. */
#ifndef OWNER_NAMES_H
#define OWNER_NAMES_H

struct owner;

/* Initialize with zeros. */
struct owner_names {
	struct owner *users, *groups;
};

/* Returns the name, or the number if there is none.  Valid as long as owners. */
const char *owner_names_user(struct owner_names *owners, unsigned int uid);
/* The same for a number that is text; returns the text if it is no number. */
const char *owner_names_uid(struct owner_names *owners, const char *uid);
const char *owner_names_group(struct owner_names *owners, unsigned int gid);
void owner_names_free(struct owner_names *owners);

#endif
