/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power_work.c - changes files until the power fails, prints the answered changes, and checks
 * afterwards whether they are there.
 *
 *   power_work run DIR SEED FSYNC       a line for each answered change
 *   power_work check DIR SEED ANSWERED  exits 1 and prints what is missing
 *
 * The seed determines the sequence of changes, so the number of answered changes says which they
 * are.  The change after the last answered one may have been made, wholly or in part.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pvfs.h>

#define BLOCK 16384
#define BLOCKS 12 /* maximum number of blocks of a file */
#define FILES 20000

enum kind { MAKE, WRITE, CUT, RENAME, REMOVE };

struct file {
	char name; /* first letter of its name; 0: the file does not exist */
	int blocks;
	int version[BLOCKS]; /* version of each block's content */
};

struct work {
	const char *dir;
	uint64_t seed, state;
	bool sync;
	int files;
	struct file file[FILES];
};

struct change {
	enum kind kind;
	int file, block;
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static int below(struct work *w, int n)
{
	w->state += 0x9e3779b97f4a7c15ull;
	return (int)(mix(w->state + w->seed) % (uint64_t)n);
}

/* Returns an existing file, after at most eight tries; -1: found none. */
static int pick(struct work *w)
{
	for (int i = 0; i < 8 && w->files; i++) {
		int n = below(w, w->files);

		if (w->file[n].name)
			return n;
	}
	return -1;
}

static struct change next(struct work *w)
{
	struct change c = { MAKE, pick(w), 0 };
	const struct file *f;

