/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * use.c - what a user does: list, make a file, write, read.  Whatever the cause, what
 * fails here fails in the user's programs too.  Uses the library for each mount of
 * pvfstab, and the kernel for each mount of this host.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mntent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/tools/admin/doctor/checks.h"
#include <pvfs.h>
#include "common/util/random_id.h"
#include "client/tools/common/tool.h"

#define LOOK_MOST 1000u /* entries, in search of a writable directory */
#define DIRS_MOST 64u
#define PIECE 64 /* bytes on each iod */
#define MOUNT_PIECES 256u
#define WIDTH_MOST (8 << 20) /* st_blksize is not larger */
#define MOUNT_SPAN (256 << 20)
/* 2^32 by the golden ratio: its multiples are spread evenly */
#define SPREAD 0x9e3779b1u

struct mount_trial {
	const struct doctor *d;
	const char *at; /* the mount point */
	char line[DOCTOR_TEXT]; /* the last log line of the library */
	/* pieces to write; with the library, one per iod */
	unsigned int pieces;
	bool striped; /* by the library: PIECE bytes per stripe */
	bool all_seen; /* no directory was skipped */
	char dir[PATH_MAX]; /* writable by the user; or "" */
	char file[PATH_MAX]; /* readable by the user; or "" */
};

/* ---- messages ---- */

static void on_line(void *arg, int level, const char *msg)
{
	struct mount_trial *u = arg;

	(void)level;
	snprintf(u->line, sizeof(u->line), "%s", msg);
}

static const char *fix_of(int err)
{
	switch (err) {
	case ENOSPC:
		return "pvfs-df, and pvfs-doctor -c pvfs.conf on the servers, say "
		       "which server is full; " ROOM_FIX;
	case EROFS:
		return "clients of this network may only read: read_only in "
		       "[mgr] of pvfs.conf, or ro in the options of the mount";
	case EACCES:
	case EPERM:
		return "the owner, or the administrator, gives this user the "
		       "right: pvfs-chmod, pvfs-chown; a client's root may "
		       "have another user's rights: squash in [mgr] of "
		       "pvfs.conf";
	case ENOTCONN:
	case ESTALE:
		return "its pvfs-fuse has ended: umount -l (fusermount3 -uz) "
		       "there, then mount it again, and read its log";
	case EMFILE:
	case ENFILE:
		return "raise ulimit -n (LimitNOFILE=)";
	case EFBIG:
		return "raise ulimit -f (LimitFSIZE=): it ends programs that "
		       "write larger files through a mount";
	}
	return "PVFS_LOG=debug pvfs-ls -l there, and the servers' logs, say "
	       "more";
}

/*
 * Whether the failure of this trial is explained by an iod that does not answer. check_reach()
 * reports which iod, and why.
 */
static bool is_explained(const struct mount_trial *u)
{
	struct pvfs_server *list;
	struct pvfs_ping p;
	bool away = false;
	int n = u->striped ? pvfs_tool_servers(u->at, NULL, 0) : 0;

	list = n > 0 ? calloc((size_t)n, sizeof(*list)) : NULL;
	n = list ? pvfs_tool_servers(u->at, list, n) : 0;
	for (int i = 1; i < n && !away; i++)
		away = pvfs_ping_mount(u->at, list[i].uri, 1000, &p);
	free(list);
	return away;
}

static void find_failed(struct mount_trial *u, const char *what,
			const char *path)
{
	int err = errno;
	const char *fix = u->line[0] ? conf_fix(u->line) : u->line;

	doctor_find(u->d, fix == u->line ? fix_of(err) : fix,
		    "%s of %s fails: %s%s%s", what, path, strerror(err),
		    u->line[0] ? ": " : "", u->line);
}

/* ---- a writable directory, a readable file ---- */

struct dirs {
	unsigned int n, next, looked;
	char *path[DIRS_MOST];
};

