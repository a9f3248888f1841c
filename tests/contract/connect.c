/* SPDX-License-Identifier: BSD-2-Clause */
/* connect.c - listen, connect, accept, reject; and no listener. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/contract/contract.h"

static const struct tp_ep_attr plain;

static struct link *connecting(const void *priv, unsigned int len,
			       uint64_t deadline)
{
	struct link *l = link_idle(&world, NULL);

	ck_ok(tp_connect(l->a, &world.addr, priv, len, deadline));
	return l;
}

static struct link *connecting_now(void)
{
	return connecting(NULL, 0, clock_after_ms(PATIENCE_MS));
}

START_TEST(listener_address)
{
	ck_assert_str_eq(world.addr.host, "127.0.0.1");
	ck_assert_uint_ne(world.addr.port, 0);
}
END_TEST

START_TEST(address_in_use)
{
	struct tp_listener *second = NULL;

	ck_assert_int_eq(tp_listen(world.a.cq, &world.addr, 8, &second),
			 -EADDRINUSE);
	ck_assert_ptr_null(second);
}
END_TEST

/* Private data of the length _i in each direction. */
START_TEST(private_data)
{
	static const unsigned int lens[] = { 0, 1, 17, TP_PRIVATE_MAX };
	unsigned int len = lens[_i], got = 99;
	uint8_t ask[TP_PRIVATE_MAX], answer[TP_PRIVATE_MAX];
	struct tp_conn_req *req;
	struct tp_event ev;
	struct link *l;

	pattern(ask, sizeof(ask), 1, 0);
	pattern(answer, sizeof(answer), 2, 0);
	l = connecting(ask, len, clock_after_ms(PATIENCE_MS));
	req = expect_req(&world);
	ck_assert(tp_req_private(req, &got) || !len);
	ck_assert_uint_eq(got, len);
	if (len)
		ck_assert_mem_eq(tp_req_private(req, &got), ask, len);
	ck_assert_ptr_nonnull(strstr(tp_req_peer(req), "127.0.0.1"));
	ck_ok(tp_accept(l->b, req, answer, len));
	ev = expect_ev(&world, &world.a, l->a, TP_EV_ESTABLISHED);
	ck_assert_uint_eq(ev.priv_len, len);
	ck_assert_mem_eq(ev.priv, answer, len);
	expect_ev(&world, &world.b, l->b, TP_EV_ESTABLISHED);
	ck_assert_ptr_nonnull(strstr(tp_ep_peer(l->a), "127.0.0.1"));
	ck_assert_ptr_nonnull(strstr(tp_ep_peer(l->b), "127.0.0.1"));
	link_works(&world, l);
}
END_TEST

START_TEST(reject)
{
	static const unsigned int lens[] = { 0, 1, TP_PRIVATE_MAX };
	uint8_t why[TP_PRIVATE_MAX];
	struct tp_event ev;
	struct link *l = connecting_now();

	pattern(why, sizeof(why), 3, 0);
	tp_reject(expect_req(&world), why, lens[_i]);
	ev = expect_ev(&world, &world.a, l->a, TP_EV_REJECTED);
	ck_assert_uint_eq(ev.priv_len, lens[_i]);
	ck_assert_mem_eq(ev.priv, why, lens[_i]);
	/* The listener continues. */
	link_works(&world, link_open(&world, NULL));
	expect_silence(&world.a, l->a);
}
END_TEST

/* Rejected at once; the endpoint of the connector can still be used. */
START_TEST(private_data_too_long)
{
	uint8_t priv[TP_PRIVATE_MAX + 1] = { 0 };
	struct link *l = link_idle(&world, NULL), *l2;
	enum tp_event_type type;

	ck_assert_int_eq(tp_connect(l->a, &world.addr, priv, sizeof(priv),
				    clock_after_ms(PATIENCE_MS)),
			 -EINVAL);
	link_start(&world, l);
	l2 = connecting_now();
	ck_assert_int_eq(tp_accept(l2->b, expect_req(&world), priv,
				   sizeof(priv)),
			 -EINVAL);
	type = world_ev(&world, &world.a, l2->a).type;
	ck_assert(type == TP_EV_REJECTED || type == TP_EV_DISCONNECTED);
	link_works(&world, l);
}
END_TEST

