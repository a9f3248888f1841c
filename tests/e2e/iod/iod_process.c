/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod_process.c - the program pvfs-iod (named by PVFS_IOD): options, wrong configurations, a clean
 * stop, SIGKILL during writes, garbage from strangers, a full disk, and the cost of an idle
 * process.
 */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "tests/e2e/iod/iodc.h"
#include "tests/run_suite.h"

static char dir[64], conf_path[80], store_path[80];
static int port;
static pid_t pid;
static char said[8192]; /* all log lines of the process */
static size_t said_len;
static int log_fd = -1;
static struct addr addr;

static void write_conf(const char *iod, const char *iod0)
{
	FILE *f = fopen(conf_path, "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f,
		"[filesystem]\nid = %016llx\n[iod]\n%s\n[iod.0]\n%s\n"
		"[mgr]\naddress = tcp://127.0.0.1:3000\n",
		(unsigned long long)IODC_FSID, iod, iod0);
	fclose(f);
}

/* Writes a usual [iod.0] with further settings. */
static void configure(const char *iod)
{
	char place[256];

	snprintf(place, sizeof(place),
		 "address = tcp://127.0.0.1:%d\nstorage = %s", port,
		 store_path);
	write_conf(iod, place);
}

static void spawn(const char *index)
{
	int fds[2];

	said_len = 0;
	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		dup2(fds[1], 2);
		/* set by meson; it would touch all memory */
		unsetenv("MALLOC_PERTURB_");
		execl(getenv("PVFS_IOD"), "pvfs-iod", "--config", conf_path,
		      "--index", index, NULL);
		_exit(127);
	}
	close(fds[1]);
	if (log_fd >= 0)
		close(log_fd);
	log_fd = fds[0];
}

/* Reads the log.  Returns true if it contains text, and false if the process ends before. */
static bool says(const char *text)
{
	struct pollfd p = { log_fd, POLLIN, 0 };
	ssize_t n;

	for (;;) {
		said[said_len] = '\0';
		if (text && strstr(said, text))
			return true;
		ck_assert_int_eq(poll(&p, 1, 20000), 1);
		n = read(log_fd, said + said_len, sizeof(said) - 1 - said_len);
		if (n <= 0)
			return false;
		said_len += (size_t)n;
	}
}

static void wait_ready(void)
{
	const char *at;

	ck_assert_msg(says("waits: ") && says("storage"), "%s", said);
	at = strstr(said, "tcp://127.0.0.1:");
	ck_assert_ptr_nonnull(at);
	port = atoi(at + strlen("tcp://127.0.0.1:"));
	strcpy(addr.scheme, "tcp");
	strcpy(addr.host, "127.0.0.1");
	addr.port = (uint16_t)port;
	iodc_serve(&addr);
	ck_assert_msg(says("ready: ") && says(" engine "), "%s", said);
}

/* Returns the status of waitpid(2). */
static int ended(void)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	pid = 0;
	return status;
}

static void setup(void)
{
	iodc_mkdir(dir);
	snprintf(conf_path, sizeof(conf_path), "%s/pvfs.conf", dir);
	snprintf(store_path, sizeof(store_path), "%s/store", dir);
	port = 0;
	configure("threads = 2");
}

static void teardown(void)
{
	if (pid) {
		kill(pid, SIGKILL);
		ended();
	}
	iodc_rmdir(dir);
}

static void start(const char *iod)
{
	configure(iod);
	spawn("0");
	wait_ready();
}

/* Checks that the process does not start, and that its log names the place and the remedy. */
static void refuses(const char *index, const char *place, const char *fix)
{
	int status;

	spawn(index);
	says(NULL);
	status = ended();
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 1, "%s",
		      said);
	ck_assert_msg(strstr(said, place) && strstr(said, fix), "%s", said);
}