static void add_dir(struct mount_trial *u, struct dirs *dirs, const char *path)
{
	if (dirs->n < DIRS_MOST && (dirs->path[dirs->n] = strdup(path)))
		dirs->n++;
	else
		u->all_seen = false;
}

static void look_at_entry(struct mount_trial *u, struct dirs *dirs,
			  const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat sb;
	int n = snprintf(path, sizeof(path), "%s/%s", dir, name);

	if (n < 0 || (size_t)n >= sizeof(path) || pvfs_lstat(path, &sb))
		return;
	if (S_ISREG(sb.st_mode) && !u->file[0] && !pvfs_access(path, R_OK))
		strcpy(u->file, path);
	if (!S_ISDIR(sb.st_mode))
		return;
	if (!u->dir[0] && !pvfs_access(path, W_OK | X_OK))
		strcpy(u->dir, path);
	else
		add_dir(u, dirs, path);
}

/* 0, or -1: it cannot be listed. */
static int list_dir(struct mount_trial *u, struct dirs *dirs, const char *dir)
{
	PVFS_DIR *p = pvfs_opendir(dir);
	struct dirent *e;
	int err;

	if (!p)
		return -1;
	while (errno = 0, (e = pvfs_readdir(p)) && !u->dir[0] &&
				  dirs->looked++ < LOOK_MOST)
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			look_at_entry(u, dirs, dir, e->d_name);
	err = e ? 0 : errno;
	u->all_seen &= !e;
	pvfs_closedir(p);
	errno = err;
	return err ? -1 : 0;
}

/* The root must be readable; below it, only readable directories are searched. */
static bool search_dirs(struct mount_trial *u)
{
	struct dirs dirs = { 0 };
	bool listed;

	u->all_seen = true;
	if (!pvfs_access(u->at, W_OK | X_OK))
		strcpy(u->dir, u->at);
	listed = !list_dir(u, &dirs, u->at);
	if (!listed)
		find_failed(u, "ls", u->at);
	while (listed && !u->dir[0] && dirs.next < dirs.n)
		if (list_dir(u, &dirs, dirs.path[dirs.next++]))
			errno = 0;
	while (dirs.n)
		free(dirs.path[--dirs.n]);
	return listed;
}

/* ---- a file of its own ---- */

/*
 * Through a mount only st_blksize is known.  It is a stripe on each iod, which the
 * kernel rounds down to a power of two.  Pieces at regular distances could all be on
 * the same iods.
 */
static off_t span_of(const struct mount_trial *u, int fd)
{
	struct stat sb;

	if (u->striped || pvfs_fstat(fd, &sb))
		return 0;
	return sb.st_blksize < WIDTH_MOST ? 2 * sb.st_blksize : MOUNT_SPAN;
}

static off_t place_of(unsigned int i, off_t span)
{
	uint32_t part = (uint32_t)i * SPREAD; /* of 2^32 */

	return span ? (off_t)(part * (uint64_t)span >> 32) : (off_t)i * PIECE;
}

/* Writes and reads a piece on each iod.  Returns what failed, or NULL. */
static const char *try_data(const struct mount_trial *u, int fd)
{
	char piece[PIECE], back[PIECE];
	off_t span = span_of(u, fd);

	memset(piece, 'p', sizeof(piece));
	for (unsigned int i = 0; i < u->pieces; i++)
		if (pvfs_pwrite(fd, piece, PIECE, place_of(i, span)) != PIECE)
			return "write";
	if (pvfs_fsync(fd))
		return "fsync";
	errno = EIO;
	for (unsigned int i = 0; i < u->pieces; i++)
		if (pvfs_pread(fd, back, PIECE, place_of(i, span)) != PIECE ||
		    memcmp(back, piece, PIECE))
			return "read";
	return NULL;
}

static int make_file(const struct mount_trial *u, const char *path)
{
	struct pvfs_filestat on_all = { .base = -1,
					.pcount = (int32_t)u->pieces,
					.ssize = PIECE };
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;

	return u->striped ? pvfs_open(path, flags | O_META, 0600, &on_all)
			  : pvfs_open(path, flags, 0600);
}

