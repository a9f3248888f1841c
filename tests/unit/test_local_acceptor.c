/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_local_acceptor.c - a server of a group and the raw memory of its client: whom the server
 * wakes, and what wakes it; wrong sockets.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/rig_check.h"
#include "tests/run_suite.h"

#define LEN 64u
#define RECVS 4u
#define PATIENCE_MS 20000u

static uint8_t buf[RECVS * LEN];

#define until(cond) rig_until(&rig, mr, LEN, RECVS, PATIENCE_MS, cond)

static struct local_rig rig;
static struct tp_mr *mr;
static struct raw raw;
static struct local_group_wakeup wakeup;
static struct local_group_page *page;

static void setup(void)
{
	struct local_fds give = LOCAL_NO_FDS;

	rig_start(&rig, buf, sizeof(buf), 0, &mr);
	ck_assert_int_eq(local_group_wakeup_open(&wakeup), 0);
	give.fd[LOCAL_FD_WAKEUP] = wakeup.fd;
	give.fd[LOCAL_FD_PAGE] = local_group_page_create(&page);
	ck_assert_int_ge(give.fd[LOCAL_FD_PAGE], 0);
	ck_assert_int_eq(raw_give(&rig, &raw, mr, LEN, RECVS, &give), 0);
	close(give.fd[LOCAL_FD_PAGE]);
}

static void teardown(void)
{
	raw_close(&raw);
	close(wakeup.fd);
	local_group_page_unmap(page);
	rig_end(&rig, mr);
}

static void answer(void)
{
	struct tp_sge sge = { buf, 8, mr->lkey };
	struct tp_send_wr wr = { .opcode = TP_SEND, .sgl = &sge, .nsge = 1 };

	ck_assert_int_eq(tp_post_send(rig.ep, &wr), 0);
}

static bool heard(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT) == 1;
}

/* The client waits for several replies: only the last one wakes it. */
START_TEST(counts)
{
	atomic_store(&page->missing, 3);
	while (atomic_load(&page->missing) > 1) {
		atomic_store(&raw.in.me->asleep, LOCAL_COUNTED);
		answer();
		ck_assert_uint_eq(atomic_load(&raw.in.me->asleep), 0);
		ck_assert(!heard(raw.fd));
	}
	answer(); /* the client is awake */
	ck_assert_uint_eq(atomic_load(&page->missing), 1);
	atomic_store(&raw.in.me->asleep, LOCAL_COUNTED);
	answer();
	ck_assert_uint_eq(atomic_load(&page->missing), 0);
	ck_assert(heard(raw.fd));
	/* a server alone, as without a group */
	atomic_store(&raw.in.me->asleep, 1);
	answer();
	ck_assert_uint_eq(atomic_load(&page->missing), 0);
	ck_assert(heard(raw.fd));
}
END_TEST

static void falls_asleep(void)
{
	until((tp_cq_wait(rig.cq, clock_now()),
	       atomic_load(&raw.in.peer->asleep)));
}

static void ring(void)
{
	const uint64_t one = 1;

	ck_assert_int_eq(write(raw.bell, &one, sizeof(one)), sizeof(one));
}

/* The bell and the wake-up socket end the server's sleep. */
START_TEST(wakes)
{
	falls_asleep();
	ring();
	until(!atomic_load(&raw.in.peer->asleep));
	falls_asleep();
	local_group_wakeup_send(&wakeup);
	until(!atomic_load(&raw.in.peer->asleep));
	ck_assert_int_eq(rig.gone, 0);
}
END_TEST

/*
 * A server that is asked to wakes the others once: when it was woken for that, or before it sleeps.
 */
START_TEST(passes_on)
{
	int i;

	for (i = 0; i < 500; i++) {
		if (i % 2)
			falls_asleep();
		atomic_store(&raw.out.me->relay, 1);
		if (i % 2)
			ring();
		else
			ck_assert_int_eq(tp_cq_wait(rig.cq, clock_now()), 0);
		until(!atomic_load(&raw.out.me->relay));
		ck_assert(heard(wakeup.fd));
	}
}
END_TEST

/* Bytes in the wake-up socket are for the client; the server never reads them. */
START_TEST(never_reads)
{
	unsigned int i, n = 0;

	for (i = 0; i < 4 * LOCAL_WAKEUPS_UNREAD; i++) {
		atomic_store(&raw.out.me->relay, 1);
		until(!atomic_load(&raw.out.me->relay));
	}
	while (heard(wakeup.fd))
		n++;
	ck_assert_uint_eq(n, 4 * LOCAL_WAKEUPS_UNREAD);
}
END_TEST

static void relay_once(void)
{
	atomic_store(&raw.out.me->relay, 1);
	until(!atomic_load(&raw.out.me->relay));
}

/* If the client connects its wake-up socket to a foreign socket, nothing is sent there. */
START_TEST(wakes_no_other)
{
	struct sockaddr *none = &(struct sockaddr){ .sa_family = AF_UNSPEC };
	struct local_group_wakeup other;
	int victim = socket(AF_UNIX, SOCK_DGRAM, 0);

	ck_assert_int_eq(local_group_wakeup_open(&other), 0);
	close(other.fd); /* an unused name */
	ck_assert_int_eq(
		bind(victim, (struct sockaddr *)&other.name, other.len), 0);
	ck_assert_int_eq(connect(wakeup.fd, (struct sockaddr *)&other.name,
				 other.len),
			 0);
	relay_once();
	ck_assert(!heard(victim));
	ck_assert_int_eq(connect(wakeup.fd, none, sizeof(*none)), 0);
	relay_once();
	ck_assert(heard(wakeup.fd));
	ck_assert_int_eq(rig.gone, 0);
	close(victim);
}
END_TEST

static int bound(int type, const char *name, size_t len)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type, 0);

	ck_assert_int_ge(fd, 0);
	memcpy(sun.sun_path, name, len);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sun,
			      (socklen_t)(sizeof(sa_family_t) + len)),
			 0);
	return fd;
}

static int other_socket(int kind)
{
	char name[32];
	int len = snprintf(name, sizeof(name), "%cno-wakeup-%d", kind ? 0 : '.',
			   getpid());
	int fd;

	switch (kind) {
	case 0: /* a socket with a path as its name */
		fd = bound(SOCK_DGRAM, name, (size_t)len);
		unlink(name);
		return fd;
	case 1: /* a socket without a name */
		return socket(AF_UNIX, SOCK_DGRAM, 0);
	case 2:
		return bound(SOCK_STREAM, name, (size_t)len);
	default:
		return socket(AF_INET, SOCK_DGRAM, 0);
	}
}

/* A wake-up socket is a datagram socket with an abstract name. */
START_TEST(not_a_wakeup_socket)
{
	struct local_group_wakeup g = { -1 };
	int fd = other_socket(_i);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(local_group_wakeup_adopt(&g, fd), -EPROTO);
	ck_assert_int_eq(g.fd, -1);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("local_acceptor");
	TCase *tc = tcase_create("acceptor");

	tcase_set_timeout(tc, 0);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, counts);
	tcase_add_test(tc, wakes);
	tcase_add_test(tc, passes_on);
	tcase_add_test(tc, never_reads);
	tcase_add_test(tc, wakes_no_other);
	tcase_add_loop_test(tc, not_a_wakeup_socket, 0, 4);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
