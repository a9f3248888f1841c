/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_local_fuse.c - a client sends a file of its own FUSE server, which does not reply to the
 * flush of a close(): nothing waits.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/lingering.h"
#include "tests/unit/rig_check.h"
#include "tests/run_suite.h"

#define LEN 64u
#define RECVS 4u
#define PATIENCE_MS 60000u

static struct local_rig rig;
static struct tp_mr *mr;
static uint8_t buf[RECVS * LEN];

#define until(cond) rig_until(&rig, mr, LEN, RECVS, PATIENCE_MS, cond)

/* ---- a file system with one file, in its own process ---- */

static struct shared {
	atomic_bool hangs; /* does not reply to a flush */
	atomic_bool asked; /* a flush was requested meanwhile */
} * shared;

static void answer(int fuse, const struct fuse_in_header *in, int error,
		   const void *body, size_t len)
{
	union {
		struct fuse_out_header head;
		char bytes[sizeof(struct fuse_out_header) + 256];
	} out = { 0 };

	out.head.len = (uint32_t)(sizeof(out.head) + len);
	out.head.error = error;
	out.head.unique = in->unique;
	memcpy(out.bytes + sizeof(out.head), body, len);
	if (write(fuse, out.bytes, out.head.len) < 0)
		_exit(1);
}

static void flush(int fuse, const struct fuse_in_header *in)
{
	while (atomic_load(&shared->hangs)) {
		atomic_store(&shared->asked, true);
		usleep(1000);
	}
	answer(fuse, in, 0, "", 0);
}

static void serve_one(int fuse, const struct fuse_in_header *in)
{
	const struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
					    .minor = 31,
					    .max_write = 4096 };
	const struct fuse_attr_out attr = {
		.attr = { .ino = 1, .mode = S_IFREG | 0644, .nlink = 1 },
	};
	const struct fuse_open_out opened = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		answer(fuse, in, 0, &init, sizeof(init));
		break;
	case FUSE_GETATTR:
		answer(fuse, in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(fuse, in, 0, &opened, sizeof(opened));
		break;
	case FUSE_FLUSH:
		flush(fuse, in);
		break;
	case FUSE_RELEASE:
		answer(fuse, in, 0, "", 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(fuse, in, -ENOSYS, "", 0);
	}
}

static void serve(int fuse)
{
	static union {
		struct fuse_in_header head;
		char bytes[1 << 17];
	} in;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(100);
	while (read(fuse, in.bytes, sizeof(in.bytes)) > 0)
		serve_one(fuse, &in.head);
	_exit(0);
}

/* Mounts the file at path and returns the pid of its server, or the reason why not. */
static pid_t mount_file(const char *path, const char **why)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[96];
	pid_t pid;

	*why = "cannot open /dev/fuse";
	if (fuse < 0)
		return -1;
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=100644,user_id=%u,group_id=%u", fuse,
		 geteuid(), getegid());
	*why = "may not mount FUSE";
	if (mount("local_fuse", path, "fuse", 0, options)) {
		close(fuse);
		return -1;
	}
	pid = fork();
	if (pid == 0)
		serve(fuse);
	close(fuse);
	return pid;
}

/* ---- the test ---- */

static char dir[] = "/tmp/pvfs-local-fuse-XXXXXX";
static char path[sizeof(dir) + 8];

/*
 * Sends the file as the table, which is accepted all the same, and as the wake-up socket, which is
 * rejected.
 */
START_TEST(flushes)
{
	struct local_fds give = LOCAL_NO_FDS;
	unsigned int before = count_fds();
	int raw = raw_connect(&rig), fd = open(path, O_RDONLY);

	ck_assert_int_ge(fd, 0);
	if (_i)
		give.fd[LOCAL_FD_WAKEUP] = give.fd[LOCAL_FD_PAGE] = fd;
	else
		give.fd[LOCAL_FD_TABLE] = fd;
	ck_assert_int_eq(local_hello_send(raw, LOCAL_CONNECT, NULL, 0, &give),
			 0);
	close(fd);
	atomic_store(&shared->asked, false);
	atomic_store(&shared->hangs, true);
	until(rig.ep);
	close(raw);
	until(rig.gone);
	rig_forget_ep(&rig);
	until(atomic_load(&shared->asked));
	rig_works(&rig, mr, LEN, RECVS);
	atomic_store(&shared->hangs, false);
	until(count_fds() <= before);
}
END_TEST

static void setup(void)
{
	rig_start(&rig, buf, sizeof(buf), 0, &mr);
}

static void teardown(void)
{
	rig_end(&rig, mr);
}

static int run(void)
{
	Suite *s = suite_create("local_fuse");
	TCase *tc = tcase_create("fuse");

	tcase_set_timeout(tc, 0);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, flushes, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}

static int skip(const char *why)
{
	printf("skip: %s: %s\n", why, strerror(errno));
	return 77;
}

/* Runs in its own mount namespace, which leaves nothing. */
int main(void)
{
	const char *why;
	pid_t pid;
	int rc;

	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return skip("may not make a mount namespace");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!mkdtemp(dir))
		return skip(dir);
	snprintf(path, sizeof(path), "%s/file", dir);
	rc = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (rc < 0) {
		rmdir(dir);
		return skip(path);
	}
	close(rc);
	pid = mount_file(path, &why);
	rc = pid < 0 ? skip(why) : run();
	umount2(path, MNT_DETACH);
	unlink(path);
	rmdir(dir);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return rc;
}
