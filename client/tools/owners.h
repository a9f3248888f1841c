/* SPDX-License-Identifier: BSD-2-Clause */
/* owners.h - names of users and groups, each looked up once per run. */
#ifndef OWNERS_H
#define OWNERS_H

struct owner;

/* Initialize with zeros. */
struct owners {
	struct owner *users, *groups;
};

/* Returns the name, or the number if there is none.  Valid as long as owners. */
const char *owners_user(struct owners *owners, unsigned int uid);
const char *owners_group(struct owners *owners, unsigned int gid);
void owners_free(struct owners *owners);

#endif
