/* SPDX-License-Identifier: BSD-2-Clause */
/* problem_list.c - the problems that a pass of fsck finds. */
#include "mgr/fsck/problem_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CMP(a, b)                                                              \
	do {                                                                   \
		if ((a) != (b))                                                \
			return (a) < (b) ? -1 : 1;                             \
	} while (0)

static int compare_problems(const void *va, const void *vb)
{
	const struct problem *a = va, *b = vb;

	CMP(a->kind, b->kind);
	CMP(a->handle, b->handle);
	CMP(a->dir, b->dir);
	CMP(a->iod, b->iod);
	CMP(a->copyset, b->copyset);
	CMP(a->found, b->found);
	CMP(a->stored, b->stored);
	return strcmp(a->name, b->name);
}

int array_reserve(void *array, size_t *room, size_t n, size_t size)
{
	void **p = array;
	void *grown;

	if (n < *room)
		return 0;
	grown = realloc(*p, (2 * n + 16) * size);
	if (!grown)
		return -ENOMEM;
	*p = grown;
	*room = 2 * n + 16;
	return 0;
}

int problem_list_add(struct problem_list *list, const struct problem *p)
{
	int rc = array_reserve(&list->p, &list->room, list->n, sizeof(*p));

	if (!rc)
		list->p[list->n++] = *p;
	return rc;
}

/* A file without a name can have many objects. */
void problem_list_sort(struct problem_list *list)
{
	size_t n = 0;

	if (list->n)
		qsort(list->p, list->n, sizeof(list->p[0]), compare_problems);
	for (size_t i = 0; i < list->n; i++)
		if (!n || compare_problems(&list->p[n - 1], &list->p[i]))
			list->p[n++] = list->p[i];
	list->n = n;
}

void problem_list_intersect(struct problem_list *list,
			    const struct problem_list *other)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		if (other->n && bsearch(&list->p[i], other->p, other->n,
					sizeof(list->p[0]), compare_problems))
			list->p[n++] = list->p[i];
	list->n = n;
}

void problem_list_free(struct problem_list *list)
{
	free(list->p);
	*list = (struct problem_list){ 0 };
}
