/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvio.c - one library call, or one simple load, from a shell test.
 *
 * "pvio OP ARG..." prints "ok" (after what the operation prints) and exits 0,
 * or prints the name of the errno and exits 1.  Data has a pattern that
 * depends on the seed and the offset, so that any misplaced byte shows.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pvfs.h>

#define BLOCK (1u << 20)

/* Closes fd; rc, or -1 and the first errno. */
static int closed(int fd, int rc)
{
	int err = errno;

	if (pvfs_close(fd))
		return -1;
	errno = err;
	return rc;
}

static uint64_t num(const char *s)
{
	return strtoull(s, NULL, 0);
}

static void fill(uint8_t *buf, uint64_t off, size_t len, uint64_t seed)
{
	for (size_t i = 0; i < len; i++) {
		uint64_t x = (off + i) / 8 + seed * 0x9e3779b97f4a7c15u;

		x ^= x >> 31;
		x *= 0xbf58476d1ce4e5b9u;
		x ^= x >> 29;
		buf[i] = (uint8_t)(x >> ((off + i) % 8 * 8));
	}
}

/* write PATH OFF LEN SEED */
static int op_write(char **arg)
{
	uint64_t off = num(arg[1]), end = off + num(arg[2]);
	uint8_t *buf = malloc(BLOCK);
	int fd, rc = -1;

	if (!buf)
		return -1;
	fd = pvfs_open(arg[0], O_WRONLY | O_CREAT, 0644);
	if (fd < 0)
		goto out;
	for (rc = 0; off < end && !rc; off += BLOCK) {
		size_t n = end - off < BLOCK ? end - off : BLOCK;

		fill(buf, off, n, num(arg[3]));
		if (pvfs_pwrite(fd, buf, n, (int64_t)off) != (ssize_t)n)
			rc = -1;
	}
	if (!rc)
		rc = pvfs_fsync(fd);
	rc = closed(fd, rc);
out:
	free(buf);
	return rc;
}

/* check PATH OFF LEN SEED; EBADMSG and the place of the first wrong byte */
static int check(int fd, uint64_t off, uint64_t end, uint64_t seed,
		 uint8_t *want, uint8_t *have)
{
	for (; off < end; off += BLOCK) {
		size_t n = end - off < BLOCK ? end - off : BLOCK, i = 0;
		ssize_t got = pvfs_pread(fd, have, n, (int64_t)off);

		if (got < 0)
			return -1;
		fill(want, off, n, seed);
		while (i < (size_t)got && want[i] == have[i])
			i++;
		if (i == n)
			continue;
		printf("wrong at %" PRIu64 "\n", off + i);
		errno = EBADMSG;
		return -1;
	}
	return 0;
}

static int op_check(char **arg)
{
	uint64_t off = num(arg[1]);
	uint8_t *buf = malloc(2 * BLOCK);
	int fd, rc = -1;

	if (!buf)
		return -1;
	fd = pvfs_open(arg[0], O_RDONLY);
	if (fd >= 0) {
		rc = check(fd, off, off + num(arg[2]), num(arg[3]), buf,
			   buf + BLOCK);
		rc = closed(fd, rc);
	}
	free(buf);
	return rc;
}

