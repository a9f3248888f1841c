/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy_walk.c - finds what to copy.  Directories are made on the way down.  They get
 * their attributes after all files, deepest first, so that a read-only one can be
 * filled and times stay right.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/tools/files/copy/copy.h"

/* ---- directories that get their attributes later ---- */

static int make_room(struct copy_dirs *dirs)
{
	size_t cap = dirs->cap ? 2 * dirs->cap : 64;
	struct copy_dir *v;

	if (dirs->n < dirs->cap)
		return 0;
	v = realloc(dirs->v, cap * sizeof(*v));
	if (!v)
		return -ENOMEM;
	dirs->v = v;
	dirs->cap = cap;
	return 0;
}

static int add_dir(struct copy_dirs *dirs, const char *from, const char *path,
		   const struct stat *st)
{
	struct copy_dir d = { .st = *st };

	if (make_room(dirs))
		return -ENOMEM;
	d.from = strdup(from);
	d.path = strdup(path);
	if (d.from && d.path) {
		dirs->v[dirs->n++] = d;
		return 0;
	}
	free(d.from);
	free(d.path);
	return -ENOMEM;
}

void copy_dirs_finish(struct copy *c, struct copy_dirs *dirs)
{
	while (dirs->n) {
		struct copy_dir *d = &dirs->v[--dirs->n];

		if (!copy_over(c) && copy_attrs(c, d->from, d->path, &d->st))
			copy_failed(c, d->path);
		free(d->from);
		free(d->path);
	}
	free(dirs->v);
	dirs->v = NULL;
	dirs->cap = 0;
}

/* ---- the walk ---- */

static void walk_path(struct copy *c, struct copy_dirs *dirs, const char *from,
		      const char *to, struct copy_place *place);

/* Reports that from is not copied, and, if it is a directory, nothing below it. */
static void report_left_out(struct copy *c, const char *from, const char *why)
{
	if (c->left_out)
		c->left_out(c->arg, from, why);
}

static void entry_failed(struct copy *c, const char *path, const char *from)
{
	int err = errno;

	copy_failed(c, path);
	report_left_out(c, from, strerror(err));
}

static int symlink_to(const char *path, void *target)
{
	return pvfs_symlink(target, path);
}

/* 0 and *made, or -1. */
static int make_link(const struct copy *c, char *target, const char *to,
		     bool *made)
{
	*made = !pvfs_symlink(target, to);
	if (*made)
		return 0;
	if (errno != EEXIST)
		return -1;
	if (c->opt.no_clobber)
		return 0;
	*made = !copy_replace(to, symlink_to, target);
	return *made ? 0 : -1;
}

/*
 * Whether `to` is the same object as `from`, or the file that the link `from` names.  A copy would
 * then change nothing, or lose the file.
 */
static bool is_in_place(const char *from, const char *to, const struct stat *st)
{
	struct stat there, target;

	if (pvfs_lstat(to, &there))
		return false;
	return tool_same_file(st, &there) ||
	       (!pvfs_stat(from, &target) && tool_same_file(&target, &there));
}

static void copy_symlink(struct copy *c, const char *from, const char *to,
			 const struct stat *st, struct copy_link *link)
{
	char target[4096];
	ssize_t n = pvfs_readlink(from, target, sizeof(target) - 1);
	bool made;

	atomic_fetch_add(&c->files_found, 1);
	if (n < 0) {
		entry_failed(c, from, from);
		return;
	}
	target[n] = '\0';
	if (is_in_place(from, to, st)) {
		copy_same(c, from, to);
		return;
	}
	if (make_link(c, target, to, &made)) {
		entry_failed(c, to, from);
		return;
	}
	copy_link_is_there(link);
	if (!made)
		return;
	if (copy_attrs(c, from, to, st))
		entry_failed(c, to, from);
	else
		atomic_fetch_add(&c->files, 1);
}

static int stat_target(const struct copy *c, const char *to, struct stat *st)
{
	return c->opt.nofollow ? pvfs_lstat(to, st) : pvfs_stat(to, st);
}

/*
 * A directory that an earlier copy closed must be filled again.  If the change fails,
 * the mode may still be sufficient.
 */
static bool make_writable(const struct copy *c, const char *to,
			  const struct stat *st)
{
	if (c->opt.nofollow && c->opt.preserve && (st->st_mode & 0700) != 0700)
		copy_change_mode(c, to, (st->st_mode & 07777) | 0700);
	return true;
}

/*
 * Makes the directory, or uses an existing one.  Until it gets its final mode, its owner can write
 * to it.  Sets *made if it is new.
 */
static bool make_dir(struct copy *c, const char *from, const char *to,
		     mode_t mode, bool *made)
{
	struct stat st;

	int err;

	*made = !pvfs_mkdir(to, c->opt.preserve ? 0700 : (mode & 0777) | 0700);
	if (*made)
		return true;
	err = errno;
	if (err == EEXIST && !stat_target(c, to, &st) && S_ISDIR(st.st_mode))
		return make_writable(c, to, &st);
	errno = err;
	entry_failed(c, to, from);
	return false;
}

/*
 * Records the first directory made: the walk must not copy it into itself.  *place: NULL
 * if the run records no names.
 */
static bool enter_dir(struct copy *c, const char *from, const char *to,
		      struct copy_place **place)
{
	struct stat st;

	*place = NULL;
	if (c->target.st_ino && !c->made)
		return true;
	if (!pvfs_stat(to, &st)) {
		if (!c->target.st_ino)
			c->target = st;
		if (!c->made || (*place = copy_made_enter(c->made, &st, from)))
			return true;
	}
	entry_failed(c, to, from);
	return false;
}