START_TEST(wrong_configurations)
{
	char place[128];

	refuses("1", "pvfs.conf", "[iod.1]");
	write_conf("sync = perhaps", "");
	refuses("0", "pvfs.conf:4:", "on");
	write_conf("thraeds = 2", "");
	refuses("0", "pvfs.conf:4:", "thraeds");
	write_conf("threads = 0", "");
	refuses("0", "pvfs.conf:4:", "threads");
	write_conf("zones = 64K:1", "");
	refuses("0", "pvfs.conf:4:", "zones");
	write_conf("zones = 128K:8 64K:8", "");
	refuses("0", "pvfs.conf:4:", "zones");
	write_conf("zones = 64K", "");
	refuses("0", "pvfs.conf:4:", "SIZE:COUNT");
	write_conf("unit_size = 5000", "");
	refuses("0", "pvfs.conf:4:", "unit_size");
	write_conf("engine = steam", "");
	refuses("0", "pvfs.conf:4:", "cached, direct or auto");
	write_conf("", "storage = /tmp/x");
	refuses("0", "pvfs.conf", "address");
	write_conf("", "address = 127.0.0.1");
	refuses("0", "pvfs.conf:6:", "pvfs://");
	write_conf("", "address = tcp://127.0.0.1:0");
	refuses("0", "pvfs.conf", "storage");
	write_conf("", "address = smoke://127.0.0.1:0\nstorage = /tmp/x");
	refuses("0", "pvfs.conf:6:", "pvfs://HOST");
	snprintf(place, sizeof(place),
		 "address = tcp://127.0.0.1:0\n"
		 "storage = %s/no/such",
		 dir);
	write_conf("", place);
	refuses("0", "/no/such", "storage");
	unlink(conf_path);
	refuses("0", "pvfs.conf", "No such file");
}
END_TEST

START_TEST(one_daemon_per_store)
{
	pid_t first;

	start("");
	first = pid;
	port = 0;
	configure("");
	refuses("0", store_path, "another daemon");
	pid = first;
}
END_TEST

START_TEST(clean_stop)
{
	struct iodc c;

	start("threads = 3");
	kill(pid, SIGUSR1); /* is ignored */
	iodc_open(&c, &addr, WIRE_ROLE_CLIENT, 0);
	ck_assert_int_eq(iodc_pwrite(&c, 1, 0, 1 << 20), 0);
	kill(pid, _i ? SIGINT : SIGTERM);
	ck_assert(says("stopped"));
	ck_assert_int_eq(ended(), 0);
	iodc_close(&c);
}
END_TEST

/* ---- SIGKILL ---- */

#define RECORD 100000u

struct writer {
	pthread_t thread;
	uint64_t handle;
	struct addr addr;
	atomic_uint acked; /* number of acknowledged records */
	atomic_bool stop;
};

static void fill(uint8_t *buf, uint64_t handle, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < RECORD; i++)
		buf[i] = (uint8_t)(handle * 31 + n * 7 + i % 253);
}

static void *write_records(void *arg)
{
	struct writer *w = arg;
	struct iodc c;
	uint32_t n;

	iodc_open(&c, &w->addr, WIRE_ROLE_CLIENT, 0);
	c.timeout_ms = 20000;
	for (n = 0; !atomic_load(&w->stop); n++) {
		fill(c.arena, w->handle, n);
		must(!iodc_pwrite(&c, w->handle, (uint64_t)n * RECORD, RECORD));
		atomic_store(&w->acked, n + 1);
	}
	iodc_close(&c);
	return NULL;
}

static void check_records(struct writer *w)
{
	uint8_t *want = malloc(RECORD);
	uint32_t n, acked = atomic_load(&w->acked);
	uint64_t done;
	struct iodc c;

	iodc_open(&c, &addr, WIRE_ROLE_CLIENT, 0);
	for (n = 0; n < acked; n++) {
		fill(want, w->handle, n);
		ck_assert_int_eq(iodc_pread(&c, w->handle, (uint64_t)n * RECORD,
					    RECORD, &done),
				 0);
		ck_assert_uint_eq(done, RECORD);
		ck_assert_mem_eq(c.arena, want, RECORD);
	}
	iodc_close(&c);
	free(want);
}

/* Waits until every writer has written n more records. */
static void progress(struct writer *w, unsigned int nw, unsigned int n)
{
	unsigned int i, from[4];

	for (i = 0; i < nw; i++)
		from[i] = atomic_load(&w[i].acked);
	for (i = 0; i < nw; i++)
		while (atomic_load(&w[i].acked) < from[i] + n)
			usleep(1000);
}