	c.kind = (enum kind)below(w, REMOVE + 1);
	if (c.file < 0)
		c.kind = MAKE;
	if (c.kind == MAKE) {
		c.file = w->files++;
		c.block = 1 + below(w, 4);
		return c;
	}
	f = &w->file[c.file];
	if (c.kind == WRITE)
		c.block = below(w, f->blocks < BLOCKS ? f->blocks + 1 : BLOCKS);
	else if (c.kind == CUT)
		c.block = below(w, f->blocks + 1);
	return c;
}

/* Applies the change to the model. */
static void apply(struct file *f, const struct change *c)
{
	switch (c->kind) {
	case MAKE:
		f->name = 'f';
		f->blocks = c->block;
		break;
	case WRITE:
		f->version[c->block]++;
		if (c->block == f->blocks)
			f->blocks++;
		break;
	case CUT:
		f->blocks = c->block;
		break;
	case RENAME:
		f->name++;
		if (f->name > 'z')
			f->name = 'a';
		break;
	case REMOVE:
		f->name = 0;
	}
}

static void path(const struct work *w, int file, char name, char *to)
{
	snprintf(to, 256, "%s/%c%d", w->dir, name, file);
}

static void fill(const struct work *w, int file, int block, int version,
		 uint64_t *buf)
{
	uint64_t x = mix(w->seed * 1000003 + (uint64_t)file) +
		     ((uint64_t)block << 40) + ((uint64_t)version << 20);

	for (size_t i = 0; i < BLOCK / sizeof(*buf); i++)
		buf[i] = mix(x + i);
}

/* ---- the changes ---- */

static int put(const struct work *w, int fd, int file, int block, int version)
{
	uint64_t buf[BLOCK / sizeof(uint64_t)];

	fill(w, file, block, version, buf);
	return pvfs_pwrite(fd, buf, BLOCK, (int64_t)block * BLOCK) == BLOCK
		       ? 0
		       : -1;
}

static int change_data(const struct work *w, const struct change *c)
{
	const struct file *f = &w->file[c->file];
	int fd, err = 0;
	char name[256];

	path(w, c->file, c->kind == MAKE ? 'f' : f->name, name);
	fd = pvfs_open(name, O_RDWR | (c->kind == MAKE ? O_CREAT | O_EXCL : 0),
		       0644);
	if (fd < 0)
		return -1;
	for (int i = 0; c->kind == MAKE && i < c->block && !err; i++)
		err = put(w, fd, c->file, i, f->version[i]);
	if (c->kind == WRITE)
		err = put(w, fd, c->file, c->block, f->version[c->block] + 1);
	if (c->kind == CUT)
		err = pvfs_ftruncate(fd, (int64_t)c->block * BLOCK);
	if (!err && w->sync)
		err = pvfs_fsync(fd);
	return pvfs_close(fd) || err ? -1 : 0;
}

static int change(const struct work *w, const struct change *c)
{
	char name[256], other[256];
	struct file after = w->file[c->file];

	if (c->kind <= CUT)
		return change_data(w, c);
	path(w, c->file, w->file[c->file].name, name);
	if (c->kind == REMOVE)
		return pvfs_unlink(name);
	apply(&after, c);
	path(w, c->file, after.name, other);
	return pvfs_rename(name, other);
}

static int run(struct work *w)
{
	struct change c;
	char line[32];
	int n = 0;

	if (pvfs_mkdir(w->dir, 0755)) {
		perror(w->dir);
		return 1;
	}
	while (w->files < FILES) {
		c = next(w);
		if (change(w, &c)) {
			fprintf(stderr, "change %d, of kind %d: %s\n", n,
				c.kind, strerror(errno));
			return 1;
		}
		apply(&w->file[c.file], &c);
		snprintf(line, sizeof(line), "%d\n", ++n);
		if (write(STDOUT_FILENO, line, strlen(line)) < 0)
			return 1;
	}
	return 0;
}

/* ---- checks after the power failure ---- */

static int missing(const char *name, const char *what)
{
	fprintf(stderr, "%s: %s\n", name, what);
	return 1;
}

/*
 * Checks the data of a file.  c: a change that may or may not have been made to this file; or NULL.
 */
static int look_data(const struct work *w, int file, const struct change *c,
		     const char *name, int fd)
{
	const struct file *f = &w->file[file];
	uint64_t want[BLOCK / sizeof(uint64_t)];
	uint64_t have[BLOCK / sizeof(uint64_t)];
	int last = c && c->kind == CUT ? c->block : f->blocks, i;
	struct stat st;

	if (pvfs_fstat(fd, &st))
		return missing(name, strerror(errno));
	if (st.st_size != (int64_t)f->blocks * BLOCK &&
	    !(c && (c->kind == WRITE || c->kind == CUT)))
		return missing(name, "has another size");
	for (i = 0; i < last; i++) {
		if (c && c->kind == WRITE && c->block == i)
			continue;
		fill(w, file, i, f->version[i], want);
		memset(have, 0, sizeof(have));
		if (pvfs_pread(fd, have, BLOCK, (int64_t)i * BLOCK) != BLOCK)
			return missing(name, "is too short");
		if (memcmp(have, want, BLOCK))
			return missing(name, "has lost data");
	}
	return 0;
}

static int look(struct work *w, int file, const struct change *c)
{
	const char name = w->file[file].name;
	int fd, err;
	char p[256];

	if (!name) {
		for (char n = 'a'; n <= 'z'; n++) {
			path(w, file, n, p);
			fd = pvfs_open(p, O_RDONLY);
			if (fd >= 0 || errno != ENOENT)
				return missing(p, "was removed");
		}
		return 0;
	}
	path(w, file, name, p);
	fd = pvfs_open(p, O_RDONLY);
	if (fd < 0 && c && c->kind == REMOVE && errno == ENOENT)
		return 0;
	if (fd < 0 && c && c->kind == RENAME && errno == ENOENT) {
		apply(&w->file[file], c);
		return look(w, file, NULL);
	}
	if (fd < 0)
		return missing(p, strerror(errno));
	err = look_data(w, file, c, p, fd);
	pvfs_close(fd);
	return err;
}

static int check(struct work *w, int answered)
{
	struct change c;
	int bad = 0, i;

	for (i = 0; i < answered; i++) {
		c = next(w);
		apply(&w->file[c.file], &c);
	}
	c = next(w);
	for (i = 0; i < w->files; i++)
		if (i != c.file || c.kind != MAKE)
			bad += look(w, i, i == c.file ? &c : NULL);
	printf("%s: %d changes, %d files, %d are not right\n", w->dir, answered,
	       w->files, bad);
	return bad != 0;
}

int main(int argc, char **argv)
{
	static struct work w;

	if (argc != 5) {
		fputs("usage: power_work run|check DIR SEED FSYNC|ANSWERED\n",
		      stderr);
		return 2;
	}
	w.dir = argv[2];
	w.seed = strtoull(argv[3], NULL, 10);
	if (!strcmp(argv[1], "check"))
		return check(&w, atoi(argv[4]));
	w.sync = atoi(argv[4]);
	return run(&w);
}
