/* SPDX-License-Identifier: BSD-2-Clause */
/* test_pulse.c - the watchdog messages to the service manager, and when they end. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/sd_notify.h"
#include "tests/run_suite.h"

/* interval of messages; the time-out of the watchdog is four times that */
#define EVERY_US 4000

static char dir[] = "/tmp/pvfs-pulse.XXXXXX";
static struct sockaddr_un addr;
static struct notify n;
static char heard[256];
static int listener;

/* Listens at dir/socket, or at the abstract name with the same letters. */
static void listen_at(bool abstract)
{
	char name[80];
	socklen_t len;

	snprintf(name, sizeof(name), "%s%s/socket", abstract ? "@" : "", dir);
	memset(&addr, 0, sizeof(addr));
	addr.sun_family = AF_UNIX;
	strcpy(addr.sun_path, name);
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
			  strlen(name) + !abstract);
	if (abstract)
		addr.sun_path[0] = '\0';
	listener = socket(AF_UNIX, SOCK_DGRAM, 0);
	ck_assert_int_ge(listener, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&addr, len), 0);
	ck_assert_int_eq(setenv("NOTIFY_SOCKET", name, 1), 0);
}

/* Returns the next datagram, or "" if there is none. */
static const char *hear(void)
{
	ssize_t len = recv(listener, heard, sizeof(heard) - 1, MSG_DONTWAIT);

	heard[len < 0 ? 0 : len] = '\0';
	return heard;
}

static void setup(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	listener = -1;
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

static void teardown(void)
{
	char path[64];

	notify_close(&n);
	if (listener >= 0)
		close(listener);
	snprintf(path, sizeof(path), "%s/socket", dir);
	unlink(path);
	rmdir(dir);
}

static void open_watched(void)
{
	char text[32];

	listen_at(false);
	snprintf(text, sizeof(text), "%d", 4 * EVERY_US);
	setenv("WATCHDOG_USEC", text, 1);
	ck_assert_int_eq(notify_open(&n), 0);
	ck_assert_uint_eq(n.watchdog_us, 4 * EVERY_US);
}

START_TEST(nobody_listens)
{
	setenv("WATCHDOG_USEC", "1000000", 1);
	ck_assert_int_eq(notify_open(&n), 0);
	ck_assert_uint_eq(n.watchdog_us, 0);
	ck_assert_int_eq(notify_say(&n, "READY=1"), 0);
	ck_assert_int_eq(notify_try(&n, "READY=1"), 0);
}
END_TEST

START_TEST(a_path_or_an_abstract_name)
{
	listen_at(_i);
	ck_assert_int_eq(notify_open(&n), 0);
	ck_assert_ptr_null(getenv("NOTIFY_SOCKET"));
	ck_assert_int_eq(notify_say(&n, "READY=1\nSTATUS=x"), 0);
	ck_assert_str_eq(hear(), "READY=1\nSTATUS=x");
	close(listener);
	listener = -1;
	ck_assert_int_eq(notify_say(&n, "READY=1"), -ECONNREFUSED);
}
END_TEST

START_TEST(no_address)
{
	static const char *const bad[] = { "", "/", "@", "relative",
					   "vsock:2:1234" };
	char longer[sizeof(addr.sun_path) + 1];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	for (unsigned int i = 0; i < 6; i++) {
		setenv("NOTIFY_SOCKET", i < 5 ? bad[i] : longer, 1);
		ck_assert_int_eq(notify_open(&n), -EINVAL);
		ck_assert_int_eq(notify_say(&n, "READY=1"), 0);
	}
}
END_TEST

START_TEST(whose_watchdog)
{
	static const struct {
		const char *usec, *pid;
		uint64_t want;
	} cases[] = {
		{ "5000000", NULL, 5000000 },
		{ NULL, NULL, 0 },
		{ "5000000", "1", 0 },
		{ "5000000", "no", 0 },
		{ "-1", NULL, 0 },
		{ " 5", NULL, 0 },
		{ "5s", NULL, 0 },
		{ "", NULL, 0 },
		{ "18446744073709551615", NULL, 0 },
	};

	listen_at(false);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char socket[80];

		snprintf(socket, sizeof(socket), "%s/socket", dir);
		setenv("NOTIFY_SOCKET", socket, 1);
		if (cases[i].usec)
			setenv("WATCHDOG_USEC", cases[i].usec, 1);
		if (cases[i].pid)
			setenv("WATCHDOG_PID", cases[i].pid, 1);
		ck_assert_int_eq(notify_open(&n), 0);
		ck_assert_uint_eq(n.watchdog_us, cases[i].want);
		ck_assert_ptr_null(getenv("WATCHDOG_USEC"));
		ck_assert_ptr_null(getenv("WATCHDOG_PID"));
		notify_close(&n);
	}
}
END_TEST

START_TEST(full_socket_never_holds_up_a_loop)
{
	listen_at(false);
	ck_assert_int_eq(notify_open(&n), 0);
	while (!notify_try(&n, "WATCHDOG=1"))
		;
	ck_assert_int_eq(notify_try(&n, "WATCHDOG=1"), -EAGAIN);
	ck_assert_int_eq(notify_say(&n, "READY=1"), -EAGAIN);
}
END_TEST

