/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy_target.c - the target of a file.  A new one is filled under a temporary name,
 * and renamed when it is complete.  An existing one is emptied and filled in place,
 * like cp(1) does: it keeps its inode, its other names, its stripes and its open
 * descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "client/tools/files/copy/copy.h"

#define NAME_MOST 200 /* bytes of the name that the temporary name repeats */
#define TRIES 8

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

char *copy_temp_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	uint64_t id;
	char *temp;

	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		return NULL;
	if (asprintf(&temp, "%.*s.%.*s.pvfs-cp.%012llx", (int)(name - path),
		     path, NAME_MOST, name,
		     (unsigned long long)(id & 0xffffffffffffull)) < 0)
		return NULL;
	return temp;
}

int copy_replace(const char *path, int (*make)(const char *path, void *arg),
		 void *arg)
{
	char *temp = copy_temp_name(path);
	int rc = temp ? make(temp, arg) : -1, err;

	if (!rc && pvfs_rename(temp, path)) {
		err = errno;
		pvfs_unlink(temp);
		errno = err;
		rc = -1;
	}
	free(temp);
	return rc;
}

/* Read access is for --verify. */
static int create_file(struct copy_file *f, const char *path, int flags)
{
	struct pvfs_filestat meta = f->copy->opt.meta;
	mode_t mode = f->st.st_mode & (f->copy->opt.preserve ? 0700 : 0777);

	flags |= O_CREAT | O_RDWR | O_CLOEXEC;
	if (pvfs_is_pvfs(path))
		return pvfs_open(path, flags | O_META, mode, &meta);
	return pvfs_open(path, flags, mode);
}

static int create_new(struct copy_file *f)
{
	for (int i = 0; i < TRIES && f->out < 0; i++) {
		free(f->temp);
		f->temp = copy_temp_name(f->to);
		if (!f->temp)
			return -1;
		f->out = create_file(f, f->temp, O_EXCL);
		if (f->out < 0 && errno != EEXIST)
			break;
	}
	if (f->out >= 0)
		return 0;
	free(f->temp);
	f->temp = NULL;
	return -1;
}

/*
 * Until the file has the source's rights, nobody else gets access; a file of another
 * owner keeps its mode.  O_CREAT is not used, because the kernel refuses it for a file
 * of another owner in a sticky directory (fs.protected_regular).  Only a dangling
 * symbolic link needs it.
 */
static int open_existing(struct copy_file *f)
{
	struct stat st;

	f->out = pvfs_open(f->to, O_RDWR | O_TRUNC | O_CLOEXEC);
	if (f->out < 0 && errno == ENOENT)
		f->out = create_file(f, f->to, O_TRUNC);
	if (f->out < 0)
		return -1;
	if (f->copy->opt.preserve && !pvfs_fstat(f->out, &st) &&
	    S_ISREG(st.st_mode) && st.st_mode & 077 &&
	    !pvfs_fchmod(f->out, st.st_mode & 0700))
		f->mode = st.st_mode & 0777;
	return 0;
}

/*
 * If links are kept, other names of the target may belong to other files of the source.
 */
static bool shares_inode(const struct copy_file *f, const struct stat *st)
{
	return f->copy->opt.links && S_ISREG(st->st_mode) && st->st_nlink > 1;
}

/*
 * Whether the run may write this existing file.  Returns false with EEXIST if the run has already
 * written it, by another name or through a link; or with another errno.
 */
static bool may_write(const struct copy_file *f, const struct stat *st)
{
	struct copy_made *m = f->copy->made;
	struct stat to = *st;

	if (!m || (S_ISLNK(st->st_mode) && pvfs_stat(f->to, &to)) ||
	    !S_ISREG(to.st_mode))
		return true;
	return !copy_made_write(m, &to);
}

int copy_target_open(struct copy_file *f)
{
	const struct copy_opts *o = &f->copy->opt;
	struct stat st;

	if (pvfs_lstat(f->to, &st))
		return errno == ENOENT ? create_new(f) : -1;
	if (o->no_clobber || (o->nofollow && S_ISDIR(st.st_mode))) {
		errno = o->no_clobber ? EEXIST : EISDIR;
		return -1;
	}
	if (o->nofollow || shares_inode(f, &st))
		return create_new(f);
	return may_write(f, &st) ? open_existing(f) : -1;
}

int copy_target_close(struct copy_file *f)
{
	int fd = f->out;

	f->out = -1;
	return fd < 0 ? 0 : pvfs_close(fd);
}

/*
 * If the file system does not know the flag, this assumes that nobody else makes the
 * name meanwhile.
 */
static int rename_new(const struct copy_file *f)
{
	struct stat st;

	if (!f->copy->opt.no_clobber)
		return pvfs_rename(f->temp, f->to);
	if (!pvfs_rename2(f->temp, f->to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (!pvfs_lstat(f->to, &st)) {
		errno = EEXIST;
		return -1;
	}
	return pvfs_rename(f->temp, f->to);
}

int copy_target_name(struct copy_file *f)
{
	if (!f->temp)
		return 0;
	if (rename_new(f))
		return -1;
	free(f->temp);
	f->temp = NULL;
	return 0;
}

/*
 * The time makes the target older than any source, so that a copy of newer files copies
 * it again.  A target that gets its previous mode back must contain nothing of the
 * source.
 */
static void cut_file(struct copy_file *f, uint64_t size)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { 0 } };
	bool is_cut;

	if (f->mode)
		size = 0;
	is_cut = !pvfs_ftruncate(f->out, (int64_t)size);
	if (is_cut && f->mode)
		pvfs_fchmod(f->out, f->mode);
	copy_target_close(f);
	if (!pvfs_utimens(f->to, times) && is_cut &&
	    !atomic_load(&f->copy->interrupted))
		tool_say(f->copy->tool,
			 "%s: cut to the %llu bytes that were copied", f->to,
			 (unsigned long long)size);
}

void copy_target_drop(struct copy_file *f)
{
	struct stat st;

	if (f->temp) {
		copy_target_close(f);
		if (pvfs_unlink(f->temp))
			copy_failed(f->copy, f->temp);
		return;
	}
	if (f->out < 0 || (!pvfs_fstat(f->out, &st) && !S_ISREG(st.st_mode)))
		return;
	atomic_fetch_add(&f->copy->unfinished, 1);
	cut_file(f, atomic_load(&f->good));
}
