/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memfs.c - a FUSE file system in memory, with the options that pvfs-fuse of root has.  It shows
 * the cost of the path through the kernel alone.  It has a fixed number of folders and files.  All
 * files share one piece of data, and it stores nothing.  memfs DIR runs in the foreground.
 */
#define FUSE_USE_VERSION 314
#include <errno.h>
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES 65536u
/* bytes of each file; all files have the same memory */
#define DATA (64u << 20)

struct mem_file {
	char name[64]; /* "": none */
	fuse_ino_t in; /* the folder; 0: free */
	/*
	 * the next file of the same folder, also after its removal while the folder exists; 0: it
	 * is the last
	 */
	unsigned int next;
	unsigned int first; /* the first file of a folder, by inode */
	mode_t mode;
	off_t size;
};

static struct memfs {
	pthread_mutex_t lock;
	struct mem_file file[FILES]; /* by inode; FUSE_ROOT_ID: the root */
	char *data;
} fs = { .lock = PTHREAD_MUTEX_INITIALIZER };

static unsigned int slot_of(fuse_ino_t in, const char *name)
{
	uint64_t h = in * 0x9e3779b97f4a7c15ull;

	for (const char *p = name; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3ull;
	return (unsigned int)((h ^ h >> 32) * 0x9e3779b97f4a7c15ull >> 40);
}

static bool may_be(const struct mem_file *f, fuse_ino_t in)
{
	return !*f->name && (!f->in || f->in == in);
}

/*
 * Returns the file of that name.  If there is none and make is set, returns a free file that can
 * get the name.  NULL: there is none.
 */
static struct mem_file *find(fuse_ino_t in, const char *name, bool make)
{
	const unsigned int first = FUSE_ROOT_ID + 1, at = slot_of(in, name);
	struct mem_file *f, *gap = NULL;

	for (unsigned int i = 0; i < 64; i++) {
		f = &fs.file[first + (at + i) % (FILES - first)];
		if (f->in == in && !strcmp(f->name, name))
			return f;
		if (may_be(f, in) && !gap)
			gap = f;
	}
	return make ? gap : NULL;
}

static struct stat stat_of(fuse_ino_t ino)
{
	struct stat st = { .st_ino = ino,
			   .st_mode = S_IFDIR | 0777,
			   .st_nlink = 2 };

	if (ino == FUSE_ROOT_ID)
		return st;
	st.st_mode = fs.file[ino].mode;
	st.st_nlink = 1;
	st.st_size = fs.file[ino].size;
	return st;
}

static struct fuse_entry_param entry_of(const struct mem_file *f)
{
	struct fuse_entry_param e = { .ino = (fuse_ino_t)(f - fs.file),
				      .generation = 1 };

	e.attr = stat_of(e.ino);
	return e;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e;
	struct mem_file *f;

	pthread_mutex_lock(&fs.lock);
	f = find(parent, name, false);
	if (f)
		e = entry_of(f);
	pthread_mutex_unlock(&fs.lock);
	if (f)
		fuse_reply_entry(req, &e);
	else
		fuse_reply_err(req, ENOENT);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino,
		       struct fuse_file_info *fi)
{
	struct stat st = stat_of(ino);

	fuse_reply_attr(req, &st, 0);
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	fi->direct_io = 1;
	fuse_reply_open(req, fi);
}

static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *set,
		       int what, struct fuse_file_info *fi)
{
	struct mem_file *f = &fs.file[ino];
	struct stat st;

	if (what & FUSE_SET_ATTR_MODE)
		f->mode = (f->mode & S_IFMT) | (set->st_mode & 07777);
	if (what & FUSE_SET_ATTR_SIZE)
		f->size = set->st_size;
	st = stat_of(ino);
	fuse_reply_attr(req, &st, 0);
}

/* Answers that other attributes exist, but not this one. */
static void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name,
			size_t size)
{
	fuse_reply_err(req, ENODATA);
}

/* Adds a new file to the list of its folder.  It stays in the list when it is removed. */
static void join(struct mem_file *f, fuse_ino_t in)
{
	if (f->in)
		return;
	f->in = in;
	f->next = fs.file[in].first;
	fs.file[in].first = (unsigned int)(f - fs.file);
}

/* Creates a file.  Returns false if there is no room. */
static bool make(fuse_ino_t in, const char *name, mode_t mode,
		 struct fuse_entry_param *e)
{
	struct mem_file *f;

	pthread_mutex_lock(&fs.lock);
	f = find(in, name, true);
	if (f) {
		join(f, in);
		snprintf(f->name, sizeof(f->name), "%s", name);
		f->mode = mode;
		f->size = 0;
		*e = entry_of(f);
	}
	pthread_mutex_unlock(&fs.lock);
	return f;
}