START_TEST(started_twice)
{
	struct link *l = link_open(&world, NULL);
	struct link *l2 = connecting_now();

	ck_assert_int_eq(tp_connect(l->a, &world.addr, NULL, 0,
				    clock_after_ms(PATIENCE_MS)),
			 -EINVAL);
	ck_assert_int_eq(tp_accept(l->b, expect_req(&world), NULL, 0), -EINVAL);
	world_ev(&world, &world.a, l2->a);
	link_works(&world, l);
}
END_TEST

START_TEST(context)
{
	struct tp_ep_attr attr = { .context = &world };
	struct link *l = link_open(&world, &attr);

	ck_assert_ptr_eq(tp_ep_context(l->a), &world);
	ck_assert_ptr_eq(tp_ep_context(l->b), &world);
}
END_TEST

/* A port that is in use, and one without a listener. */
START_TEST(nobody)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t len = sizeof(sin);
	struct addr addr = world.addr;
	struct tp_ep *ep;
	int fd = socket(AF_INET, SOCK_STREAM, 0), status;

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_ok(bind(fd, (struct sockaddr *)&sin, sizeof(sin)));
	ck_ok(getsockname(fd, (struct sockaddr *)&sin, &len));
	addr.port = ntohs(sin.sin_port);
	ck_ok(tp_ep_open(world.a.cq, &plain, &ep));
	ck_ok(tp_connect(ep, &addr, NULL, 0, clock_after_ms(PATIENCE_MS)));
	status = expect_gone(&world, &world.a, ep);
	tp_ep_close(ep);
	close(fd);
	ck_assert_int_eq(status, -ECONNREFUSED);
}
END_TEST

/* Waits for a request that arrives before the connector *l gives up, or shortly after. */
static struct tp_conn_req *req_within(struct link **l, unsigned int ms)
{
	unsigned int rounds = 0;
	struct tp_event ev;

	*l = connecting(NULL, 0, clock_after_ms(ms));
	while (!side_find_ev(&world.b, NULL, &ev)) {
		if (world.a.nev && rounds++ == 50)
			return NULL;
		world_pump(&world);
	}
	ck_assert_int_eq(ev.type, TP_EV_CONNECT_REQUEST);
	return ev.req;
}

/* The same, with as much time as a busy machine needs until a request arrives. */
static struct tp_conn_req *req_of_impatient(struct link **l)
{
	struct tp_conn_req *req;
	unsigned int ms = 150;

	while (!(req = req_within(l, ms))) {
		link_close(*l);
		ms *= 2;
		ck_assert_uint_lt(ms, PATIENCE_MS);
	}
	return req;
}

/* A listener never replies. */
START_TEST(deadline)
{
	struct link *l;
	struct tp_conn_req *req = req_of_impatient(&l);

	ck_assert_int_eq(expect_gone(&world, &world.a, l->a), -ETIMEDOUT);
	tp_reject(req, NULL, 0);
	link_works(&world, link_open(&world, NULL));
	expect_silence(&world.a, l->a);
}
END_TEST

START_TEST(deadline_passed)
{
	struct link *l = connecting(NULL, 0, clock_now() - 1);

	ck_assert_int_eq(expect_gone(&world, &world.a, l->a), -ETIMEDOUT);
}
END_TEST

/* The connector gives up; the acceptor learns that after accepting. */
START_TEST(accept_too_late)
{
	struct link *l;
	struct tp_conn_req *req = req_of_impatient(&l);
	struct tp_event ev;

	expect_gone(&world, &world.a, l->a);
	tp_ep_close(l->a);
	l->a = NULL;
	ck_ok(tp_accept(l->b, req, NULL, 0));
	ev = world_ev(&world, &world.b, l->b);
	if (ev.type == TP_EV_ESTABLISHED)
		ev = world_ev(&world, &world.b, l->b);
	ck_assert_int_eq(ev.type, TP_EV_DISCONNECTED);
}
END_TEST

START_TEST(connector_leaves)
{
	struct link *l = connecting_now();
	struct tp_conn_req *req = expect_req(&world);

	tp_ep_close(l->a);
	l->a = NULL;
	tp_reject(req, NULL, 0);
	link_works(&world, link_open(&world, NULL));
}
END_TEST

