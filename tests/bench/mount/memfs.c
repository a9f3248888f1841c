/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memfs.c - a FUSE file system in memory with pvfs-fuse's options: what the way
 * through the kernel costs by itself.  One directory, a fixed number of files that
 * share one piece of data; nothing is kept.  memfs DIR, in the foreground.
 */
#define FUSE_USE_VERSION 314
#include <errno.h>
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES 4096
#define DATA (64u << 20) /* bytes of each, all the same memory */

struct mem_file {
	char name[64]; /* "": free */
	off_t size;
};

static struct memfs {
	pthread_mutex_t lock;
	struct mem_file file[FILES]; /* number i is inode i + 2 */
	char *data;
} fs = { .lock = PTHREAD_MUTEX_INITIALIZER };

static unsigned int slot_of(const char *name)
{
	unsigned int h = 5381;

	for (const char *p = name; *p; p++)
		h = h * 33 + (unsigned char)*p;
	return h % FILES;
}

/* Of that name, or (make) a free one; NULL. */
static struct mem_file *find(const char *name, int make)
{
	unsigned int at = slot_of(name);
	struct mem_file *f, *gap = NULL;

	for (unsigned int i = 0; i < 64; i++) {
		f = &fs.file[(at + i) % FILES];
		if (!strcmp(f->name, name))
			return f;
		if (!*f->name && !gap)
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
	st.st_mode = S_IFREG | 0666;
	st.st_nlink = 1;
	st.st_size = fs.file[ino - 2].size;
	return st;
}

static struct fuse_entry_param entry_of(const struct mem_file *f)
{
	struct fuse_entry_param e = { .ino = (fuse_ino_t)(f - fs.file) + 2,
				      .generation = 1 };

	e.attr = stat_of(e.ino);
	return e;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e;
	struct mem_file *f;

	pthread_mutex_lock(&fs.lock);
	f = find(name, 0);
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

static void op_create(fuse_req_t req, fuse_ino_t parent, const char *name,
		      mode_t mode, struct fuse_file_info *fi)
{
	struct fuse_entry_param e;
	struct mem_file *f;

	pthread_mutex_lock(&fs.lock);
	f = find(name, 1);
	if (f) {
		snprintf(f->name, sizeof(f->name), "%s", name);
		f->size = 0;
		e = entry_of(f);
	}
	pthread_mutex_unlock(&fs.lock);
	fi->direct_io = 1;
	if (f)
		fuse_reply_create(req, &e, fi);
	else
		fuse_reply_err(req, ENOSPC);
}

static void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct mem_file *f;

	pthread_mutex_lock(&fs.lock);
	f = find(name, 0);
	if (f)
		*f->name = '\0';
	pthread_mutex_unlock(&fs.lock);
	fuse_reply_err(req, f ? 0 : ENOENT);
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
	if (fs.file[ino - 2].size < off + (off_t)size)
		fs.file[ino - 2].size = off + (off_t)size;
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
	.open = op_open,
	.create = op_create,
	.unlink = op_unlink,
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
	struct fuse_args args = FUSE_ARGS_INIT(1, argv);
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
