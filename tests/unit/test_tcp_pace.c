/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tcp_pace.c - which congestion control the sockets use. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "tests/unit/tcp_rig.h"

#define UNPACED "reno"

static struct rig rig;
static char usual[16]; /* the default of the system */
static char other[16]; /* one that is not UNPACED, or empty */

static const char *control(int fd)
{
	static char name[16];
	socklen_t len = sizeof(name) - 1;

	memset(name, 0, sizeof(name));
	ck_assert_int_eq(
		getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len), 0);
	return name;
}

static int new_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	return fd;
}

/* If the default is UNPACED, finds another one that is permitted. */
static void find_other(int fd)
{
	static const char *const names[] = { usual, "cubic", "bbr", "htcp" };
	unsigned int i;

	for (i = 0; i < 4 && !other[0]; i++)
		if (strcmp(names[i], UNPACED) != 0 &&
		    !setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, names[i],
				(socklen_t)strlen(names[i])))
			strcpy(other, names[i]);
}

static struct tcp_dev *dev(void)
{
	return container_of(rig.dev, struct tcp_dev, dev);
}

static int fd_of(const struct tp_ep *ep)
{
	return container_of(ep, struct tcp_ep, ep)->fd;
}

static void setup(void)
{
	int fd = new_socket();

	strcpy(usual, control(fd));
	find_other(fd);
	close(fd);
	rig_open(&rig, 0, 0);
}

static void teardown(void)
{
	rig_close(&rig);
}

/* Makes the default look like one that paces; then creates a listener. */
static void say_paced(const char *name)
{
	strcpy(dev()->paced, name);
	tp_unlisten(rig.listener);
	ck_assert_int_eq(tp_listen(rig.cq,
				   &(struct addr){ .host = "127.0.0.1" }, 0,
				   &rig.listener),
			 0);
	tp_listener_addr(rig.listener, &rig.addr);
}

/* Checks both ends of a connection. */
static void both_have(const char *name)
{
	struct tp_ep_attr attr = { .max_recv_wr = 4, .max_send_wr = 4 };
	const struct tcp_ep *ep;
	struct tp_ep *client;

	ck_assert_int_eq(tp_ep_open(rig.cq, &attr, &client), 0);
	ck_assert_int_eq(tp_connect(client, &rig.addr, NULL, 0,
				    clock_after_ms(10000)),
			 0);
	ep = container_of(client, struct tcp_ep, ep);
	rig_until(&rig, ep->state == TCP_EP_UP);
	ck_assert_str_eq(control(fd_of(client)), name);
	ck_assert_str_eq(control(fd_of(rig.ep[0])), name);
	tp_ep_close(client);
}

START_TEST(within_host)
{
	if (!strcmp(usual, UNPACED))
		printf("SKIP: within_host: all sockets have %s here\n", usual);
	say_paced(usual);
	both_have(UNPACED);
}
END_TEST

START_TEST(does_not_pace)
{
	say_paced("");
	both_have(usual);
}
END_TEST

/* The result of the provider's own probe. */
START_TEST(bbr_alone)
{
	bool paces = !strncmp(usual, "bbr", 3);

	ck_assert_str_eq(dev()->paced, paces ? usual : "");
	both_have(paces ? UNPACED : usual);
}
END_TEST

/* Another address counts as another host. */
START_TEST(elsewhere)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	int fd = new_socket();

	if (!other[0]) {
		printf("SKIP: elsewhere: this system has only %s\n", usual);
		close(fd);
		return;
	}
	say_paced(other);
	ck_assert_int_eq(inet_pton(AF_INET, "127.0.0.2", &sa.sin_addr), 1);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	sa.sin_port = htons(rig.addr.port);
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	raw_hello(&rig, fd);
	rig_until(&rig, rig.neps == 1);
	ck_assert_str_eq(control(fd_of(rig.ep[0])), other);
	close(fd);
}
END_TEST

/* If it is unavailable, connections do not fail, and it is not logged for each. */
START_TEST(not_to_be_had)
{
	const char *said;
	int i, fd = new_socket();

	say_paced("nosuch");
	for (i = 0; i < 2; i++)
		tcp_pace_connected(dev(), fd);
	close(fd);
	said = strstr(rig.text, "nosuch cannot be set: ");
	ck_assert_ptr_nonnull(said);
	ck_assert_ptr_null(strstr(said + 1, "nosuch"));
	both_have(UNPACED);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp_pace");
	TCase *tc = tcase_create("pace");

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, within_host);
	tcase_add_test(tc, does_not_pace);
	tcase_add_test(tc, bbr_alone);
	tcase_add_test(tc, elsewhere);
	tcase_add_test(tc, not_to_be_had);
	return run_suite(s);
}
