/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rpc_names.c - servers by name, while the resolver is slow. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/rpc_rig.h"
#include "tests/run_suite.h"
#include "tests/unit/slow_names.h"

#define CALLS 100

static struct rig *rig;
static struct rig_call other;

static void setup(void)
{
	memset(&other, 0, sizeof(other));
	rig = calloc(1, sizeof(*rig));
	rig_open(rig, "tcp");
	slow_names_hold();
}

static void teardown(void)
{
	rig_close(rig);
}

/* Opens a second peer of the client, with a call for it. */
static struct rpc_peer *by_name(const char *host, unsigned int ms)
{
	struct rpc_peer *first = rig->peer, *peer;
	struct addr addr = rig->addr;

	snprintf(rig->addr.host, sizeof(rig->addr.host), "%s", host);
	rig->session++;
	peer = rig_peer_open(rig);
	rig->session--;
	rig->addr = addr;
	rig->peer = peer;
	rig_append(rig, &other, 1, ms);
	rig->peer = first;
	return peer;
}

/* Other peers of the context continue meanwhile. */
START_TEST(test_others_go_on)
{
	struct rpc_peer *peer = by_name("server.test", RIG_PATIENCE_MS);
	uint64_t offset;
	int i;

	slow_names_until_asked(1);
	for (i = 0; i < CALLS; i++)
		ck_assert_int_eq(rig_append_now(rig, 1, &offset, 30000), 0);
	ck_assert(!other.finished);
	ck_assert_uint_eq(slow_names_waiting(), 1);
	slow_names_go("127.0.0.1");
	rig_until(rig, other.finished);
	ck_assert_int_eq(other.call.status, 0);
	rpc_peer_close(peer, false);
}
END_TEST

/* A call ends at its deadline, even if the look-up does not. */
START_TEST(test_deadline)
{
	struct rpc_peer *peer = by_name("server.test", 50);

	slow_names_until_asked(1);
	rig_until(rig, other.finished);
	ck_assert_int_eq(other.call.status, -ETIMEDOUT);
	ck_assert_uint_eq(rig_logged(rig, "still being looked up"), 1);
	ck_assert_uint_eq(slow_names_waiting(), 1);
	rpc_peer_close(peer, false);
	slow_names_go(NULL);
	slow_names_until_over();
}
END_TEST

/* An unknown name is logged once, and found later without a restart. */
START_TEST(test_unknown_then_known)
{
	struct rpc_peer *peer = by_name("server.test", RIG_PATIENCE_MS);

	slow_names_go(NULL);
	rig_until(rig, slow_names_asked() >= 2);
	ck_assert_uint_eq(rig_logged(rig, "host \"server.test\""), 1);
	slow_names_go("127.0.0.1");
	rig_until(rig, other.finished);
	ck_assert_int_eq(other.call.status, 0);
	rpc_peer_close(peer, false);
}
END_TEST

/* A server that accepts connections and never sends anything. */
static int mute_server(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
				   .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(sin);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sin, len), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&sin, &len), 0);
	rig->addr.port = ntohs(sin.sin_port);
	return fd;
}

/* The resolver has replied, but the server has not: the log must not blame the resolver. */
START_TEST(test_mute)
{
	struct addr addr = rig->addr;
	struct rpc_peer *first = rig->peer, *peer;
	struct rig_call late = { 0 };
	int listener = mute_server(), fd = -1;

	peer = by_name("server.test", RIG_PATIENCE_MS);
	rig->addr = addr;
	slow_names_go("127.0.0.1");
	rig_until(rig, (fd = accept(listener, NULL, NULL)) >= 0);
	rig->peer = peer;
	rig_append(rig, &late, 1, 50);
	rig->peer = first;
	rig_until(rig, late.finished);
	ck_assert_int_eq(late.call.status, -ETIMEDOUT);
	ck_assert_uint_eq(rig_logged(rig, "still being looked up"), 0);
	ck_assert_uint_ge(rig_logged(rig, "it has said nothing yet"), 1);
	rpc_peer_close(peer, false);
	close(fd);
	close(listener);
}
END_TEST

/* The context ends before the look-up. */
START_TEST(test_close)
{
	struct rpc_peer *peer = by_name("server.test", RIG_PATIENCE_MS);

	slow_names_until_asked(1);
	rpc_peer_close(peer, false);
	ck_assert_int_eq(other.call.status, -ECANCELED);
	slow_names_go("127.0.0.1");
	slow_names_until_over();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_names");
	TCase *t = tcase_create("rpc_names");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, test_others_go_on);
	tcase_add_test(t, test_deadline);
	tcase_add_test(t, test_unknown_then_known);
	tcase_add_test(t, test_mute);
	tcase_add_test(t, test_close);
	suite_add_tcase(s, t);
	return run_suite(s);
}
