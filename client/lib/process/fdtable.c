/* SPDX-License-Identifier: BSD-2-Clause */
/* fdtable.c - an array of files under a lock. */
#include "client/lib/process/fdtable_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void fdtable_init(struct fdtable *t)
{
	pthread_mutex_init(&t->lock, NULL);
	stub_init(&t->stub);
	handover_init(&t->handover);
	t->file = NULL;
	t->n = 0;
}

void fdtable_empty(struct fdtable *t, void (*fn)(struct file *f))
{
	int fd;

	for (fd = 0; fd < t->n; fd++) {
		if (t->file[fd])
			fn(t->file[fd]);
	}
	free(t->file);
	t->file = NULL;
	t->n = 0;
}

struct file *fdtable_get(struct fdtable *t, int fd)
{
	struct file *f = NULL;

	pthread_mutex_lock(&t->lock);
	if (fd >= 0 && fd < t->n && t->file[fd])
		f = file_get(t->file[fd]);
	pthread_mutex_unlock(&t->lock);
	return f;
}

static int fdtable_grow(struct fdtable *t, int fd)
{
	struct file **file;
	int n = t->n ? t->n : 64;

	while (n <= fd)
		n *= 2;
	file = reallocarray(t->file, (size_t)n, sizeof(struct file *));
	if (!file)
		return -ENOMEM;
	memset(file + t->n, 0, (size_t)(n - t->n) * sizeof(struct file *));
	t->file = file;
	t->n = n;
	return 0;
}

int fdtable_set(struct fdtable *t, int fd, struct file *f, struct file **old)
{
	int rc = 0;

	*old = NULL;
	pthread_mutex_lock(&t->lock);
	if (f && fd >= t->n)
		rc = fdtable_grow(t, fd);
	if (!rc && fd >= 0 && fd < t->n) {
		*old = t->file[fd];
		t->file[fd] = f;
		handover_set(&t->handover, fd, f);
	}
	pthread_mutex_unlock(&t->lock);
	return rc;
}

void fdtable_look(struct fdtable *t, int fd)
{
	pthread_mutex_lock(&t->lock);
	if (fd >= 0 && fd < t->n && t->file[fd])
		handover_set(&t->handover, fd, t->file[fd]);
	pthread_mutex_unlock(&t->lock);
}

void fdtable_forked(struct fdtable *t)
{
	int fd;

	pthread_mutex_init(&t->lock, NULL);
	handover_forked(&t->handover);
	for (fd = 0; fd < t->n; fd++)
		fdtable_look(t, fd);
}

int fdtable_reserve(struct fdtable *t, bool cloexec)
{
	int fd;

	pthread_mutex_lock(&t->lock);
	fd = stub_reserve(&t->stub, cloexec);
	pthread_mutex_unlock(&t->lock);
	return fd;
}