/* append PATH COUNT SIZE TAG: records "TAG NUMBER ....\n" of SIZE bytes */
static int op_append(char **arg)
{
	size_t size = num(arg[2]);
	char *rec = malloc(size + 1);
	int fd, rc = -1;

	if (!rec)
		return -1;
	fd = pvfs_open(arg[0], O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (fd < 0)
		goto out;
	rc = 0;
	for (uint64_t i = 0; i < num(arg[1]) && !rc; i++) {
		int n = snprintf(rec, size, "%s %06" PRIu64 " ", arg[3], i);

		memset(rec + n, '.', size - (size_t)n);
		rec[size - 1] = '\n';
		if (pvfs_write(fd, rec, size) != (ssize_t)size)
			rc = -1;
	}
	rc = closed(fd, rc);
out:
	free(rec);
	return rc;
}

/*
 * ack PATH COUNT SIZE SEED: writes block after block; prints the number of
 * each as soon as its write has returned.
 */
static int op_ack(char **arg)
{
	size_t size = num(arg[2]);
	uint8_t *buf = malloc(size);
	int fd, rc = -1;

	if (!buf)
		return -1;
	fd = pvfs_open(arg[0], O_WRONLY | O_CREAT, 0644);
	if (fd < 0)
		goto out;
	rc = 0;
	for (uint64_t i = 0; i < num(arg[1]) && !rc; i++) {
		fill(buf, i * size, size, num(arg[3]));
		if (pvfs_pwrite(fd, buf, size, (int64_t)(i * size)) ==
		    (ssize_t)size)
			printf("%" PRIu64 "\n", i + 1);
		else
			rc = -1;
		fflush(stdout);
	}
	rc = closed(fd, rc);
out:
	free(buf);
	return rc;
}

/* names DIR: every entry, as readdir gives it */
static int op_names(char **arg)
{
	PVFS_DIR *dir = pvfs_opendir(arg[0]);
	struct dirent *d;

	if (!dir)
		return -1;
	while (errno = 0, (d = pvfs_readdir(dir)) != NULL)
		puts(d->d_name);
	if (errno) {
		pvfs_closedir(dir);
		return -1;
	}
	return pvfs_closedir(dir);
}

/* create DIR PREFIX COUNT THREADS: empty files PREFIX0 ... */
struct creator {
	pthread_t thread;
	char **arg;
	uint64_t first, step;
	int error;
};

static void *creator(void *arg)
{
	struct creator *c = arg;
	uint64_t count = num(c->arg[2]);
	char path[4096];

	for (uint64_t i = c->first; i < count && !c->error; i += c->step) {
		int fd;

		snprintf(path, sizeof(path), "%s/%s%" PRIu64, c->arg[0],
			 c->arg[1], i);
		fd = pvfs_open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
		if (fd < 0 || pvfs_close(fd))
			c->error = errno;
	}
	return NULL;
}

static int op_create(char **arg)
{
	struct creator c[64] = { 0 };
	uint64_t n = num(arg[3]) < 64 ? num(arg[3]) : 64;

	for (uint64_t i = 0; i < n; i++) {
		c[i].arg = arg;
		c[i].first = i;
		c[i].step = n;
		if (pthread_create(&c[i].thread, NULL, creator, &c[i]))
			abort();
	}
	errno = 0;
	for (uint64_t i = 0; i < n; i++) {
		pthread_join(c[i].thread, NULL);
		if (c[i].error)
			errno = c[i].error;
	}
	return errno ? -1 : 0;
}

/* stat PATH: type and mode, links, uid, gid, size, mtime */
static int op_stat(char **arg)
{
	struct stat st;

	if (pvfs_lstat(arg[0], &st))
		return -1;
	printf("%o %ju %u %u %jd %jd.%09ld\n", st.st_mode,
	       (uintmax_t)st.st_nlink, st.st_uid, st.st_gid,
	       (intmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec,
	       st.st_mtim.tv_nsec);
	return 0;
}

/* blocks PATH: of 512 bytes */
static int op_blocks(char **arg)
{
	struct stat st;

	if (pvfs_stat(arg[0], &st))
		return -1;
	printf("%jd\n", (intmax_t)st.st_blocks);
	return 0;
}

/* count PATH N: opens, on the mount of PATH, what is at handles 1 to N; prints how
 * many there are */
static int op_count(char **arg)
{
	struct pvfs_handle h;
	unsigned int found = 0;
	int fd = pvfs_open(arg[0], O_RDONLY, 0);

	if (fd < 0 || pvfs_get_handle(fd, &h) || closed(fd, 0))
		return -1;
	for (uint64_t i = 1; i <= num(arg[1]); i++) {
		h.handle = i;
		fd = pvfs_open_handle(arg[0], &h, O_RDONLY);
		found += fd >= 0;
		if (fd >= 0 && pvfs_close(fd))
			return -1;
	}
	printf("%u ", found);
	return 0;
}

/* hold PATH: opens for writing, writes a byte, waits for end of stdin */
static int op_hold(char **arg)
{
	int fd = pvfs_open(arg[0], O_RDWR | O_CREAT, 0644);
	char c = 'x';

	if (fd < 0 || pvfs_pwrite(fd, &c, 1, 0) != 1)
		return -1;
	puts("holding");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	if (pvfs_pwrite(fd, &c, 1, 1) != 1)
		return -1;
	return pvfs_close(fd);
}

static const char *as_text(bool done)
{
	return done ? "ok" : strerrorname_np(errno);
}

/* With a descriptor for that: r, w, or l: with a lock of the whole. */
static bool use(int fd, const char *how)
{
	struct flock lock = { .l_type = F_WRLCK };
	char c = *how;

	if (*how == 'l' && pvfs_fcntl(fd, F_SETLKW, &lock))
		return false;
	return (*how == 'r' ? pvfs_pread(fd, &c, 1, 0)
			    : pvfs_pwrite(fd, &c, 1, 0)) == 1;
}

static int open_for(const char *path, const char *how)
{
	return pvfs_open(path, *how == 'r' ? O_RDONLY : O_RDWR);
}

/*
 * keep PATH HOW: opens and uses it.  After a byte of stdin it prints the result of using it once
 * more, and of using it after another open.
 */
static int op_keep(char **arg)
{
	int fd = open_for(arg[0], arg[1]);
	char c;

	if (fd < 0 || !use(fd, arg[1]))
		return -1;
	puts("holding");
	fflush(stdout);
	if (read(0, &c, 1) < 0)
		return -1;
	printf("%s ", as_text(use(fd, arg[1])));
	pvfs_close(fd);
	fd = open_for(arg[0], arg[1]);
	printf("%s ", as_text(fd >= 0 && use(fd, arg[1])));
	return pvfs_close(fd);
}

/*
 * become PATH UID: opens and writes it, and becomes that user.  After a byte of stdin it prints the
 * result of writing once more.
 */
static int op_become(char **arg)
{
	uid_t uid = (uid_t)num(arg[1]);
	int fd = open_for(arg[0], "w");
	char c;

	if (fd < 0 || !use(fd, "w") || setresuid(uid, uid, uid))
		return -1;
	puts("holding");
	fflush(stdout);
	if (read(0, &c, 1) < 0 || !use(fd, "w"))
		return -1;
	return pvfs_close(fd);
}

/* flood PATH LEN: writes it again and again, each time another byte, until it may not */
static int op_flood(char **arg)
{
	size_t len = num(arg[1]);
	uint8_t *buf = malloc(len);
	int fd = buf ? pvfs_open(arg[0], O_WRONLY) : -1;

	if (fd < 0)
		return -1;
	for (int byte = 1; pvfs_pwrite(fd, buf, len, 0) == (ssize_t)len;
	     byte++) {
		memset(buf, byte, len);
		if (byte == 3) {
			puts("holding");
			fflush(stdout);
		}
	}
	free(buf);
	return -1;
}

/*
 * rewrite PATH LEN FIRST SEED: writes it twice, with these seeds, the second time when
 * standard input has ended: it is connected then
 */
static int op_rewrite(char **arg)
{
	size_t len = num(arg[1]);
	uint8_t *buf = malloc(len);
	int fd = buf ? pvfs_open(arg[0], O_WRONLY) : -1, rc = -1;
	char c;

	if (fd < 0)
		goto out;
	fill(buf, 0, len, num(arg[2]));
	if (pvfs_pwrite(fd, buf, len, 0) != (ssize_t)len)
		goto close;
	puts("holding");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	fill(buf, 0, len, num(arg[3]));
	if (pvfs_pwrite(fd, buf, len, 0) == (ssize_t)len)
		rc = 0;
close:
	rc = closed(fd, rc);
out:
	free(buf);
	return rc;
}

/* late PATH LEN: opens for reading, and reads when standard input has ended;
 * prints how much came */
static int op_late(char **arg)
{
	int fd = pvfs_open(arg[0], O_RDONLY);
	char *buf = malloc(num(arg[1]));
	ssize_t n = -1;
	char c;

	if (fd < 0 || !buf)
		goto out;
	puts("holding");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	n = pvfs_read(fd, buf, num(arg[1]));
	if (n >= 0)
		printf("%zd\n", n);
out:
	free(buf);
	return n < 0 ? -1 : pvfs_close(fd);
}

/* compute PATH MS: makes and closes a file, calls nothing for MS, goes on */
static int op_compute(char **arg)
{
	struct stat st;
	int fd = pvfs_creat(arg[0], 0644);

	if (fd < 0 || pvfs_close(fd))
		return -1;
	usleep((useconds_t)num(arg[1]) * 1000);
	return pvfs_stat(arg[0], &st);
}

static int opened(int fd)
{
	return fd < 0 ? -1 : pvfs_close(fd);
}

static int op_read(char **arg)
{
	return opened(pvfs_open(arg[0], O_RDONLY));
}

static int op_openw(char **arg)
{
	return opened(pvfs_open(arg[0], O_WRONLY));
}

static int op_creat(char **arg)
{
	return opened(pvfs_open(arg[0], O_WRONLY | O_CREAT | O_EXCL, 0666));
}

static int op_mkdir(char **arg)
{
	return pvfs_mkdir(arg[0], 0777);
}

static int op_rmdir(char **arg)
{
	return pvfs_rmdir(arg[0]);
}

static int op_unlink(char **arg)
{
	return pvfs_unlink(arg[0]);
}

static int op_rename(char **arg)
{
	return pvfs_rename(arg[0], arg[1]);
}

static int op_link(char **arg)
{
	return pvfs_link(arg[0], arg[1]);
}

static int op_symlink(char **arg)
{
	return pvfs_symlink(arg[0], arg[1]);
}

static int op_chmod(char **arg)
{
	return pvfs_chmod(arg[1], (mode_t)strtoul(arg[0], NULL, 8));
}

static int op_chown(char **arg)
{
	return pvfs_chown(arg[2], (uid_t)num(arg[0]), (gid_t)num(arg[1]));
}

static int op_truncate(char **arg)
{
	return pvfs_truncate(arg[0], (int64_t)num(arg[1]));
}

static int op_utime(char **arg)
{
	struct timespec ts[2] = { { .tv_sec = (time_t)num(arg[1]) },
				  { .tv_sec = (time_t)num(arg[1]) } };

	return pvfs_utimens(arg[0], ts);
}

static int op_access(char **arg)
{
	return pvfs_access(arg[0], (int)num(arg[1]));
}

static int op_setxattr(char **arg)
{
	return pvfs_setxattr(arg[0], arg[1], arg[2], strlen(arg[2]), 0);
}

static int op_getxattr(char **arg)
{
	char value[8192];
	ssize_t n = pvfs_getxattr(arg[0], arg[1], value, sizeof(value));

	if (n < 0)
		return -1;
	printf("%.*s\n", (int)n, value);
	return 0;
}

static int op_removexattr(char **arg)
{
	return pvfs_removexattr(arg[0], arg[1]);
}

static int op_mkfifo(char **arg)
{
	return pvfs_mknod(arg[0], S_IFIFO | 0644, 0);
}

static int op_exchange(char **arg)
{
	return pvfs_rename2(arg[0], arg[1], RENAME_EXCHANGE);
}

/* make_later PATH: looks for it, and makes it when standard input has ended */
static int op_make_later(char **arg)
{
	struct stat st;
	char c;

	if (!pvfs_stat(arg[0], &st) || errno != ENOENT)
		return -1;
	puts("holding");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return opened(pvfs_creat(arg[0], 0644));
}

/* twice PATH: prints the result of making it, and after a byte of stdin of making it once more */
static int op_twice(char **arg)
{
	char c;

	puts(as_text(!opened(pvfs_creat(arg[0], 0644))));
	fflush(stdout);
	return read(0, &c, 1) < 0 ? -1 : opened(pvfs_creat(arg[0], 0644));
}

/* servers PATH: prints how many serve the mount */
static int op_servers(char **arg)
{
	int n = pvfs_servers(arg[0], NULL, 0);

	if (n >= 0)
		printf("%d\n", n);
	return n < 0 ? -1 : 0;
}

static const struct {
	const char *name;
	int nargs;
	int (*run)(char **arg);
} ops[] = {
	{ "write", 4, op_write },	{ "check", 4, op_check },
	{ "append", 4, op_append },	{ "ack", 4, op_ack },
	{ "names", 1, op_names },	{ "create", 4, op_create },
	{ "stat", 1, op_stat },		{ "hold", 1, op_hold },
	{ "late", 2, op_late },		{ "rewrite", 4, op_rewrite },
	{ "read", 1, op_read },		{ "openw", 1, op_openw },
	{ "creat", 1, op_creat },	{ "mkdir", 1, op_mkdir },
	{ "rmdir", 1, op_rmdir },	{ "unlink", 1, op_unlink },
	{ "rename", 2, op_rename },	{ "link", 2, op_link },
	{ "symlink", 2, op_symlink },	{ "chmod", 2, op_chmod },
	{ "chown", 3, op_chown },	{ "truncate", 2, op_truncate },
	{ "utime", 2, op_utime },	{ "make_later", 1, op_make_later },
	{ "access", 2, op_access },	{ "compute", 2, op_compute },
	{ "count", 2, op_count },	{ "setxattr", 3, op_setxattr },
	{ "getxattr", 2, op_getxattr }, { "removexattr", 2, op_removexattr },
	{ "mkfifo", 1, op_mkfifo },	{ "exchange", 2, op_exchange },
	{ "blocks", 1, op_blocks },	{ "keep", 2, op_keep },
	{ "flood", 2, op_flood },	{ "become", 2, op_become },
	{ "twice", 1, op_twice },	{ "servers", 1, op_servers },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(ops) / sizeof(*ops); i++) {
		if (strcmp(argv[1], ops[i].name) || argc - 2 != ops[i].nargs)
			continue;
		if (!ops[i].run(argv + 2)) {
			puts("ok");
			return 0;
		}
		puts(strerrorname_np(errno) ? strerrorname_np(errno) : "?");
		return 1;
	}
	fprintf(stderr, "usage: pvio OP ARG... (see pvio.c)\n");
	return 2;
}
