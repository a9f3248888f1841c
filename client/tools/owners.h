/* SPDX-License-Identifier: BSD-2-Clause */
/* owners.h - names of users and groups, each looked up once in a run. */
#ifndef OWNERS_H
#define OWNERS_H

struct owner;

/* Zero it. */
struct owners {
	struct owner *users, *groups;
};

/* The number, where there is no name.  Lives as long as owners. */
const char *owners_user(struct owners *owners, unsigned int uid);
const char *owners_group(struct owners *owners, unsigned int gid);
void owners_free(struct owners *owners);

#endif
