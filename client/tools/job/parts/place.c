/* SPDX-License-Identifier: BSD-2-Clause */
/* place.c - see place.h. */
#include "client/tools/job/parts/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/tools/job/parts/proc.h"
#include "common/util/clock.h"

/* ---- trees ---- */

#define DEEPEST 64u /* nested folders; each needs a descriptor */

/*
 * Others may guess the name of a tree, and may make files in its parent folder.  So this works
 * with descriptors, which no link redirects, and enters only folders of this user.
 */
static void remove_below(int dir, dev_t dev, unsigned int depth);

/* Opens a folder of this user, on that device; -1. */
static int open_own(int at, const char *name, const dev_t *dev, struct stat *st)
{
	int fd = openat(at, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (!fstat(fd, st) && st->st_uid == geteuid() &&
	    (!dev || *dev == st->st_dev))
		return fd;
	close(fd);
	return -1;
}

static void remove_entry(int dir, const char *name, dev_t dev,
			 unsigned int depth)
{
	struct stat st;
	int fd;

	if (!strcmp(name, ".") || !strcmp(name, "..") ||
	    !unlinkat(dir, name, 0) || depth == DEEPEST)
		return;
	fd = open_own(dir, name, &dev, &st);
	if (fd < 0)
		return;
	remove_below(fd, dev, depth + 1);
	unlinkat(dir, name, AT_REMOVEDIR);
}

/* Takes over dir. */
static void remove_below(int dir, dev_t dev, unsigned int depth)
{
	DIR *d = fdopendir(dir);
	struct dirent *e;

	if (!d) {
		close(dir);
		return;
	}
	while ((e = readdir(d)))
		remove_entry(dir, e->d_name, dev, depth);
	closedir(d);
}

void remove_own_tree(const char *path)
{
	struct stat st;
	int fd = open_own(AT_FDCWD, path, NULL, &st);

	if (fd < 0)
		return;
	remove_below(fd, st.st_dev, 0);
	rmdir(path);
}

/* ---- mounts ---- */

bool mount_is_ours(const char *dir)
{
	FILE *f = setmntent("/proc/self/mounts", "r");
	struct mntent *m;
	bool found = false;

	while (f && !found && (m = getmntent(f)))
		found = !strcmp(m->mnt_dir, dir) &&
			!strcmp(m->mnt_type, "fuse.pvfs");
	if (f)
		endmntent(f);
	return found;
}

/* fusermount3 has the right to unmount.  The wait for it is limited. */
static void unmount_by_helper(const char *dir)
{
	pid_t pid = fork();

	if (!pid) {
		execlp("fusermount3", "fusermount3", "-uz", dir, (char *)NULL);
		_exit(127);
	}
	if (pid > 0 && proc_wait(pid, clock_after_ms(500)))
		kill(pid, SIGKILL);
}

void mount_detach(const char *dir)
{
	if (umount2(dir, MNT_DETACH | UMOUNT_NOFOLLOW))
		unmount_by_helper(dir);
}

/* ---- the place ---- */

static const char *const shown[] = { "pvfstab", "key", "mount.lock", NULL };

/* A process that makes files there meanwhile is about to end. */
static void remove_until_gone(const char *path, uint64_t deadline)
{
	struct stat st;

	for (;;) {
		remove_own_tree(path);
		if (lstat(path, &st) || clock_now() >= deadline)
			return;
		usleep(10000);
	}
}

/* Gets the folder of all jobs. */
static void base_of(const struct job *job, char base[JOB_PATH])
{
	snprintf(base, JOB_PATH, "%s", job->path);
	*strrchr(base, '/') = '\0';
}

/* Not all file systems show this in the number of links. */
static bool has_folders(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	bool has = !d;

	while (d && !has && (e = readdir(d))) {
		struct stat st;

		has = strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		      (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		       S_ISDIR(st.st_mode));
	}
	if (d)
		closedir(d);
	return has;
}

/* The last place of a job removes the job's folder. */
static void leave_job(const struct job *job)
{
	char path[JOB_PATH], base[JOB_PATH];

	if (has_folders(job->path))
		return;
	for (const char *const *s = shown; *s; s++)
		if (!job_path(job, *s, path))
			unlink(path);
	rmdir(job->path);
	base_of(job, base);
	rmdir(base);
}

static void remove_all(const struct job_place *p, uint64_t deadline)
{
	if (p->mount[0] && mount_is_ours(p->mount))
		mount_detach(p->mount);
	if (p->made_mount)
		rmdir(p->mount);
	if (p->storage[0])
		remove_until_gone(p->storage, deadline);
	remove_until_gone(p->folder, deadline);
	leave_job(&p->job);
}

/*
 * Removes everything when the owner dies.  The kernel kills the owner's other processes at
 * the same time.
 */
static void run_sweeper(const struct job_place *p, int pipe_fd)
{
	const int fd = 1, lock = 0;
	char c;
	ssize_t n;

	setsid();
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, sig == SIGCHLD ? SIG_DFL : SIG_IGN);
	prctl(PR_SET_NAME, "pvfs-job-sweep");
	dup2(pipe_fd, fd);
	dup2(p->lock, lock);
	close_range(2, ~0u, 0);
	while ((n = read(fd, &c, 1)) < 0 && errno == EINTR)
		;
	if (!n)
		remove_all(p, clock_after_ms(10000));
	_exit(0);
}