static void walk_entry(struct copy *c, struct copy_dirs *dirs, const char *from,
		       const char *to, const char *name,
		       struct copy_place *place)
{
	char *f = tool_join(from, name), *t = tool_join(to, name);

	if (f && t)
		walk_path(c, dirs, f, t, place);
	else
		entry_failed(c, from, from);
	free(t);
	free(f);
}

static void walk_dir(struct copy *c, struct copy_dirs *dirs, const char *from,
		     const char *to, const struct stat *st)
{
	struct copy_place *place;
	PVFS_DIR *dir;
	struct dirent *d;
	bool made;

	if (!c->opt.recursive) {
		tool_say(c->tool, "%s: is a directory (-r copies it)", from);
		atomic_store(&c->failed, true);
		return;
	}
	if (c->target.st_ino && tool_same_file(st, &c->target)) {
		tool_say(c->tool, "%s: not copied into itself", from);
		atomic_store(&c->failed, true);
		report_left_out(c, from, "not copied into itself");
		return;
	}
	if (!make_dir(c, from, to, st->st_mode, &made) ||
	    !enter_dir(c, from, to, &place))
		return;
	if ((c->opt.preserve || (made && (st->st_mode & 0700) != 0700)) &&
	    add_dir(dirs, from, to, st))
		copy_failed(c, to);
	dir = pvfs_opendir(from);
	if (!dir) {
		entry_failed(c, from, from);
		return;
	}
	while (errno = 0, !copy_over(c) && (d = pvfs_readdir(dir)))
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
			walk_entry(c, dirs, from, to, d->d_name, place);
	if (errno)
		entry_failed(c, from, from);
	pvfs_closedir(dir);
}

static int mknod_as(const char *path, void *arg)
{
	const struct stat *st = arg;

	return pvfs_mknod(path, st->st_mode, st->st_rdev);
}

/* FIFOs, sockets and devices: 0, or -1. */
static int make_special(const struct copy *c, const char *to,
			const struct stat *st)
{
	struct stat as = *st;

	as.st_mode &= c->opt.preserve ? S_IFMT | 0700 : S_IFMT | 0777;
	if (!mknod_as(to, &as))
		return 0;
	return errno == EEXIST ? copy_replace(to, mknod_as, &as) : -1;
}

static void copy_special(struct copy *c, const char *from, const char *to,
			 const struct stat *st, struct copy_link *link)
{
	struct stat there;
	bool is = !pvfs_lstat(to, &there);

	atomic_fetch_add(&c->files_found, 1);
	if (is && tool_same_file(st, &there)) {
		copy_same(c, from, to);
	} else if (is && c->opt.no_clobber) {
		copy_link_is_there(link);
	} else if (make_special(c, to, st)) {
		entry_failed(c, to, from);
	} else {
		copy_link_is_there(link);
		if (copy_attrs(c, from, to, st))
			entry_failed(c, to, from);
		else
			atomic_fetch_add(&c->files, 1);
	}
}

static void leave_out(struct copy *c, const char *from)
{
	tool_say(c->tool,
		 "%s: not a file, directory or symbolic link; left out", from);
	atomic_store(&c->failed, true);
	report_left_out(c, from, "not a file, directory or symbolic link");
}

static void walk_file(struct copy *c, const char *from, const char *to,
		      const struct stat *st, struct copy_link *link)
{
	if (S_ISLNK(st->st_mode))
		copy_symlink(c, from, to, st, link);
	else if (S_ISREG(st->st_mode) && c->found)
		c->found(c->arg, from, to, st);
	else if (S_ISREG(st->st_mode))
		copy_file_start(c, from, to, st, 0, link);
	else if (c->opt.recursive && !c->found)
		copy_special(c, from, to, st, link);
	else
		leave_out(c, from);
}

/*
 * Records that the run writes `to`. Returns true if no other source of this run has done so;
 * otherwise reports it.
 */
static bool may_make(struct copy *c, const char *from, const char *to,
		     bool is_dir, struct copy_place *place)
{
	const char *slash = strrchr(to, '/');
	int rc = place ? copy_made_name(place, slash ? slash + 1 : to, from,
					is_dir)
		       : 0;

	if (rc > 0)
		tool_say(c->tool, "warning: source %s specified more than once",
			 from);
	else if (rc && errno != EEXIST)
		entry_failed(c, to, from);
	else if (rc && (is_dir || !c->opt.no_clobber))
		copy_twice(c, from, to);
	return !rc;
}

static void walk_path(struct copy *c, struct copy_dirs *dirs, const char *from,
		      const char *to, struct copy_place *place)
{
	struct copy_link *link = NULL;
	struct stat st;
	int rc = 0;

	if (copy_over(c))
		return;
	if (c->opt.recursive ? pvfs_lstat(from, &st) : pvfs_stat(from, &st)) {
		entry_failed(c, from, from);
		return;
	}
	if ((c->opt.recursive || !S_ISDIR(st.st_mode)) &&
	    !may_make(c, from, to, S_ISDIR(st.st_mode), place))
		return;
	if (S_ISDIR(st.st_mode)) {
		walk_dir(c, dirs, from, to, &st);
		return;
	}
	if (c->names && st.st_nlink > 1)
		rc = copy_links_add(c->names, &st, from, to, &link);
	if (rc < 0)
		entry_failed(c, from, from);
	else if (rc)
		atomic_fetch_add(&c->files_found, 1);
	else
		walk_file(c, from, to, &st, link);
}

void copy_walk(struct copy *c, struct copy_dirs *dirs, const char *from,
	       const char *to, struct copy_place *place)
{
	c->target.st_ino = 0;
	walk_path(c, dirs, from, to, place);
}
