/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_local_drop.c - descriptors of peers whose last close takes long.  Nothing waits for them,
 * and the number of pending ones is limited.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/util/process_limits.h"
#include "tests/unit/lingering.h"
#include "tests/unit/rig_check.h"
#include "tests/run_suite.h"

#define LEN 64u
#define RECVS 4u
#define PATIENCE_MS 60000u
/* for all descriptors, with some free */
#define FDS_NEEDED (LOCAL_DROPS_MAX * 8 / 7 + 700)
#define USERS ((int)LOCAL_DROPPERS + 2)

static struct local_rig rig;
static struct tp_mr *mr;
static uint8_t buf[RECVS * LEN];
static unsigned int alone; /* threads of this process at the start */

#define until(cond) rig_until(&rig, mr, LEN, RECVS, PATIENCE_MS, cond)

static void *tell_id(void *arg)
{
	*(pid_t *)arg = gettid();
	return NULL;
}

/*
 * ThreadSanitizer starts a thread of its own with the first one, whose task may exist for some time
 * after the join.
 */
static void setup(void)
{
	uint64_t stop = clock_after_ms(PATIENCE_MS);
	pthread_t thread;
	char task[64];
	pid_t id;

	ck_assert_int_eq(pthread_create(&thread, NULL, tell_id, &id), 0);
	pthread_join(thread, NULL);
	snprintf(task, sizeof(task), "/proc/self/task/%d", id);
	while (access(task, F_OK) == 0)
		ck_assert(clock_now() < stop);
	alone = count_threads();
	rig_start(&rig, buf, sizeof(buf), 0, &mr);
}

/* The closing threads have ended, too. */
static void teardown(void)
{
	until(count_threads() == alone);
	rig_end(&rig, mr);
}

/* A client sends a hello with fd at a place, and disconnects. */
static void give(int fd, enum local_fd place)
{
	struct local_fds fds = LOCAL_NO_FDS;
	int raw = raw_connect(&rig);

	fds.fd[place] = fd;
	if (place == LOCAL_FD_WAKEUP)
		fds.fd[LOCAL_FD_PAGE] = fd;
	ck_assert_int_eq(local_hello_send(raw, LOCAL_CONNECT, NULL, 0, &fds),
			 0);
	close(fd);
	if (place == LOCAL_FD_TABLE || place == LOCAL_FD_WAKEUP)
		until(rig.ep);
	close(raw);
	if (!rig.ep)
		return;
	until(rig.gone);
	rig_forget_ep(&rig);
}

/* Whatever descriptor a hello contains, in any place: nothing waits for its close. */
START_TEST(lingers)
{
	unsigned int before = count_fds();
	int reader, fd = lingering(&reader);

	give(fd, _i);
	rig_works(&rig, mr, LEN, RECVS);
	close(reader);
	until(count_fds() <= before);
}
END_TEST

/* However many descriptors a user sends, one thread closes them, and all are closed in the end. */
START_TEST(few_threads)
{
	unsigned int before = count_fds(), i;
	int reader[20];

	for (i = 0; i < 20; i++)
		give(lingering(&reader[i]), LOCAL_FD_TABLE);
	rig_works(&rig, mr, LEN, RECVS);
	ck_assert_uint_eq(count_threads(), alone + 1);
	for (i = 0; i < 20; i++)
		close(reader[i]);
	until(count_fds() <= before);
}
END_TEST

static void give_as(uid_t uid, int fd)
{
	const struct local_giver from = local_giver(rig.dev, uid);

	local_drop(&from, fd);
}

/* *other shows when the descriptor is closed. */
static int telling(int *other)
{
	int p[2];

	ck_assert_int_eq(pipe(p), 0);
	*other = p[1];
	return p[0];
}

static bool is_closed(int other)
{
	struct pollfd pfd = { .fd = other };

	return poll(&pfd, 1, 0) == 1 && (pfd.revents & POLLERR);
}

/* Descriptors of one user do not delay those of another user, as long as there are threads. */
START_TEST(one_user)
{
	int reader, theirs, own;

	give_as(1, lingering(&reader));
	give_as(1, telling(&theirs));
	give_as(2, telling(&own));
	until(is_closed(own));
	ck_assert(!is_closed(theirs));
	close(reader);
	until(is_closed(theirs));
	close(own);
	close(theirs);
}
END_TEST

/* When no thread is free, a drop waits for the first close that ends, of any user. */
START_TEST(many_users)
{
	int reader[USERS], other[USERS], i;

	for (i = 0; i < USERS; i++) {
		give_as((uid_t)i, lingering(&reader[i]));
		give_as((uid_t)i, telling(&other[i]));
	}
	until(count_threads() == alone + LOCAL_DROPPERS);
	for (i = 0; i < USERS; i++) {
		ck_assert(!is_closed(other[i]));
		close(reader[i]);
	}
	for (i = 0; i < USERS; i++) {
		until(is_closed(other[i]));
		close(other[i]);
	}
	until(count_threads() == alone);
}
END_TEST