START_TEST(start_is_extended_then_life)
{
	struct pulse p;
	char want[64];

	open_watched();
	pulse_init(&p, &n);
	ck_assert_uint_ne(pulse_beat(&p, 0), CLOCK_NEVER);
	snprintf(want, sizeof(want), "EXTEND_TIMEOUT_USEC=%d", 4 * EVERY_US);
	ck_assert_str_eq(hear(), want);
	ck_assert(!pulse_is_ready(&p));
	ck_assert_int_eq(pulse_ready(&p), 0);
	ck_assert(pulse_is_ready(&p));
	ck_assert_str_eq(hear(), "READY=1\nSTATUS=Serves");
	usleep(EVERY_US);
	pulse_beat(&p, 0);
	ck_assert_str_eq(hear(), "WATCHDOG=1");
	ck_assert_str_eq(hear(), "");
}
END_TEST

START_TEST(without_watchdog_no_signs)
{
	struct pulse p;

	listen_at(false);
	ck_assert_int_eq(notify_open(&n), 0);
	pulse_init(&p, &n);
	ck_assert_uint_eq(pulse_beat(&p, 0), CLOCK_NEVER);
	ck_assert_uint_eq(pulse_beat(NULL, 0), CLOCK_NEVER);
	ck_assert_str_eq(hear(), "");
}
END_TEST

/* The next beat is due while there is time for several messages. */
START_TEST(due_in_time)
{
	struct pulse p;
	uint64_t before, at;

	open_watched();
	pulse_init(&p, &n);
	pulse_loops(&p, 2);
	for (int i = 0; i < 10; i++) {
		before = clock_now();
		at = pulse_beat(&p, i % 2);
		ck_assert_uint_le(at, clock_now() + EVERY_US * 1000);
		ck_assert_uint_gt(at, before);
		usleep(EVERY_US / 3);
	}
}
END_TEST

/* One of several loops hangs: the beats of the others do not hide that. */
START_TEST(one_of_many_hangs)
{
	static const unsigned int many[] = { 2, 3, PULSE_LOOPS_MAX };
	unsigned int loops = many[_i], i, round, signs = 0;
	struct pulse p;

	open_watched();
	pulse_init(&p, &n);
	pulse_loops(&p, loops);
	pulse_ready(&p);
	hear();
	for (round = 0; round < 3; round++) {
		usleep(EVERY_US);
		for (i = 0; i < loops; i++)
			pulse_beat(&p, i);
	}
	while (*hear())
		signs++;
	ck_assert_uint_eq(signs, 3);
	for (round = 0; round < 3; round++) {
		usleep(EVERY_US);
		for (i = 0; i < loops; i++)
			if (i != loops / 2)
				pulse_beat(&p, i);
	}
	ck_assert_str_eq(hear(), "");
	pulse_beat(&p, loops / 2);
	ck_assert_str_eq(hear(), "WATCHDOG=1");
}
END_TEST

/* A thread like those of daemons. */
struct looper {
	pthread_t thread;
	struct pulse *pulse;
	unsigned int loop;
	atomic_bool *stop;
};

static void *turn(void *arg)
{
	struct looper *l = arg;

	while (!atomic_load(l->stop)) {
		uint64_t at = pulse_beat(l->pulse, l->loop), now = clock_now();

		if (at > now)
			usleep((useconds_t)((at - now) / 1000) + 1);
	}
	return NULL;
}

static void hear_life(unsigned int signs)
{
	while (signs) {
		ssize_t len = recv(listener, heard, sizeof(heard) - 1, 0);

		ck_assert_int_gt(len, 0);
		heard[len] = '\0';
		signs -= !strcmp(heard, "WATCHDOG=1");
	}
}

START_TEST(threads)
{
	struct looper looper[4];
	atomic_bool stop = false;
	struct pulse p;
	unsigned int i;

	open_watched();
	pulse_init(&p, &n);
	pulse_loops(&p, 4);
	for (i = 0; i < 4; i++) {
		looper[i] = (struct looper){ .pulse = &p,
					     .loop = i,
					     .stop = &stop };
		ck_assert_int_eq(pthread_create(&looper[i].thread, NULL, turn,
						&looper[i]),
				 0);
	}
	pulse_ready(&p);
	hear_life(20);
	atomic_store(&stop, true);
	for (i = 0; i < 4; i++)
		pthread_join(looper[i].thread, NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pulse");
	TCase *tc = tcase_create("pulse");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, nobody_listens);
	tcase_add_loop_test(tc, a_path_or_an_abstract_name, 0, 2);
	tcase_add_test(tc, no_address);
	tcase_add_test(tc, whose_watchdog);
	tcase_add_test(tc, full_socket_never_holds_up_a_loop);
	tcase_add_test(tc, start_is_extended_then_life);
	tcase_add_test(tc, without_watchdog_no_signs);
	tcase_add_test(tc, due_in_time);
	tcase_add_loop_test(tc, one_of_many_hangs, 0, 3);
	tcase_add_test(tc, threads);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
