/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tcp_listen.c - a listener with strangers, slow clients and many clients. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "tests/unit/tcp_rig.h"

static struct rig rig;

/* Checks that a correct client is accepted. */
static void others_get_in(void)
{
	int fd = raw_open(&rig);

	close(fd);
}

START_TEST(garbage)
{
	char junk[200];
	int fd;

	rig_open(&rig, 0, 0);
	fd = raw_connect(&rig);
	memset(junk, 'G' + _i, sizeof(junk));
	raw_send(&rig, fd, junk, sizeof(junk));
	raw_end(&rig, fd);
	ck_assert_uint_eq(rig.nrequests, 0);
	ck_assert_msg(strstr(rig.text, "dropped"), "log: %s", rig.text);
	others_get_in();
	close(fd);
	rig_close(&rig);
}
END_TEST

/* A valid frame that is not a hello. */
START_TEST(not_connect)
{
	const struct tcp_frame bye = { .op = TCP_OP_BYE };
	int fd;

	rig_open(&rig, 0, 0);
	fd = raw_connect(&rig);
	raw_frame(&rig, fd, &bye, NULL);
	raw_end(&rig, fd);
	ck_assert_uint_eq(rig.nrequests, 0);
	others_get_in();
	close(fd);
	rig_close(&rig);
}
END_TEST

/* A client of another version gets our version, so that its log can say what to upgrade. */
START_TEST(other_version)
{
	const struct tcp_frame frame = { .op = TCP_OP_CONNECT,
					 .len = TCP_HELLO_LEN };
	uint8_t hello[TCP_HELLO_LEN], ours[TCP_HELLO_LEN];
	struct tcp_frame answer;
	int fd;

	rig_open(&rig, 0, 0);
	fd = raw_connect(&rig);
	tcp_hello_put(hello, NULL, 0);
	memcpy(ours, hello, sizeof(ours));
	hello[4]++;
	raw_frame(&rig, fd, &frame, NULL);
	raw_send(&rig, fd, hello, sizeof(hello));
	ck_assert(raw_head(&rig, fd, &answer));
	ck_assert_int_eq(answer.op, TCP_OP_REJECT);
	ck_assert(raw_recv(&rig, fd, hello, sizeof(hello)));
	ck_assert_mem_eq(hello, ours, sizeof(ours));
	ck_assert(!raw_head(&rig, fd, &answer));
	ck_assert_uint_eq(rig.nrequests, 0);
	close(fd);
	rig_close(&rig);
}
END_TEST

/* A hello that never ends is dropped at its deadline. */
START_TEST(slow)
{
	int fd;

	rig_open(&rig, 50, 0);
	fd = raw_connect(&rig);
	raw_send(&rig, fd, "\1\0\0", 3);
	ck_assert_uint_eq(raw_end(&rig, fd), 0);
	ck_assert_msg(strstr(rig.text, "in time"), "log: %s", rig.text);
	others_get_in();
	close(fd);
	rig_close(&rig);
}
END_TEST

#define CROWD (SOCK_HALF_OPEN + 20)

/* Too many silent clients: the oldest ones are dropped, so that others are accepted. */
START_TEST(crowd)
{
	int fd[CROWD], i;

	rig_open(&rig, 60000, 0);
	for (i = 0; i < (int)CROWD; i++) {
		fd[i] = raw_connect(&rig);
		rig_turn(&rig);
	}
	for (i = 0; i < 20; i++)
		ck_assert_uint_eq(raw_end(&rig, fd[i]), 0);
	/* the newest one is still accepted */
	raw_hello(&rig, fd[CROWD - 1]);
	rig_until(&rig, rig.nrequests == 1);
	others_get_in();
	for (i = 0; i < (int)CROWD; i++)
		close(fd[i]);
	rig_close(&rig);
}
END_TEST

/* Requests that are not taken are bounded; the rest waits in the backlog. */
START_TEST(nobody_takes)
{
	int fd[CROWD], i;
	struct tp_wc wc;

	rig_open(&rig, 60000, 0);
	for (i = 0; i < (int)CROWD; i++) {
		fd[i] = raw_connect(&rig);
		raw_hello(&rig, fd[i]);
		tp_cq_poll(rig.cq, &wc, 1);
	}
	for (i = 0; i < 20; i++)
		tp_cq_poll(rig.cq, &wc, 1);
	rig_until(&rig, rig.nrequests == CROWD);
	for (i = 0; i < (int)CROWD; i++)
		close(fd[i]);
	rig_close(&rig);
}
END_TEST

/* Counts the waits that end without an event. */
static unsigned int returns_in_ms(unsigned int ms)
{
	uint64_t stop = clock_after_ms(ms);
	unsigned int n;
	struct tp_wc wc;

	for (n = 0; clock_now() < stop; n++) {
		tp_cq_wait(rig.cq, stop);
		tp_cq_poll(rig.cq, &wc, 1);
	}
	return n;
}

#define SILENT 60