/* Writers continue over three kills, and every acknowledged write is there. */
START_TEST(killed_while_writing)
{
	struct writer w[3] = { 0 };
	unsigned int i, round;

	start("sync = on\nthreads = 2");
	for (i = 0; i < 3; i++) {
		w[i].handle = 40 + i;
		w[i].addr = addr;
		pthread_create(&w[i].thread, NULL, write_records, &w[i]);
	}
	for (round = 0; round < 3; round++) {
		progress(w, 3, 5);
		kill(pid, SIGKILL);
		ended();
		start("sync = on\nthreads = 2");
	}
	progress(w, 3, 3);
	for (i = 0; i < 3; i++)
		atomic_store(&w[i].stop, true);
	for (i = 0; i < 3; i++)
		pthread_join(w[i].thread, NULL);
	kill(pid, SIGKILL);
	ended();
	start("sync = on");
	for (i = 0; i < 3; i++)
		check_records(&w[i]);
}
END_TEST

/* ---- strangers ---- */

static int raw_connect(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
				   .sin_port = htons((uint16_t)port),
				   .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(connect(fd, (void *)&sin, sizeof(sin)), 0);
	return fd;
}

START_TEST(garbage_costs_its_connection)
{
	unsigned int seed = 7, i, j;
	uint8_t junk[512];
	struct iodc c;
	int fd;

	start("threads = 2");
	iodc_open(&c, &addr, WIRE_ROLE_CLIENT, 0);
	ck_assert_int_eq(iodc_pwrite(&c, 1, 0, 100000), 0);
	for (i = 0; i < 60; i++) {
		fd = raw_connect();
		for (j = 0; j < sizeof(junk); j++)
			junk[j] = (uint8_t)rand_r(&seed);
		send(fd, junk, 1 + (size_t)rand_r(&seed) % sizeof(junk),
		     MSG_NOSIGNAL);
		if (i % 2)
			recv(fd, junk, 1, MSG_DONTWAIT);
		close(fd);
	}
	ck_assert_int_eq(iodc_pwrite(&c, 1, 100000, 100000), 0);
	iodc_close(&c);
	kill(pid, SIGTERM);
	says(NULL);
	ck_assert_int_eq(ended(), 0);
}
END_TEST

/* ---- a full disk ---- */

static bool mount_small(void)
{
	mkdir(store_path, 0700);
	if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return false;
	return !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", store_path, "tmpfs", 0, "size=4m");
}

START_TEST(full_disk)
{
	uint64_t done;
	struct iodc c, mgr;
	int i, rc = 0;

	if (!mount_small()) {
		fprintf(stderr, "SKIPPED: full disk: may not mount a tmpfs\n");
		return;
	}
	start("threads = 2");
	iodc_open(&c, &addr, WIRE_ROLE_CLIENT, 0);
	iodc_open_mgr(&mgr, &addr);
	memset(c.arena, 'a', 1 << 20);
	ck_assert_int_eq(iodc_pwrite(&c, 1, 0, 1 << 20), 0);
	ck_assert_int_eq(iodc_resize(&mgr, 4, 1 << 20), 0);
	for (i = 0; i < 8 && !rc; i++)
		rc = iodc_pwrite(&c, 2, (uint64_t)i << 20, 1 << 20);
	ck_assert_int_eq(rc, -ENOSPC);
	ck_assert_int_eq(iodc_pwrite(&c, 2, 16 << 20, 100), -ENOSPC);
	ck_assert_int_eq(iodc_pwrite(&c, 4, 0, 1 << 20), -ENOSPC);
	ck_assert_int_eq(iodc_pread(&c, 1, 0, 1 << 20, &done), 0);
	ck_assert_uint_eq(done, 1 << 20);
	ck_assert_int_eq(c.arena[(1 << 20) - 1], 'a');
	ck_assert_int_eq(iodc_pwrite(&c, 1, 0, 1 << 20), 0);
	ck_assert_int_eq(iodc_remove(&mgr, 2), 0);
	ck_assert_int_eq(iodc_pwrite(&c, 3, 0, 2 << 20), 0);
	iodc_close(&c);
	iodc_close(&mgr);
	kill(pid, SIGTERM);
	says(NULL);
	ck_assert_int_eq(ended(), 0);
	ck_assert_int_eq(umount2(store_path, MNT_DETACH), 0);
}
END_TEST

