/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_local_behind.c - descriptors that a client sends after the hello, where none is allowed.
 * Their last close takes long, and nothing waits for it.
 */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/lingering.h"
#include "tests/unit/rig_check.h"
#include "tests/run_suite.h"

#define LEN 64u
#define RECVS 4u
#define PATIENCE_MS 60000u

static struct local_rig rig;
static struct tp_mr *mr;
static uint8_t buf[RECVS * LEN];

#define until(cond) rig_until(&rig, mr, LEN, RECVS, PATIENCE_MS, cond)

static void setup(void)
{
	rig_start(&rig, buf, sizeof(buf), 0, &mr);
}

static void teardown(void)
{
	rig_end(&rig, mr);
}

/* Sends len bytes, and fd with the last of them; closes fd. */
static void say_with(int to, int fd, size_t len)
{
	static char bytes[LEN];
	struct iovec iov = { bytes, 1 };
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.buf,
			      .msg_controllen = sizeof(control.buf) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	size_t i;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	for (i = 1; i < len; i++)
		ck_assert_int_eq(send(to, bytes, 1, 0), 1);
	ck_assert_int_eq(sendmsg(to, &msg, 0), 1);
	close(fd);
}

/* Sends it to an accepted connection, which expects no more bytes on the socket. */
START_TEST(behind_accept)
{
	unsigned int before = count_fds();
	struct raw raw;
	int reader;

	ck_assert_int_eq(raw_open(&rig, &raw, mr, LEN, RECVS), 0);
	say_with(raw.fd, lingering(&reader), 1);
	if (_i) /* and disconnects */
		shutdown(raw.fd, SHUT_WR);
	until(rig.gone);
	ck_assert(_i || rig.last.status == -EPROTO);
	raw_close(&raw);
	rig_forget_ep(&rig);
	rig_works(&rig, mr, LEN, RECVS);
	close(reader);
	until(count_fds() <= before);
}
END_TEST

/* Sends it before the connection is accepted: directly after the hello, or without any. */
START_TEST(behind_hello)
{
	unsigned int before = count_fds();
	int reader, raw = raw_connect(&rig);

	if (_i)
		ck_assert_int_eq(
			local_hello_send(raw, LOCAL_CONNECT, NULL, 0, NULL), 0);
	else
		ck_assert_int_eq(send(raw, "x", 1, 0), 1);
	say_with(raw, lingering(&reader), LEN);
	rig_works(&rig, mr, LEN, RECVS);
	close(raw);
	close(reader);
	until(count_fds() <= before);
}
END_TEST

/* Sends it to a connection that is not read before the listener closes. */
START_TEST(unlistened)
{
	int reader[2], raw[2], i;

	for (i = 0; i < 2; i++) {
		raw[i] = raw_connect(&rig);
		say_with(raw[i], lingering(&reader[i]), 1);
		if (i == 0)
			local_rig_turn(&rig, mr, LEN, RECVS);
	}
	teardown();
	setup();
	for (i = 0; i < 2; i++) {
		close(raw[i]);
		close(reader[i]);
	}
}
END_TEST

/* Acts as a server for a client of the rig, with its own socket and shared memory. */
static int server_for(struct tp_ep *ep, struct local_shm *shm)
{
	struct addr addr = { .scheme = "local", .host = "127.0.0.1" };
	const struct local_giver from = local_giver(rig.dev, 0);
	int s = socket(AF_UNIX, SOCK_STREAM, 0), fd, tries = 0;
	struct local_fds got, fds = LOCAL_NO_FDS;
	struct local_name name[LOCAL_NAMES];
	struct local_hello hello;
	const char *why;

	do {
		addr.port = (uint16_t)(20000 + tries++);
		ck_assert_int_ge(local_names(&addr, true, name), 1);
	} while (bind(s, (struct sockaddr *)&name->sun, name->len) &&
		 tries < 10000);
	ck_assert_int_eq(listen(s, 1), 0);
	ck_assert_int_eq(tp_connect(ep, &addr, NULL, 0, CLOCK_NEVER), 0);
	fd = accept(s, NULL, NULL);
	close(s);
	ck_assert_int_eq(local_hello_recv(&from, fd, &hello, &got, &why), 0);
	local_fds_close(&from, &got);
	ck_assert_int_eq(
		local_shm_create(shm, LOCAL_RING, &fds.fd[LOCAL_FD_SHM]), 0);
	fds.fd[LOCAL_FD_BELL] = dup(fd);
	ck_assert_int_eq(local_hello_send(fd, LOCAL_ACCEPT, NULL, 0, &fds), 0);
	close(fds.fd[LOCAL_FD_SHM]);
	close(fds.fd[LOCAL_FD_BELL]);
	return fd;
}

/* Sends it to a client among the bells, which it reads. */
START_TEST(among_bells)
{
	int fd, reader, i, given;
	struct local_shm shm;
	struct tp_ep *ep;

	ck_assert_int_eq(tp_ep_open(rig.cq, NULL, &ep), 0);
	fd = server_for(ep, &shm);
	rig.ep = ep;
	until(rig.last.type == TP_EV_ESTABLISHED && rig.last.ep == ep);
	given = lingering(&reader);
	for (i = 0; i <= (int)TP_PASS_MAX; i++)
		say_with(fd, dup(given),
			 2); /* the socket can hold some hundreds */
	close(given);
	for (i = 0; i < 200 && !rig.gone; i++) {
		send(fd, "", 1, MSG_NOSIGNAL);
		local_rig_turn(&rig, mr, LEN, 0);
		tp_cq_wait(rig.cq, clock_now());
	}
	until(rig.gone);
	ck_assert_int_eq(rig.last.status, -EPROTO);
	rig_forget_ep(&rig);
	close(fd);
	local_shm_unmap(&shm);
	rig_works(&rig, mr, LEN, RECVS);
	close(reader);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("local_behind");
	TCase *tc = tcase_create("behind");

	tcase_set_timeout(tc, 0);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, behind_accept, 0, 2);
	tcase_add_loop_test(tc, behind_hello, 0, 2);
	tcase_add_test(tc, unlistened);
	tcase_add_test(tc, among_bells);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
