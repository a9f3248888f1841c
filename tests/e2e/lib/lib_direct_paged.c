/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_direct_paged.c - a borrower writes from memory that must be paged in from the same iod, such
 * as a mapped file of a mount. Meanwhile another process writes to the same object by a message.
 * The kernel locks the object until the memory is paged in, so the iod must be able to serve the
 * read.
 *
 * 	lib_direct_paged DIR IOD short|long	IOD is the pid of the iod; the other process
 * 						makes a short or a long write
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <pvfs.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/quiet_fork.h"

#define PAGE 4096
#define LONG (512 << 10)

static const char *dir, *iod;
static int in, out, faults;
static char *paged;

static int open_it(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = pvfs_open(path, O_RDWR | O_CREAT, 0644);
	EXPECT(fd >= 0);
	return fd;
}

/*
 * Returns whether a thread of the iod waits for a kernel lock; false if the kernel does not show
 * it.
 */
static bool waits(const char *tid)
{
	char path[300], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/task/%s/wchan", iod, tid);
	f = fopen(path, "r");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		fclose(f);
	return strstr(text, "rwsem");
}

static bool some_wait(void)
{
	char path[64];
	bool found = false;
	struct dirent *de;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%s/task", iod);
	d = opendir(path);
	EXPECT(d);
	while (!found && (de = readdir(d)))
		found = de->d_name[0] != '.' && waits(de->d_name);
	closedir(d);
	return found;
}

/* ---- the other process ---- */

/* A short write is sent in its message.  For a long write the iod reads the bytes by RDMA. */
static void other(int go, int ready, size_t len)
{
	static char buf[LONG];
	int fd;
	char c;

	EXPECT(!setenv("PVFS_DIRECT", "off", 1));
	fd = open_it("out");
	EXPECT(pvfs_pwrite(fd, buf, len, PAGE) == (ssize_t)len);
	EXPECT(write(ready, "", 1) == 1);
	EXPECT(read(go, &c, 1) == 1);
	memset(buf, 'o', len);
	EXPECT(pvfs_pwrite(fd, buf, len, PAGE) == (ssize_t)len);
	EXPECT(!pvfs_close(fd));
	exit(0);
}

/* ---- the borrower, and its paged memory ---- */

static bool map_paged(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .range.len = PAGE,
				       .mode = UFFDIO_REGISTER_MODE_MISSING };

	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (faults < 0)
		return false;
	paged = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(paged != MAP_FAILED);
	reg.range.start = (uintptr_t)paged;
	EXPECT(!ioctl(faults, UFFDIO_API, &api));
	EXPECT(!ioctl(faults, UFFDIO_REGISTER, &reg));
	return true;
}

static void *page_in(void *arg)
{
	static _Alignas(PAGE) char page[PAGE];
	struct uffdio_copy copy = { .dst = (uintptr_t)paged,
				    .src = (uintptr_t)page,
				    .len = PAGE };
	const int *go = arg;
	struct uffd_msg msg;

	EXPECT(read(faults, &msg, sizeof(msg)) == sizeof(msg));
	EXPECT(write(*go, "", 1) == 1);
	for (int i = 0; i < 300 && !some_wait(); i++)
		usleep(10000);
	EXPECT(pvfs_pread(in, page, PAGE, 0) == PAGE);
	EXPECT(!ioctl(faults, UFFDIO_COPY, &copy));
	return NULL;
}

/* Writes until the object is borrowed. */
static void borrow(void)
{
	struct pvfs_way_counters w;
	char buf[100] = "";

	for (int i = 0; i < 50; i++)
		EXPECT(pvfs_pwrite(out, buf, sizeof(buf), 0) == sizeof(buf));
	EXPECT(!pvfs_way_counters(out, &w));
	EXPECT(w.without > 0);
}

static void look(size_t len)
{
	static char buf[PAGE + LONG];

	EXPECT(pvfs_pread(out, buf, PAGE + len, 0) == (ssize_t)(PAGE + len));
	for (size_t i = 0; i < PAGE + len; i++)
		EXPECT(buf[i] == (i < PAGE ? 'i' : 'o'));
}

static void paged_write(int *go, size_t len)
{
	char page[PAGE];
	pthread_t t;

	in = open_it("in");
	out = open_it("out");
	memset(page, 'i', PAGE);
	EXPECT(pvfs_pwrite(in, page, PAGE, 0) == PAGE);
	borrow();
	EXPECT(!pthread_create(&t, NULL, page_in, go));
	EXPECT(pvfs_pwrite(out, paged, PAGE, 0) == PAGE);
	EXPECT(!pthread_join(t, NULL));
}

static void run(size_t len)
{
	int go[2], ready[2], status;
	pid_t pid;
	char c;

	EXPECT(!pipe(go) && !pipe(ready));
	pid = quiet_fork();
	if (!pid)
		other(go[0], ready[1], len);
	EXPECT(read(ready[0], &c, 1) == 1);
	paged_write(&go[1], len);
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	look(len);
}

int main(int argc, char **argv)
{
	EXPECT(argc == 4);
	dir = argv[1];
	iod = argv[2];
	if (!map_paged())
		puts("no userfaultfd");
	else
		run(strcmp(argv[3], "long") ? 100 : LONG);
	puts("ok");
	return 0;
}
