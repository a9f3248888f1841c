/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvfault.c - prints the result of calls with inaccessible addresses, one line each.
 *
 * usage: pvfault DIR
 *
 * DIR has a directory "d", a file "f" with the attribute user.a, and a link "l". Each call runs in
 * a child, because a signal may kill it.
 */
#undef _FILE_OFFSET_BITS
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

/* libc's headers declare that some arguments are never NULL. */
#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static const char *top; /* the argument DIR */
/* descriptors of DIR, its file "f", and the root directory */
static int dir, file, here;

/* call() passes the inaccessible address `bad`.  Returns -1 and sets errno, or another result. */
struct row {
	const char *name;
	long (*call)(void *bad);
};
#define ROW(name, expr)                                                        \
	static long row_##name(void *bad)                                      \
	{                                                                      \
		(void)bad;                                                     \
		return (long)(expr);                                           \
	}
#define LIST(name, expr) { #name, row_##name },

/* Calls with one or two paths. */
/* clang-format off */
#define PATHS(X) \
	X(open, open(bad, O_RDONLY)) \
	X(open_creat, open(bad, O_RDWR | O_CREAT, 0600)) \
	X(openat, openat(dir, bad, O_RDONLY)) \
	X(openat_here, openat(here, bad, O_RDONLY)) \
	X(creat, creat(bad, 0600)) \
	X(stat, stat(bad, &(struct stat){ 0 })) \
	X(lstat, lstat(bad, &(struct stat){ 0 })) \
	X(fstatat, fstatat(dir, bad, &(struct stat){ 0 }, 0)) \
	X(fstatat_empty, fstatat(dir, bad, &(struct stat){ 0 }, AT_EMPTY_PATH)) \
	X(statx, statx(dir, bad, 0, STATX_ALL, &(struct statx){ 0 })) \
	X(access, access(bad, R_OK)) \
	X(access_mode, access(bad, 077)) \
	X(euidaccess, euidaccess(bad, R_OK)) \
	X(faccessat, faccessat(dir, bad, R_OK, 0)) \
	X(chmod, chmod(bad, 0600)) \
	X(fchmodat, fchmodat(dir, bad, 0600, 0)) \
	X(chown, chown(bad, -1, -1)) \
	X(lchown, lchown(bad, -1, -1)) \
	X(fchownat, fchownat(dir, bad, -1, -1, 0)) \
	X(utimensat, utimensat(dir, bad, NULL, 0)) \
	X(utime, utime(bad, NULL)) \
	X(utimes, utimes(bad, NULL)) \
	X(lutimes, lutimes(bad, NULL)) \
	X(truncate, truncate(bad, 5)) \
	X(statfs, statfs(bad, &(struct statfs){ 0 })) \
	X(statvfs, statvfs(bad, &(struct statvfs){ 0 })) \
	X(pathconf, pathconf(bad, _PC_LINK_MAX)) \
	X(mkdir, mkdir(bad, 0700)) \
	X(mkdirat, mkdirat(dir, bad, 0700)) \
	X(mknod, mknod(bad, S_IFIFO | 0600, 0)) \
	X(mknodat, mknodat(dir, bad, S_IFIFO | 0600, 0)) \
	X(mkfifo, mkfifo(bad, 0600)) \
	X(mkfifoat, mkfifoat(dir, bad, 0600)) \
	X(rmdir, rmdir(bad)) \
	X(unlink, unlink(bad)) \
	X(unlinkat, unlinkat(dir, bad, 0)) \
	X(unlinkat_flags, unlinkat(dir, bad, 077)) \
	X(remove, remove(bad)) \
	X(rename_from, rename(bad, "new")) \
	X(rename_to, rename("f", bad)) \
	X(renameat_from, renameat(dir, bad, dir, "new")) \
	X(renameat_to, renameat(dir, "f", dir, bad)) \
	X(renameat_here, renameat(here, bad, dir, "new")) \
	X(renameat2_from, renameat2(dir, bad, dir, "new", 0)) \
	X(renameat2_to, renameat2(dir, "f", dir, bad, 0)) \
	X(link_from, link(bad, "new")) \
	X(link_to, link("f", bad)) \
	X(linkat_from, linkat(dir, bad, dir, "new", 0)) \
	X(linkat_to, linkat(dir, "f", dir, bad, 0)) \
	X(symlink_to, symlink("f", bad)) \
	X(symlinkat_to, symlinkat("f", dir, bad)) \
	X(readlink, readlink(bad, (char[9]){ 0 }, 9)) \
	X(readlinkat, readlinkat(dir, bad, (char[9]){ 0 }, 9)) \
	X(setxattr, setxattr(bad, "user.b", "v", 1, 0)) \
	X(lsetxattr, lsetxattr(bad, "user.b", "v", 1, 0)) \
	X(getxattr, getxattr(bad, "user.a", (char[9]){ 0 }, 9)) \
	X(lgetxattr, lgetxattr(bad, "user.a", (char[9]){ 0 }, 9)) \
	X(listxattr, listxattr(bad, (char[99]){ 0 }, 99)) \
	X(llistxattr, llistxattr(bad, (char[99]){ 0 }, 99)) \
	X(removexattr, removexattr(bad, "user.b")) \
	X(lremovexattr, lremovexattr(bad, "user.b")) \
	X(opendir, opendir(bad) ? 0 : -1) \
	X(fopen, fopen(bad, "r") ? 0 : -1) \
	X(freopen, freopen(bad, "r", stdin) ? 0 : -1) \
	X(chdir, chdir(bad)) \
	X(chroot, chroot(bad)) \
	X(execve, execve(bad, (char *[]){ "x", NULL }, (char *[]){ NULL })) \
	X(execv, execv(bad, (char *[]){ "x", NULL })) \
	X(execveat, execveat(here, bad, (char *[]){ "x", NULL }, (char *[]){ NULL }, 0)) \
	X(inotify, inotify_add_watch(inotify_init1(0), bad, IN_CREATE)) \
	X(bind, bind(socket(AF_UNIX, SOCK_STREAM, 0), bad, sizeof(struct sockaddr_un))) \
	X(posix_spawn, -!!(errno = posix_spawn(&(pid_t){ 0 }, bad, NULL, NULL, \
		(char *[]){ "x", NULL }, (char *[]){ NULL })))

