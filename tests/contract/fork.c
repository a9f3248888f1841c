/* SPDX-License-Identifier: BSD-2-Clause */
/* fork.c - a child abandons its parent's queues, and the parent continues. */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/contract/contract.h"

/* Forks a child that has abandoned both queues, and lives until *end is closed. */
static pid_t fork_child(int *end)
{
	int ready[2], fd[2];
	char c = 0;
	pid_t pid;

	ck_ok(pipe(ready));
	ck_ok(pipe(fd));
	pid = fork();
	if (pid == 0) {
		alarm(2 * PATIENCE_MS / 1000);
		close(fd[1]);
		tp_cq_abandon(world.a.cq);
		tp_cq_abandon(world.b.cq);
		if (write(ready[1], &c, 1) != 1)
			_exit(1);
		_exit(read(fd[0], &c, 1) == 0 ? 0 : 1);
	}
	ck_assert_int_gt(pid, 0);
	close(fd[0]);
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	*end = fd[1];
	return pid;
}

static void end_child(pid_t pid, int end)
{
	int status;

	close(end);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}

/* Existing and new connections, and waits, work during the fork and afterwards. */
START_TEST(parent_goes_on)
{
	struct link *l = link_open(&world, NULL);
	pid_t pid;
	int end, i;

	link_works(&world, l);
	pid = fork_child(&end);
	for (i = 0; i < 10; i++)
		link_works(&world, l);
	link_works(&world, link_open(&world, NULL));
	tp_cq_wake(world.a.cq);
	ck_ok(tp_cq_wait(world.a.cq, clock_after_ms(PATIENCE_MS)));
	end_child(pid, end);
	for (i = 0; i < 10; i++)
		link_works(&world, l);
	expect_silence(&world.a, l->a);
	expect_silence(&world.b, l->b);
}
END_TEST

/* Requests to both are held by the caller, and a child is forked meanwhile. */
START_TEST(while_held)
{
	static const struct tp_ep_attr group = { .group = true };
	unsigned int before = fd_count();
	struct link *l[2] = { link_open(&world, &group),
			      link_open(&world, &group) };
	struct mem *out = mem_new(&world.a, 64, 0);
	struct mem *in = mem_new(&world.b, 2 * 64, TP_LOCAL_WRITE);
	uint64_t give_up = clock_after_ms(PATIENCE_MS);
	struct tp_sge sge = sge_of(out, 0, 64);
	struct tp_send_wr wr = wr_send(1, &sge);
	pid_t pid;
	int end, i;

	mem_fill(out, 5);
	for (i = 0; i < 2; i++)
		side_recv(l[i]->b, i, in, i * 64ul, 64);
	while (tp_cq_wait(world.b.cq, clock_now()) == 0)
		side_pump(&world.b);
	tp_cq_hold(world.a.cq);
	for (i = 0; i < 2; i++)
		ck_ok(tp_post_send(l[i]->a, &wr));
	pid = fork_child(&end);
	tp_cq_release(world.a.cq);
	for (i = 0; i < 2; i++) {
		expect_wc(&world, &world.b, l[i]->b, i, TP_RECV, 0);
		expect_wc(&world, &world.a, l[i]->a, 1, TP_SEND, 0);
		mem_check(in, i * 64ul, 64, 5, 0);
	}
	end_child(pid, end);
	for (i = 0; i < 2; i++) {
		link_works(&world, l[i]);
		link_close(l[i]);
	}
	/* a group has two; others close its endpoints later */
	while (fd_count() > before + 2)
		ck_assert_uint_lt(clock_now(), give_up);
}
END_TEST

/* The child has no descriptor of queues and connections left. */
START_TEST(child_keeps_nothing)
{
	static struct world w;
	unsigned int before = fd_count(), listener;
	pid_t pid;
	int status;

	world_open(&w, contract_provider(), 1024);
	listener = fd_count();
	tp_unlisten(w.listener);
	listener -= fd_count();
	ck_ok(tp_listen(w.b.cq, &(struct addr){ .host = "127.0.0.1" }, 4,
			&w.listener));
	tp_listener_addr(w.listener, &w.addr);
	link_works(&w, link_open(&w, NULL));
	link_works(&w, link_open(&w, NULL));
	ck_assert_uint_gt(fd_count(), before + listener);
	pid = fork();
	if (pid == 0) {
		tp_cq_abandon(w.a.cq);
		tp_cq_abandon(w.b.cq);
		_exit(fd_count() == before + listener ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	world_close(&w);
}
END_TEST

/* The peer notices a close of the parent, although the child lives. */
START_TEST(close_is_heard)
{
	struct link *l = link_open(&world, NULL);
	int end;
	pid_t pid = fork_child(&end);

	tp_ep_close(l->a);
	l->a = NULL;
	ck_assert_int_eq(expect_gone(&world, &world.b, l->b), 0);
	end_child(pid, end);
}
END_TEST

TCase *case_fork(void)
{
	TCase *tc = contract_case("fork");

	tcase_add_test(tc, parent_goes_on);
	tcase_add_test(tc, while_held);
	tcase_add_test(tc, child_keeps_nothing);
	tcase_add_test(tc, close_is_heard);
	return tc;
}
