/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy_made.c - the names that a run has made, and the existing files that it has written.
 * The names of a directory are recorded only if it gets them from several sources: the
 * operands, or several directories that become one.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/tools/files/copy/copy.h"
#include "common/util/hash_table.h"

struct made_name {
	UT_hash_handle hh;
	char *from;
	bool is_dir;
	bool is_made; /* else it is known that the walk will make it */
	char name[];
};

struct copy_place {
	UT_hash_handle hh;
	struct copy_id id;
	char *from; /* the only source, whose names are not recorded; or NULL */
	struct made_name *names;
};

struct written_file {
	UT_hash_handle hh;
	struct copy_id id;
};

struct copy_made {
	struct copy_place *places; /* used by the walk */
	pthread_mutex_t lock; /* protects files */
	struct written_file *files;
};

struct copy_made *copy_made_new(void)
{
	struct copy_made *m = calloc(1, sizeof(*m));

	if (m)
		pthread_mutex_init(&m->lock, NULL);
	return m;
}

static void free_name(struct made_name *n)
{
	if (n)
		free(n->from);
	free(n);
}

static void free_place(struct copy_place *p)
{
	struct made_name *n, *next;

	HASH_ITER(hh, p->names, n, next) {
		HASH_DEL(p->names, n);
		free_name(n);
	}
	free(p->from);
	free(p);
}

void copy_made_free(struct copy_made *m)
{
	struct copy_place *p, *next;
	struct written_file *f, *after;

	HASH_ITER(hh, m->places, p, next) {
		HASH_DEL(m->places, p);
		free_place(p);
	}
	HASH_ITER(hh, m->files, f, after) {
		HASH_DEL(m->files, f);
		free(f);
	}
	pthread_mutex_destroy(&m->lock);
	free(m);
}

/* Takes over from. */
static struct made_name *add_name(struct copy_place *p, const char *name,
				  char *from, bool is_dir)
{
	size_t len = strlen(name);
	struct made_name *n = calloc(1, sizeof(*n) + len + 1);

	if (n && from) {
		memcpy(n->name, name, len);
		n->is_dir = is_dir;
		HASH_ADD_KEYPTR(hh, p->names, n->name, len, n);
		if (n->hh.tbl) {
			n->from = from;
			return n;
		}
	}
	free(n);
	free(from);
	errno = ENOMEM;
	return NULL;
}

static bool is_directory(const struct dirent *d, const char *path)
{
	struct stat st;

	if (d->d_type != DT_UNKNOWN)
		return d->d_type == DT_DIR;
	return path && !pvfs_lstat(path, &st) && S_ISDIR(st.st_mode);
}

/*
 * Reads the first source directory p->from of this target directory, and adds its names to p.
 * They are names that the run has written or will write.  0, or -1 with errno.
 */
static int list_source(struct copy_place *p)
{
	PVFS_DIR *dir = pvfs_opendir(p->from);
	struct dirent *d;
	int err;

	while (dir && (errno = 0, d = pvfs_readdir(dir))) {
		char *from = tool_join(p->from, d->d_name);

		if (!add_name(p, d->d_name, from, is_directory(d, from)))
			break;
	}
	err = errno;
	if (dir)
		pvfs_closedir(dir);
	if (!err) {
		free(p->from);
		p->from = NULL;
	}
	errno = err;
	return err ? -1 : 0;
}

static struct copy_place *add_place(struct copy_made *m, struct copy_id id,
				    const char *from)
{
	struct copy_place *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->id = id;
	p->from = from ? strdup(from) : NULL;
	if (p->from || !from)
		HASH_ADD(hh, m->places, id, sizeof(p->id), p);
	if (p->hh.tbl)
		return p;
	free_place(p);
	errno = ENOMEM;
	return NULL;
}

struct copy_place *copy_made_enter(struct copy_made *m, const struct stat *st,
				   const char *from)
{
	struct copy_id id = copy_id_of(st);
	struct copy_place *p;

	HASH_FIND(hh, m->places, &id, sizeof(id), p);
	if (!p)
		return add_place(m, id, from);
	return p->from && list_source(p) ? NULL : p;
}

int copy_made_name(struct copy_place *p, const char *name, const char *from,
		   bool is_dir)
{
	struct made_name *n;

	if (p->from)
		return 0;
	HASH_FIND_STR(p->names, name, n);
	if (!n) {
		n = add_name(p, name, strdup(from), is_dir);
		if (!n)
			return -1;
	} else if (!strcmp(n->from, from)) {
		if (n->is_made)
			return 1;
	} else if (!n->is_dir || !is_dir) {
		errno = EEXIST;
		return -1;
	}
	n->is_made = true;
	return 0;
}

int copy_made_write(struct copy_made *m, const struct stat *st)
{
	struct written_file *f = calloc(1, sizeof(*f)), *is;
	int err = ENOMEM;

	if (!f)
		return -1;
	f->id = copy_id_of(st);
	pthread_mutex_lock(&m->lock);
	HASH_FIND(hh, m->files, &f->id, sizeof(f->id), is);
	if (is)
		err = EEXIST;
	else
		HASH_ADD(hh, m->files, id, sizeof(f->id), f);
	pthread_mutex_unlock(&m->lock);
	if (f->hh.tbl)
		return 0;
	free(f);
	errno = err;
	return -1;
}
