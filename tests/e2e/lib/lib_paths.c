/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_paths.c - paths that enter and leave mounts by symlinks and "..", and relative paths. There
 * are two mounts of one file system, and an ordinary folder.
 *
 * usage: lib_paths MOUNT1 MOUNT2 FOLDER
 */
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include <pvfs.h>

static const char *one, *two, *out;

static const char *in(const char *dir, const char *name)
{
	static char path[4][512];
	static unsigned int next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static void put(const char *path, const char *text)
{
	int fd = pvfs_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	EXPECT(fd >= 0);
	EXPECT(pvfs_write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	EXPECT(pvfs_close(fd) == 0);
}

static int holds(const char *path, const char *text)
{
	int fd = pvfs_open(path, O_RDONLY);
	char buf[64] = "";

	EXPECT(fd >= 0);
	EXPECT(pvfs_read(fd, buf, sizeof(buf) - 1) >= 0);
	EXPECT(pvfs_close(fd) == 0);
	return !strcmp(buf, text);
}

static void symlinks(void)
{
	char buf[512] = "";
	struct stat st;

	put(in(one, "f"), "pvfs");
	put(in(out, "g"), "ordinary");
	EXPECT(access(in(out, "g"), F_OK) == 0);
	EXPECT(pvfs_symlink(in(out, "g"), in(one, "leaves")) == 0);
	EXPECT(pvfs_symlink(in(two, "f"), in(one, "crosses")) == 0);
	EXPECT(pvfs_symlink(in(out, ""), in(one, "folder")) == 0);
	EXPECT(holds(in(one, "leaves"), "ordinary"));
	EXPECT(holds(in(one, "crosses"), "pvfs"));
	EXPECT(holds(in(one, "folder/g"), "ordinary"));
	EXPECT(pvfs_stat(in(one, "leaves"), &st) == 0 && st.st_size == 8);
	EXPECT(pvfs_lstat(in(one, "leaves"), &st) == 0);
	EXPECT(S_ISLNK(st.st_mode));
	EXPECT(pvfs_readlink(in(one, "leaves"), buf, sizeof(buf) - 1) > 0);
	EXPECT(!strcmp(buf, in(out, "g")));
	put(in(one, "folder/new"), "through");
	EXPECT(access(in(out, "new"), F_OK) == 0);
	EXPECT(holds(in(out, "new"), "through"));
	EXPECT(pvfs_chmod(in(one, "leaves"), 0600) == 0);
	EXPECT(stat(in(out, "g"), &st) == 0 && (st.st_mode & 0777) == 0600);
}

static void renames(void)
{
	char far[PATH_MAX + 2];

	memset(far, 'a', sizeof(far) - 1);
	far[0] = '/';
	far[sizeof(far) - 1] = '\0';
	EXPECT_ERRNO(pvfs_rename(in(one, "f"), far), ENAMETOOLONG);
	EXPECT_ERRNO(pvfs_link(far, in(one, "g")), ENAMETOOLONG);
	EXPECT_ERRNO(pvfs_rename(in(one, "f"), in(out, "f")), EXDEV);
	EXPECT_ERRNO(pvfs_rename(in(out, "g"), in(one, "g")), EXDEV);
	EXPECT_ERRNO(pvfs_link(in(one, "f"), in(one, "folder/f")), EXDEV);
	EXPECT_ERRNO(pvfs_rename(in(one, "f"), in(one, "folder/f")), EXDEV);
	EXPECT_ERRNO(pvfs_rename(in(one, "folder/new"), in(one, "n")), EXDEV);
	/* both paths leave PVFS: an ordinary rename */
	EXPECT(pvfs_rename(in(one, "folder/new"), in(one, "folder/n2")) == 0);
	EXPECT(access(in(out, "n2"), F_OK) == 0);
	EXPECT(pvfs_unlink(in(one, "folder/n2")) == 0);
	EXPECT(access(in(out, "n2"), F_OK) < 0);
}

static void dots(void)
{
	char path[1024];

	/* `one` and `out` may be at different depths: go up to the root */
	snprintf(path, sizeof(path), "%s/../../../../../..%s/g", one, out);
	EXPECT(holds(path, "ordinary"));
	snprintf(path, sizeof(path), "/./%s/.././%s/f", out + 1, one + 1);
	EXPECT_ERRNO(pvfs_open(path, O_RDONLY), ENOENT);
	snprintf(path, sizeof(path), "/proc/..//.%s/f", one);
	EXPECT(holds(path, "pvfs"));
	EXPECT(pvfs_symlink("../../../../../../../proc/self/status",
			    in(one, "far")) == 0);
	path[0] = '\0';
	EXPECT(pvfs_access(in(one, "far"), R_OK) == 0);
}

static void relative(void)
{
	char up[1024] = "", cwd[512], *p;

	EXPECT(chdir(out) == 0);
	EXPECT(holds("g", "ordinary"));
	EXPECT(getcwd(cwd, sizeof(cwd)));
	for (p = cwd; *p; p++) {
		if (*p == '/')
			strcat(up, "../");
	}
	strcat(up, one + 1);
	EXPECT(holds(in(up, "f"), "pvfs"));
	EXPECT(pvfs_is_pvfs(in(up, "f")) == 1);
	EXPECT(pvfs_is_pvfs("g") == 0);
}

static void loops(void)
{
	EXPECT(pvfs_symlink(in(two, "loop2"), in(one, "loop1")) == 0);
	EXPECT(pvfs_symlink(in(one, "loop1"), in(two, "loop2")) == 0);
	EXPECT_ERRNO(pvfs_open(in(one, "loop1"), O_RDONLY), ELOOP);
	EXPECT_ERRNO(pvfs_open("", O_RDONLY), ENOENT);
	EXPECT_ERRNO(pvfs_mkdir(in(one, ""), 0755), EEXIST);
}

/* Both mounts show one file system, through two instances of the library's session. */
static void instances(void)
{
	struct stat a, b;
	char buf[8] = "";
	int fd;

	EXPECT(holds(in(two, "f"), "pvfs"));
	EXPECT(pvfs_stat(in(one, "f"), &a) == 0);
	EXPECT(pvfs_stat(in(two, "f"), &b) == 0);
	EXPECT(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
	EXPECT_ERRNO(pvfs_rename(in(one, "f"), in(two, "f2")), EXDEV);
	fd = pvfs_open(in(one, "f"), O_RDWR);
	EXPECT(fd >= 0 && pvfs_pwrite(fd, "PV", 2, 0) == 2);
	EXPECT(holds(in(two, "f"), "PVfs"));
	EXPECT(pvfs_truncate(in(two, "f"), 2) == 0);
	EXPECT(pvfs_pread(fd, buf, sizeof(buf), 0) == 2);
	EXPECT(pvfs_close(fd) == 0);
	EXPECT(pvfs_stat(in(one, "f"), &a) == 0 && a.st_size == 2);
}

static void mounts(void)
{
	struct pvfs_server list[8];
	struct pvfs_layout layout;
	char dir[64];
	int64_t local;
	int n;

	EXPECT(pvfs_mount_point(0, dir, sizeof(dir)) == 0);
	EXPECT(!strcmp(dir, one));
	EXPECT_ERRNO(pvfs_mount_point(0, dir, 3), ERANGE);
	EXPECT_ERRNO(pvfs_mount_point(2, dir, sizeof(dir)), ENOENT);
	n = pvfs_servers(one, list, 8);
	EXPECT(n >= 2 && list[0].role == PVFS_MGR);
	EXPECT(list[1].role == PVFS_IOD && list[n - 1].index == n - 2);
	EXPECT_ERRNO(pvfs_servers(out, list, 8), ENODEV);
	EXPECT(pvfs_layout(in(one, "f"), &layout) == 0);
	EXPECT((int)layout.niods == n - 1);
	EXPECT(pvfs_locate(&layout, layout.ssize + 5, &local) ==
	       (int)((layout.base + (layout.pcount > 1)) % layout.niods));
	EXPECT(local == (layout.pcount > 1 ? 5 : layout.ssize + 5));
	EXPECT_ERRNO(pvfs_layout(one, &layout), EISDIR);
	EXPECT_ERRNO(pvfs_layout(in(out, "g"), &layout), ENODEV);
}

int main(int argc, char **argv)
{
	EXPECT(argc == 4);
	one = argv[1];
	two = argv[2];
	out = argv[3];
	symlinks();
	renames();
	dots();
	relative();
	loops();
	instances();
	mounts();
	puts("ok");
	return 0;
}