/* The file has no name while it is written, so a killed check leaves nothing. */
static void try_file(struct mount_trial *u)
{
	char path[PATH_MAX + 128], host[65] = "host";
	const char *what = "create";
	int fd, err;

	uint64_t id = 0;

	if (random_id(&id))
		return;
	gethostname(host, sizeof(host) - 1);
	snprintf(path, sizeof(path), "%s/.pvfs-doctor-%s-%d-%" PRIx64, u->dir,
		 host, getpid(), id);
	fd = make_file(u, path);
	if (fd >= 0) {
		what = pvfs_unlink(path) ? "rm" : try_data(u, fd);
		err = errno;
		if (pvfs_close(fd) && !what)
			what = "close";
		else
			errno = err;
	}
	err = errno;
	if (!what)
		doctor_note(u->d,
			    "%s: a file was made in %s, written, read "
			    "and removed",
			    u->at, u->dir);
	else if ((err == ENOSPC || !is_explained(u)) && (errno = err))
		find_failed(u, what, path);
}

/* Tests a read, if the user may write nowhere. */
static void try_read(struct mount_trial *u)
{
	char byte;
	int fd;

	if (!u->file[0])
		return;
	fd = pvfs_open(u->file, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pvfs_lseek(fd, 0, SEEK_END) < 0 ||
	    pvfs_pread(fd, &byte, 1, 0) < 0)
		find_failed(u, "read", u->file);
	if (fd >= 0)
		pvfs_close(fd);
}

static void find_no_writable_dir(struct mount_trial *u)
{
	const char *fix = "the administrator makes a directory for this user: "
			  "pvfs-mkdir, pvfs-chown";

	if (pvfs_access(u->at, W_OK) && errno == EROFS)
		find_failed(u, "write below", u->at);
	else if (u->all_seen)
		doctor_find(u->d, fix,
			    "%s has no directory in which user %u may write",
			    u->at, (unsigned int)geteuid());
	else
		doctor_note(u->d,
			    "%s: found no directory in which user %u may "
			    "write; nothing was written",
			    u->at, (unsigned int)geteuid());
}

static void try_mount(struct mount_trial *u)
{
	struct statfs st;

	if (!search_dirs(u))
		return;
	u->line[0] = '\0';
	if (pvfs_statfs(u->at, &st) && !is_explained(u))
		find_failed(u, "df", u->at);
	u->line[0] = '\0';
	if (u->dir[0]) {
		try_file(u);
		return;
	}
	find_no_writable_dir(u);
	try_read(u);
}

void check_use(const struct doctor *d, const struct subject *s)
{
	struct mount_trial u = { .d = d, .at = s->mount, .striped = true };
	struct pvfs_ping p;
	int n;

	if (pvfs_ping_mount(s->mount, s->uri, (int)d->timeout_s * 200, &p))
		return; /* check_reach() reports the cause */
	pvfs_set_log(on_line, &u, 0);
	n = pvfs_tool_servers(s->mount, NULL, 0);
	if (n < 2) {
		find_failed(&u, "mount", s->mount);
		return;
	}
	u.pieces = (unsigned int)n - 1;
	try_mount(&u);
}

/* ---- through the kernel ---- */

void check_mounted(const struct doctor *d, const struct subject *s)
{
	struct mount_trial u = { .d = d,
				 .at = s->mount,
				 .pieces = MOUNT_PIECES };
	struct stat sb;

	setenv("PVFSTAB_FILE", "/dev/null", 1); /* all paths go to the kernel */
	/* a write beyond ulimit -f then fails with EFBIG */
	signal(SIGXFSZ, SIG_IGN);
	if (!stat(s->mount, &sb))
		try_mount(&u);
	else if (errno != EACCES) /* another user's mount */
		find_failed(&u, "stat", s->mount);
}