static void op_create(fuse_req_t req, fuse_ino_t parent, const char *name,
		      mode_t mode, struct fuse_file_info *fi)
{
	struct fuse_entry_param e;

	fi->direct_io = 1;
	if (make(parent, name, S_IFREG | 0666, &e))
		fuse_reply_create(req, &e, fi);
	else
		fuse_reply_err(req, ENOSPC);
}

static void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name,
		     mode_t mode)
{
	struct fuse_entry_param e;

	if (make(parent, name, S_IFDIR | 0777, &e))
		fuse_reply_entry(req, &e);
	else
		fuse_reply_err(req, ENOSPC);
}

/* The offset of an entry of readdir is the number of the next entry, or END. */
#define END FILES

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		       struct fuse_file_info *fi)
{
	size_t n, used = 0;
	unsigned int at;
	char buf[4096];
	struct stat st;

	size = size < sizeof(buf) ? size : sizeof(buf);
	pthread_mutex_lock(&fs.lock);
	at = off ? (unsigned int)off % FILES : fs.file[ino].first;
	for (; at; at = fs.file[at].next) {
		const struct mem_file *f = &fs.file[at];

		if (!*f->name)
			continue;
		st = stat_of(at);
		n = fuse_add_direntry(req, buf + used, size - used, f->name,
				      &st, f->next ?: END);
		if (n > size - used)
			break;
		used += n;
	}
	pthread_mutex_unlock(&fs.lock);
	fuse_reply_buf(req, buf, used);
}

/* Frees the list of a folder if all of its files are removed.  Returns 0 or ENOTEMPTY. */
static int empty(struct mem_file *f)
{
	unsigned int at, next;

	for (at = f->first; at; at = fs.file[at].next)
		if (*fs.file[at].name)
			return ENOTEMPTY;
	for (at = f->first; at; at = next) {
		next = fs.file[at].next;
		fs.file[at] = (struct mem_file){ 0 };
	}
	f->first = 0;
	return 0;
}

static void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct mem_file *f;
	int rc = ENOENT;

	pthread_mutex_lock(&fs.lock);
	f = find(parent, name, false);
	if (f)
		rc = empty(f);
	if (!rc)
		*f->name = '\0';
	pthread_mutex_unlock(&fs.lock);
	fuse_reply_err(req, rc);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi)
{
	if (off < 0 || (size_t)off + size > DATA)
		fuse_reply_err(req, EINVAL);
	else
		fuse_reply_buf(req, fs.data + off, size);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *buf,
		     size_t size, off_t off, struct fuse_file_info *fi)
{
	if (off < 0 || (size_t)off + size > DATA) {
		fuse_reply_err(req, EINVAL);
		return;
	}
	memcpy(fs.data + off, buf, size);
	if (fs.file[ino].size < off + (off_t)size)
		fs.file[ino].size = off + (off_t)size;
	fuse_reply_write(req, size);
}

static void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	fuse_reply_err(req, 0);
}

static void op_init(void *arg, struct fuse_conn_info *conn)
{
	conn->max_write = 1u << 20;
}

static const struct fuse_lowlevel_ops ops = {
	.init = op_init,
	.lookup = op_lookup,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.getxattr = op_getxattr,
	.open = op_open,
	.create = op_create,
	.mkdir = op_mkdir,
	.readdir = op_readdir,
	.unlink = op_unlink,
	.rmdir = op_unlink,
	.read = op_read,
	.write = op_write,
	.flush = op_flush,
	.release = op_flush,
};

static int serve(struct fuse_session *se, const char *dir)
{
	struct fuse_loop_config *cfg = fuse_loop_cfg_create();
	int rc = cfg ? fuse_session_mount(se, dir) : -1;

	if (!rc) {
		fuse_loop_cfg_set_max_threads(cfg, 32);
		rc = fuse_session_loop_mt(se, cfg);
		fuse_session_unmount(se);
	}
	if (cfg)
		fuse_loop_cfg_destroy(cfg);
	return rc;
}

int main(int argc, char **argv)
{
	char *words[] = { argv[0], "-oallow_other,default_permissions", NULL };
	struct fuse_args args = FUSE_ARGS_INIT(2, words);
	struct fuse_session *se;
	int rc;

	if (argc != 2) {
		fputs("usage: memfs DIR\n", stderr);
		return 2;
	}
	fs.data = calloc(1, DATA);
	se = fuse_session_new(&args, &ops, sizeof(ops), NULL);
	if (!se || !fs.data || fuse_set_signal_handlers(se))
		return 1;
	rc = serve(se, argv[1]);
	fuse_remove_signal_handlers(se);
	fuse_session_destroy(se);
	fuse_opt_free_args(&args);
	free(fs.data);
	return rc ? 1 : 0;
}