/* The close of the device does not wait for them. */
START_TEST(device_closes)
{
	int reader, other;

	give_as(1, lingering(&reader));
	give_as(1, telling(&other));
	rig_end(&rig, mr);
	rig_start(&rig, buf, sizeof(buf), 0, &mr);
	ck_assert(!is_closed(other));
	close(reader);
	until(is_closed(other));
	close(other);
}
END_TEST

/*
 * Returns a descriptor of shared memory of a client, whose last close frees this number of bytes.
 */
static int memory(size_t bytes)
{
	int fd = memfd_create("theirs", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes),
			 0);
	return fd;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Small memory is closed at once; much memory is left to a thread, which is busy here. */
START_TEST(much_memory)
{
	int little = memory(4096), much = memory(2 * LOCAL_MEMFD_MAX), reader;
	bool waits;

	give_as(1, lingering(&reader));
	give_as(1, little);
	give_as(1, much);
	waits = is_open(much) && !is_open(little);
	close(reader);
	ck_assert(waits);
	until(!is_open(much));
}
END_TEST

/* Mapped memory is freed with its client; it is small then. */
START_TEST(mapped)
{
	static const struct {
		size_t size, pages;
		int seals, rc;
	} of[] = {
		{ LEN, LEN, F_SEAL_SHRINK | F_SEAL_GROW, 0 },
		{ LEN - 1, LEN, F_SEAL_SHRINK | F_SEAL_GROW, -EPROTO },
		{ LEN, LEN, F_SEAL_SHRINK, -EPROTO },
		{ LEN, LEN, F_SEAL_GROW, -EPROTO },
		{ LOCAL_MEMFD_MAX + 1, LEN, F_SEAL_SHRINK | F_SEAL_GROW,
		  -EPROTO },
		{ LEN, 2 * LOCAL_MEMFD_MAX, F_SEAL_SHRINK | F_SEAL_GROW,
		  -EPROTO },
	};
	unsigned int i;
	int fd;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		fd = memory(of[i].pages);
		ck_assert_int_eq(ftruncate(fd, (off_t)of[i].size), 0);
		ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, of[i].seals), 0);
		ck_assert_int_eq(local_memfd_check(fd, LEN), of[i].rc);
		close(fd);
	}
}
END_TEST

static char text[512];

static void keep(void *arg, enum log_level level, const char *msg)
{
	snprintf(text, sizeof(text), "%s", msg);
}

/* Checks that the log names the user with too many descriptors. */
static void is_refused(void)
{
	const struct log logger = { LOG_LV_WARN, keep, NULL };
	int raw = raw_connect(&rig);
	char uid[32], c;

	text[0] = '\0';
	rig.dev->log = &logger;
	ck_assert_int_eq(local_hello_send(raw, LOCAL_CONNECT, NULL, 0, NULL),
			 0);
	until(recv(raw, &c, 1, MSG_DONTWAIT) == 0);
	rig.dev->log = NULL;
	close(raw);
	ck_assert_ptr_null(rig.ep);
	snprintf(uid, sizeof(uid), "uid %u ", geteuid());
	ck_assert_ptr_nonnull(strstr(text, uid));
	ck_assert_ptr_nonnull(strstr(text, "do not close"));
}

/* A user with too many descriptors is rejected until some are closed; other users are accepted. */
START_TEST(too_many)
{
	uid_t other = geteuid() + 1, uid = _i ? geteuid() : other;
	unsigned int before = count_fds(), i;
	int reader;

	give_as(uid, lingering(&reader));
	for (i = 1; i < LOCAL_DROPS_MAX; i++)
		give_as(uid, dup(reader));
	if (uid == other)
		rig_works(&rig, mr, LEN, RECVS);
	else
		is_refused();
	shutdown(reader, SHUT_RDWR);
	while (read(reader, buf, sizeof(buf)) > 0)
		;
	close(reader);
	until(count_fds() <= before);
	rig_works(&rig, mr, LEN, RECVS);
}
END_TEST

int main(void)
{
	Suite *s;
	TCase *tc;

	if (descriptors_raise() < FDS_NEEDED) {
		printf("skip: needs %u descriptors (ulimit -n)\n", FDS_NEEDED);
		return 77;
	}
	s = suite_create("local_drop");
	tc = tcase_create("drop");
	tcase_set_timeout(tc, 0);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, lingers, 0, LOCAL_FDS);
	tcase_add_test(tc, few_threads);
	tcase_add_test(tc, one_user);
	tcase_add_test(tc, many_users);
	tcase_add_test(tc, device_closes);
	tcase_add_test(tc, much_memory);
	tcase_add_test(tc, mapped);
	tcase_add_loop_test(tc, too_many, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