START_TEST(close_idle_and_connecting)
{
	struct link *l = link_idle(&world, NULL);

	link_close(l);
	l = connecting_now();
	link_close(l);
	link_works(&world, link_open(&world, NULL));
}
END_TEST

/* A reported request survives its listener; an unreported one is rejected. */
START_TEST(unlisten)
{
	struct link *l = connecting_now(), *late;
	struct tp_conn_req *req = expect_req(&world);

	tp_unlisten(world.listener);
	world.listener = NULL;
	ck_ok(tp_accept(l->b, req, NULL, 0));
	expect_ev(&world, &world.a, l->a, TP_EV_ESTABLISHED);
	expect_ev(&world, &world.b, l->b, TP_EV_ESTABLISHED);
	link_works(&world, l);
	late = connecting_now();
	ck_assert_int_eq(expect_gone(&world, &world.a, late->a), -ECONNREFUSED);
}
END_TEST

START_TEST(unlisten_unreported)
{
	struct link *l = connecting_now();
	int i;

	/* Only the connector is polled: the request is in flight, or has arrived. */
	for (i = 0; i < 100; i++)
		side_pump(&world.a);
	tp_unlisten(world.listener);
	world.listener = NULL;
	ck_assert_int_lt(expect_gone(&world, &world.a, l->a), 0);
}
END_TEST

/* Connections in both directions between two devices, each with a listener. */
START_TEST(crossed)
{
	struct addr addr = world.addr;
	struct tp_listener *back;
	struct link *l, *back_too = link_idle(&world, NULL);
	struct tp_event ev;

	addr.port = 0;
	ck_ok(tp_listen(world.a.cq, &addr, 8, &back));
	tp_listener_addr(back, &addr);
	l = connecting_now();
	ck_ok(tp_connect(back_too->b, &addr, NULL, 0,
			 clock_after_ms(PATIENCE_MS)));
	ev = expect_ev(&world, &world.a, NULL, TP_EV_CONNECT_REQUEST);
	ck_assert_ptr_eq(ev.listener, back);
	ck_ok(tp_accept(back_too->a, ev.req, NULL, 0));
	ck_ok(tp_accept(l->b, expect_req(&world), NULL, 0));
	expect_ev(&world, &world.a, l->a, TP_EV_ESTABLISHED);
	expect_ev(&world, &world.b, l->b, TP_EV_ESTABLISHED);
	expect_ev(&world, &world.a, back_too->a, TP_EV_ESTABLISHED);
	expect_ev(&world, &world.b, back_too->b, TP_EV_ESTABLISHED);
	link_works(&world, l);
	link_works(&world, back_too);
	tp_unlisten(back);
}
END_TEST

START_TEST(not_connected_yet)
{
	struct mem *m = mem_new(&world.a, 64, TP_LOCAL_WRITE);
	struct tp_sge sge = sge_of(m, 0, 8);
	struct tp_send_wr wr = wr_send(1, &sge);
	struct link *l = link_idle(&world, NULL);

	ck_assert_int_eq(tp_post_send(l->a, &wr), -ENOTCONN);
	side_recv(l->a, 2, m, 0, 64);
	link_start(&world, l);
	ck_ok(tp_post_send(l->a, &wr));
}
END_TEST

TCase *case_connect(void)
{
	TCase *tc = contract_case("connect");

	tcase_add_test(tc, listener_address);
	tcase_add_test(tc, address_in_use);
	tcase_add_loop_test(tc, private_data, 0, 4);
	tcase_add_loop_test(tc, reject, 0, 3);
	tcase_add_test(tc, private_data_too_long);
	tcase_add_test(tc, started_twice);
	tcase_add_test(tc, context);
	tcase_add_test(tc, nobody);
	tcase_add_test(tc, deadline);
	tcase_add_test(tc, deadline_passed);
	tcase_add_test(tc, accept_too_late);
	tcase_add_test(tc, connector_leaves);
	tcase_add_test(tc, close_idle_and_connecting);
	tcase_add_test(tc, unlisten);
	tcase_add_test(tc, unlisten_unreported);
	tcase_add_test(tc, crossed);
	tcase_add_test(tc, not_connected_yet);
	return tc;
}
