/* SPDX-License-Identifier: BSD-2-Clause */
/* pass.c - passes descriptors to the peer, for providers whose peers are on one host. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/contract/contract.h"

static bool passes(void)
{
	return !strcmp(contract_provider(), "local") ||
	       !strcmp(contract_provider(), "fault+local");
}

/* Passes the write end of a pipe n times.  Returns the read end. */
static int give(struct link *l, unsigned int n)
{
	int fd[2], many[TP_PASS_MAX];
	unsigned int i;

	ck_ok(pipe(fd));
	for (i = 0; i < n; i++)
		many[i] = fd[1];
	ck_ok(tp_ep_pass(l->b, many, n));
	close(fd[1]);
	return fd[0];
}

static void is_end_of(int end, int pipe_end)
{
	char c;

	ck_assert_int_eq(write(end, "x", 1), 1);
	ck_assert_int_eq(read(pipe_end, &c, 1), 1);
	close(end);
}

START_TEST(not_over_others)
{
	struct link *l = link_open(&world, NULL);
	int fd = 0;

	if (passes())
		return;
	ck_assert_int_eq(tp_ep_pass(l->b, &fd, 1), -EOPNOTSUPP);
	ck_assert_int_eq(tp_ep_take(l->a, &fd, 1), -EOPNOTSUPP);
	link_works(&world, l);
}
END_TEST

START_TEST(only_the_acceptor_gives)
{
	struct link *l = link_open(&world, NULL);
	int fd = 0;

	if (!passes())
		return;
	ck_assert_int_eq(tp_ep_pass(l->a, &fd, 1), -EOPNOTSUPP);
	ck_assert_int_eq(tp_ep_take(l->b, &fd, 1), -EOPNOTSUPP);
	link_works(&world, l);
}
END_TEST

START_TEST(they_are_there_before_the_message)
{
	struct link *l = link_open(&world, NULL);
	int end, fd[4], round;

	for (round = 0; passes() && round < 100; round++) {
		end = give(l, 1);
		link_works(&world, l);
		ck_assert_int_eq(tp_ep_take(l->a, fd, 4), 1);
		is_end_of(fd[0], end);
		close(end);
	}
}
END_TEST

START_TEST(in_the_order_of_giving)
{
	struct link *l = link_open(&world, NULL);
	int one, two, fd[4];

	if (!passes())
		return;
	one = give(l, 1);
	two = give(l, 2);
	ck_assert_int_eq(tp_ep_take(l->a, fd, 2), 2);
	is_end_of(fd[0], one);
	is_end_of(fd[1], two);
	ck_assert_int_eq(tp_ep_take(l->a, fd, 4), 1);
	is_end_of(fd[0], two);
	ck_assert_int_eq(tp_ep_take(l->a, fd, 4), 0);
	close(one);
	close(two);
	link_works(&world, l);
}
END_TEST

START_TEST(what_nobody_took_is_closed)
{
	unsigned int before = fd_count();
	struct link *l = link_open(&world, NULL);
	char c;
	int end;

	if (!passes())
		return;
	end = give(l, 3);
	link_works(&world, l);
	link_close(l);
	ck_assert_int_eq(read(end, &c, 1), 0);
	close(end);
	ck_assert_uint_eq(fd_count(), before);
}
END_TEST

START_TEST(too_many_break_the_connection)
{
	struct link *l = link_open(&world, NULL);
	int fd[TP_PASS_MAX];

	if (!passes())
		return;
	close(give(l, TP_PASS_MAX));
	ck_assert_int_eq(tp_ep_take(l->a, fd, TP_PASS_MAX), TP_PASS_MAX);
	for (unsigned int i = 0; i < TP_PASS_MAX; i++)
		close(fd[i]);
	close(give(l, TP_PASS_MAX));
	close(give(l, 1));
	ck_assert_int_eq(tp_ep_take(l->a, fd, 1), -EPROTO);
	ck_assert_int_eq(expect_gone(&world, &world.a, l->a), -EPROTO);
}
END_TEST

TCase *case_pass(void)
{
	TCase *tc = contract_case("pass");

	tcase_add_test(tc, not_over_others);
	tcase_add_test(tc, only_the_acceptor_gives);
	tcase_add_test(tc, they_are_there_before_the_message);
	tcase_add_test(tc, in_the_order_of_giving);
	tcase_add_test(tc, what_nobody_took_is_closed);
	tcase_add_test(tc, too_many_break_the_connection);
	return tc;
}