/*
 * Few descriptors are left, and silent clients have them: the oldest ones are dropped before their
 * deadline.
 */
START_TEST(crowd_has_the_descriptors)
{
	int fd[SILENT + 1], i, next;
	struct rlimit old, tight;

	rig_open(&rig, 60000, 0);
	for (i = 0; i <= SILENT; i++) {
		fd[i] = raw_connect(&rig);
		if (i < SILENT)
			rig_turn(&rig);
	}
	next = dup(fd[0]);
	close(next);
	getrlimit(RLIMIT_NOFILE, &old);
	tight = old;
	tight.rlim_cur = (rlim_t)next + 2;
	setrlimit(RLIMIT_NOFILE, &tight);
	raw_hello(&rig, fd[SILENT]);
	rig_until(&rig, rig.nrequests == 1);
	setrlimit(RLIMIT_NOFILE, &old);
	ck_assert_uint_eq(raw_end(&rig, fd[0]), 0);
	for (i = 0; i <= SILENT; i++)
		close(fd[i]);
	rig_close(&rig);
}
END_TEST

/* Without descriptors the listener does not spin, and continues when there are some. */
START_TEST(no_descriptors)
{
	struct rlimit old, tight;
	unsigned int returns;
	int fd, next;

	rig_open(&rig, 0, 0);
	fd = raw_connect(&rig);
	raw_hello(&rig, fd);
	next = dup(fd);
	close(next);
	getrlimit(RLIMIT_NOFILE, &old);
	tight = old;
	tight.rlim_cur = (rlim_t)next;
	setrlimit(RLIMIT_NOFILE, &tight);
	rig_turn(&rig);
	rig_until(&rig, strstr(rig.text, "open files limit"));
	returns = returns_in_ms(350);
	setrlimit(RLIMIT_NOFILE, &old);
	ck_assert_uint_lt(returns, 50);
	rig_until(&rig, rig.nrequests == 1);
	close(fd);
	rig_close(&rig);
}
END_TEST

/* A permanent error is logged once, and causes no spinning. */
START_TEST(cannot_accept)
{
	const char *said;

	rig_open(&rig, 0, 0);
	ck_assert_int_eq(shutdown(container_of(rig.listener,
					       struct sock_listener, listener)
					  ->fd,
				  SHUT_RD),
			 0);
	rig_until(&rig, strstr(rig.text, "cannot accept"));
	ck_assert_uint_lt(returns_in_ms(350), 50);
	said = strstr(rig.text, "cannot accept");
	ck_assert_ptr_null(strstr(said + 1, "cannot accept"));
	rig_close(&rig);
}
END_TEST

/* The listener is closed while strangers and requests wait. */
START_TEST(unlisten_with_visitors)
{
	int silent, asking;
	struct tp_wc wc;
	int i;

	rig_open(&rig, 0, 0);
	silent = raw_connect(&rig);
	asking = raw_connect(&rig);
	raw_hello(&rig, asking);
	for (i = 0; i < 5; i++)
		tp_cq_poll(rig.cq, &wc, 1);
	rig_close(&rig);
	ck_assert_int_eq(recv(silent, &wc, 1, 0), 0);
	ck_assert_int_gt(recv(asking, &wc, sizeof(wc), 0), 0);
	close(silent);
	close(asking);
}
END_TEST

/* Silence means death only if something was sent and got no reply. */
START_TEST(pulse)
{
	static const struct {
		uint8_t retransmits, probes;
		uint32_t ack_ms, data_ms;
		bool gone;
	} table[] = {
		{ 0, 0, 99999, 99999, false }, /* idle: left to the keepalive */
		{ 2, 0, 1001, 1001, true },
		{ 0, 2, 1001, 1001, true },
		{ 1, 0, 1001, 1001, false }, /* perhaps in flight */
		{ 0, 1, 1001, 1001, false },
		{ 9, 9, 1000, 1001, false }, /* a reply in time */
		{ 9, 9, 1001, 1000, false },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct tcp_info info = {
			.tcpi_retransmits = table[i].retransmits,
			.tcpi_probes = table[i].probes,
			.tcpi_last_ack_recv = table[i].ack_ms,
			.tcpi_last_data_recv = table[i].data_ms,
		};

		ck_assert_int_eq(tcp_pulse_gone(&info, 1000), table[i].gone);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp_listen");
	TCase *tc = tcase_create("listen");

	suite_add_tcase(s, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, garbage, 0, 2);
	tcase_add_test(tc, not_connect);
	tcase_add_test(tc, other_version);
	tcase_add_test(tc, slow);
	tcase_add_test(tc, crowd);
	tcase_add_test(tc, nobody_takes);
	tcase_add_test(tc, crowd_has_the_descriptors);
	tcase_add_test(tc, no_descriptors);
	tcase_add_test(tc, cannot_accept);
	tcase_add_test(tc, unlisten_with_visitors);
	tcase_add_test(tc, pulse);
	return run_suite(s);
}
