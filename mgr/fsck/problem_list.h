/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * problem_list.h - the problems that a pass of fsck finds.
 *
 * The caller owns the list (zeroed at first).  -ENOMEM is the only error.
 */
#ifndef PROBLEM_LIST_H
#define PROBLEM_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum problem_kind {
	ORPHAN, /* an object whose file does not exist */
	STRAY, /* an object on an iod that is not in its file's layout */
	DANGLING, /* a name whose file does not exist */
	NAMELESS, /* a file with links and without a name */
	LINKS, /* a file whose link count is wrong */
};

struct problem {
	enum problem_kind kind;
	uint64_t handle;
	uint64_t dir; /* for DANGLING, the directory of the name */
	char name[256]; /* for DANGLING */
	uint32_t iod; /* for ORPHAN and STRAY */
	uint32_t copyset; /* for ORPHAN and STRAY; 0: the own one of the iod */
	uint32_t found, stored; /* for LINKS */
	bool repaired;
};
struct problem_list {
	struct problem *p;
	size_t n, room;
};

int problem_list_add(struct problem_list *list, const struct problem *p);
/* Sorts the list and removes duplicates. */
void problem_list_sort(struct problem_list *list);
/* Keeps only the problems that are also in other, which is sorted. */
void problem_list_intersect(struct problem_list *list,
			    const struct problem_list *other);
void problem_list_free(struct problem_list *list);

/* Makes room for element n of an array of elements of this size. */
int array_reserve(void *array, size_t *room, size_t n, size_t size);

#endif