static int start_sweeper(struct job_place *p)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC))
		return -errno;
	p->sweeper = fork();
	if (!p->sweeper) {
		close(fd[1]);
		run_sweeper(p, fd[0]);
	}
	close(fd[0]);
	p->sweeper_fd = fd[1];
	if (p->sweeper > 0)
		return 0;
	close(fd[1]);
	return -EAGAIN;
}

static int make_folder(const char *path)
{
	return mkdir(path, 0700) ? -errno : 0;
}

/* Other jobs that end may remove the folders in between. */
static int make_folders(struct job_place *p)
{
	char base[JOB_PATH];
	int rc = -ENOENT;

	base_of(&p->job, base);
	for (int try = 0; rc == -ENOENT && try < 5; try++) {
		mkdir(base, 0700);
		rc = make_folder(p->job.path);
		if (!rc || rc == -EEXIST)
			rc = make_folder(p->folder);
	}
	return rc;
}

/*
 * The owner and its sweeper hold the lock.  A folder without it was left by a host that
 * was reset, or by a job whose processes were all killed at once.
 */
static int claim_folder(struct job_place *p)
{
	int rc = make_folders(p);

	if (rc && rc != -EEXIST)
		return rc;
	p->lock = open(p->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->lock < 0)
		return -errno;
	if (flock(p->lock, LOCK_EX | LOCK_NB)) {
		close(p->lock);
		return -EEXIST;
	}
	if (!rc)
		return 0;
	remove_own_tree(p->folder);
	close(p->lock);
	return p->again++ ? -EEXIST : claim_folder(p);
}

int place_make(struct job_place *p, const char *name)
{
	int rc = job_path(&p->job, name, p->folder);

	p->sweeper_fd = -1;
	if (!rc)
		rc = claim_folder(p);
	if (rc)
		return rc;
	if (p->storage[0]) {
		remove_own_tree(p->storage); /* left over, like the folder */
		rc = make_folder(p->storage);
	}
	if (!rc && p->mount[0]) {
		p->made_mount = !mkdir(p->mount, 0700);
		rc = p->made_mount || errno == EEXIST ? 0 : -errno;
	}
	if (!rc)
		rc = start_sweeper(p);
	if (!rc)
		return 0;
	remove_all(p, 0);
	close(p->lock);
	return rc;
}

void place_leave(struct job_place *p, uint64_t deadline)
{
	remove_all(p, deadline);
	if (write(p->sweeper_fd, "x", 1) < 0)
		kill(p->sweeper, SIGKILL);
	close(p->sweeper_fd);
	if (p->sweeper > 0 && proc_wait(p->sweeper, clock_after_ms(200))) {
		kill(p->sweeper, SIGKILL); /* it is stopped */
		waitpid(p->sweeper, NULL, 0);
	}
	close(p->lock);
}

/* Makes a link in the job's folder to that file of ours, unless there is one. */
static int show_file(const struct job_place *p, const char *name)
{
	char path[JOB_PATH], to[JOB_PATH];
	int rc = job_path(&p->job, name, path);

	if (rc)
		return rc;
	snprintf(to, sizeof(to), "%s/%s", strrchr(p->folder, '/') + 1, name);
	return symlink(to, path) && errno != EEXIST ? -errno : 0;
}

/* ---- the files that a client needs ---- */

static int write_file(const struct job_place *p, const char *name,
		      const char *text)
{
	char path[JOB_PATH + 16];
	size_t len = strlen(text);
	int fd, rc = 0;

	snprintf(path, sizeof(path), "%s/%s", p->folder, name);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW,
		  0600);
	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != (ssize_t)len)
		rc = -ENOSPC;
	close(fd);
	return rc ? rc : show_file(p, name);
}

int place_tab(const struct job_place *p, const uint8_t key[MAC_KEY_LEN],
	      const struct job_addr *mgr)
{
	char text[2 * JOB_PATH], hex[66];
	int rc;

	job_key_text(key, hex);
	strcat(hex, "\n");
	rc = write_file(p, "key", hex);
	if (rc)
		return rc;
	snprintf(text, sizeof(text),
		 "%s:/ /pvfs pvfs port=%u,auth=key,key=%s/key 0 0\n", mgr->ip,
		 mgr->port, p->folder);
	return write_file(p, "pvfstab", text);
}