/* Calls with another bad argument, which they read or fill. */
#define OTHERS(X) \
	X(stat_st, stat("f", bad)) \
	X(lstat_st, lstat("f", bad)) \
	X(stat_none, stat("none", bad)) \
	X(fstat_st, fstat(file, bad)) \
	X(fstatat_st, fstatat(dir, "f", bad, 0)) \
	X(statx_st, statx(dir, "f", 0, STATX_ALL, bad)) \
	X(statfs_st, statfs("f", bad)) \
	X(fstatfs_st, fstatfs(file, bad)) \
	X(utime_times, utime("f", bad)) \
	X(utimes_times, utimes("f", bad)) \
	X(futimes_times, futimes(file, bad)) \
	X(lutimes_times, lutimes("f", bad)) \
	X(futimens_times, futimens(file, bad)) \
	X(futimesat_times, futimesat(dir, "f", bad)) \
	X(utimensat_times, utimensat(dir, "f", bad, 0)) \
	X(symlink_target, symlink(bad, "new")) \
	X(symlinkat_target, symlinkat(bad, dir, "new")) \
	X(readlink_buf, readlink("l", bad, 9)) \
	X(readlinkat_buf, readlinkat(dir, "l", bad, 9)) \
	X(setxattr_name, setxattr("f", bad, "v", 1, 0)) \
	X(setxattr_value, setxattr("f", "user.b", bad, 99, 0)) \
	X(fsetxattr_value, fsetxattr(file, "user.b", bad, 99, 0)) \
	X(getxattr_name, getxattr("f", bad, (char[9]){ 0 }, 9)) \
	X(getxattr_value, getxattr("f", "user.a", bad, 9)) \
	X(fgetxattr_value, fgetxattr(file, "user.a", bad, 9)) \
	X(listxattr_names, listxattr("f", bad, 99)) \
	X(flistxattr_names, flistxattr(file, bad, 99)) \
	X(removexattr_name, removexattr("f", bad)) \
	X(getdents64, getdents64(open(".", O_RDONLY), bad, 4096)) \
	X(read_buf, read(file, bad, 9)) \
	X(write_buf, write(file, bad, 9)) \
	X(pread_buf, pread(file, bad, 9, 0)) \
	X(pwrite_buf, pwrite(file, bad, 9, 0)) \
	X(readv_list, readv(file, bad, 2)) \
	X(writev_list, writev(file, bad, 2)) \
	X(preadv_list, preadv(file, bad, 2, 0)) \
	X(pwritev_list, pwritev(file, bad, 2, 0)) \
	X(readv_buf, readv(file, &(struct iovec){ bad, 9 }, 1)) \
	X(writev_buf, writev(file, &(struct iovec){ bad, 9 }, 1)) \
	X(copy_in, copy_file_range(file, bad, file, &(off64_t){ 99 }, 5, 0)) \
	X(copy_out, copy_file_range(file, &(off64_t){ 0 }, file, bad, 5, 0)) \
	X(setlk, fcntl(file, F_SETLK, bad)) \
	X(setlkw, fcntl(file, F_SETLKW, bad)) \
	X(getlk, fcntl(file, F_GETLK, bad)) \
	X(ofd_setlk, fcntl(file, F_OFD_SETLK, bad)) \
	X(getcwd, getcwd(bad, 4096) ? 0 : -1) \
	X(execve_argv, execve("/bin/true", bad, (char *[]){ NULL })) \
	X(execve_envp, execve("/bin/true", (char *[]){ "x", NULL }, bad))