/* ---- idle ---- */

/* Returns utime + stime of the process, in clock ticks. */
static long cpu_ticks(void)
{
	char path[64], line[512];
	unsigned long ut, st;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	fclose(f);
	ck_assert_int_eq(sscanf(strrchr(line, ')') + 2,
				"%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
				"%lu %lu",
				&ut, &st),
			 2);
	return (long)(ut + st);
}

static long rss_kib(void)
{
	char path[64], line[128];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (kib < 0 && fgets(line, sizeof(line), f))
		sscanf(line, "VmRSS: %ld", &kib);
	fclose(f);
	return kib;
}

/* Returns whether the process is idle.  On a busy disk, earlier writes may need some time. */
static bool idles(unsigned int seconds)
{
	long ticks;
	int try;

	for (try = 0; try < 3; try++) {
		ticks = cpu_ticks();
		sleep(seconds);
		if (cpu_ticks() - ticks <= 1)
			return true;
	}
	return false;
}

START_TEST(idle_costs_nothing)
{
	struct iodc c;

	start("threads = 4\nzones = 256K:256");
	iodc_open(&c, &addr, WIRE_ROLE_CLIENT, 0);
	ck_assert_int_eq(iodc_pwrite(&c, 1, 0, 4 << 20), 0);
	ck_assert(idles(2));
	if (!getenv("PVFS_SANITIZED"))
		ck_assert_int_lt(rss_kib(), 64 * 1024);
	iodc_close(&c);
}
END_TEST

/*
 * Connections that have written and are idle register at most 1 MiB each, and a thousand of them
 * less than 512 MiB.
 */
#define IDLE 200

static unsigned long registered(struct iodc *c)
{
	const struct wire_metrics body = { .groups = htole32(WIRE_MG_INSIDE) };
	const struct wire_metric *m;
	const char *why;
	size_t at = 0, len;

	ck_assert_int_eq(
		iodc_call(c, WIRE_METRICS, &body, sizeof(body), NULL, 0), 0);
	do {
		m = (const void *)(c->tail + at);
		len = wire_metric_len(m, c->tail_len - at, &why);
		ck_assert_uint_gt(len, 0);
		at += len;
	} while (strcmp(wire_metric_text(m), "registered_bytes"));
	return le64toh(m->n);
}

START_TEST(idle_connections_are_cheap)
{
	static struct iodc c[IDLE], asks;
	unsigned long bytes;
	long kib;
	unsigned int i;

	start("threads = 2\nzones = 64K:4");
	iodc_open(&asks, &addr, WIRE_ROLE_CLIENT, 0);
	kib = rss_kib();
	bytes = registered(&asks);
	for (i = 0; i < IDLE; i++) {
		iodc_open(&c[i], &addr, WIRE_ROLE_CLIENT, 0);
		ck_assert_int_eq(iodc_pwrite(&c[i], 1, 0, 8192), 0);
		said_len = 0;
		ck_assert(says("opens session"));
	}
	bytes = (registered(&asks) - bytes) / IDLE;
	ck_assert_uint_gt(bytes, 64 * 1024);
	ck_assert_msg(bytes <= 1024 * 1024, "%lu bytes a connection", bytes);
	kib = rss_kib() - kib;
	if (!getenv("PVFS_SANITIZED"))
		ck_assert_msg(kib / IDLE < 512 * 1024 / 1000,
			      "%ld KiB a connection", kib / IDLE);
	ck_assert(idles(1));
	for (i = 0; i < IDLE; i++)
		iodc_close(&c[i]);
	iodc_close(&asks);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("iod_process");
	TCase *tc = tcase_create("process");

	if (!getenv("PVFS_IOD")) {
		fprintf(stderr, "PVFS_IOD must name the program pvfs-iod\n");
		return EXIT_FAILURE;
	}
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, wrong_configurations);
	tcase_add_test(tc, one_daemon_per_store);
	tcase_add_loop_test(tc, clean_stop, 0, 2);
	tcase_add_test(tc, killed_while_writing);
	tcase_add_test(tc, garbage_costs_its_connection);
	tcase_add_test(tc, idle_costs_nothing);
	tcase_add_test(tc, idle_connections_are_cheap);
	tcase_add_test(tc, full_disk);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