/* clang-format on */
PATHS(ROW)
OTHERS(ROW)
static const struct row paths[] = { PATHS(LIST) };
static const struct row others[] = { OTHERS(LIST) };

/* ---- addresses ---- */

/*
 * Returns the end of readable memory: the next page is inaccessible. That page stays mapped, so
 * that the library cannot get memory there later.
 */
static char *edge(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *two = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (two == MAP_FAILED || mprotect(two + 2 * page, page, PROT_NONE))
		exit(2);
	/* if it is read as a path, a harmless name */
	memset(two, '0', 2 * page);
	return two + 2 * page;
}

/* ---- a call ---- */

/*
 * Runs in the child, so that the parent has no threads of the library. A child of a process with
 * threads can wait for a lock of AddressSanitizer for ever, because fork() does not handle that
 * lock.
 */
static void enter(void)
{
	here = open("/", O_RDONLY | O_DIRECTORY);
	if (chdir(top) || (dir = open(".", O_RDONLY | O_DIRECTORY)) < 0 ||
	    (file = open("f", O_RDWR)) < 0) {
		perror(top);
		_exit(2);
	}
}

static void run(const struct row *row, const char *what, void *bad)
{
	int p[2], status = 0, answer[2] = { 0, 0 };
	pid_t pid;

	fflush(stdout);
	if (pipe2(p, O_CLOEXEC) || (pid = fork()) < 0)
		exit(2);
	if (!pid) {
		const struct rlimit none = { 0, 0 };

		setrlimit(RLIMIT_CORE, &none);
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		alarm(60); /* a call that hangs is printed in its own line */
		enter();
		errno = 0;
		answer[0] = row->call(bad) == -1;
		answer[1] = answer[0] ? errno : 0;
		_exit(write(p[1], answer, sizeof(answer)) < 0);
	}
	close(p[1]);
	status = read(p[0], answer, sizeof(answer)) != sizeof(answer);
	close(p[0]);
	if (waitpid(pid, status ? &status : NULL, 0) != pid)
		exit(2);
	if (status)
		printf("%s %s: %s %d\n", row->name, what,
		       WIFSIGNALED(status) ? "signal" : "exit",
		       WIFSIGNALED(status) ? WTERMSIG(status)
					   : WEXITSTATUS(status));
	else
		printf("%s %s: %s\n", row->name, what,
		       answer[0] ? strerrorname_np(answer[1]) : "no error");
}

static void each(const struct row *row, size_t n)
{
	char *end = edge();
	const struct {
		const char *what;
		void *bad;
	} addresses[] = {
		{ "NULL", NULL },
		{ "1", (void *)1 },
		{ "of the kernel", (void *)(UINTPTR_MAX - 4095) },
		{ "not there", end },
		{ "a text that runs out", end - 3 },
		{ "a long text that runs out", end - PATH_MAX },
	};

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof(addresses) / sizeof(addresses[0]);
		     k++)
			run(&row[i], addresses[k].what, addresses[k].bad);
}

int main(int argc, char **argv)
{
	if (argc != 2 || !freopen("/dev/null", "r", stdin))
		return 2;
	top = argv[1];
	each(paths, sizeof(paths) / sizeof(paths[0]));
	each(others, sizeof(others) / sizeof(others[0]));
	return 0;
}
