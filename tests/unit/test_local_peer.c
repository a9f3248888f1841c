/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_local_peer.c - the local provider and a peer that sends wrong or superfluous data in its
 * hello or its records; and the identity of the peer.
 */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/lingering.h"
#include "tests/unit/rig_check.h"
#include "tests/run_suite.h"

#define LEN 256u
#define RECVS 4u
#define ALL (TP_LOCAL_WRITE | TP_REMOTE_READ | TP_REMOTE_WRITE)
#define PATIENCE_MS 20000u

static struct local_rig rig;
static struct tp_mr *mr;
static uint8_t buf[RECVS * LEN + 4096];

#define until(cond) rig_until(&rig, mr, LEN, RECVS, PATIENCE_MS, cond)

static void setup(void)
{
	rig_start(&rig, buf, RECVS * LEN, ALL, &mr);
}

static void teardown(void)
{
	size_t i;

	for (i = RECVS * LEN; i < sizeof(buf); i++)
		ck_assert_uint_eq(buf[i], 0);
	rig_end(&rig, mr);
}

static struct raw open_raw(void)
{
	struct raw raw;

	ck_assert_int_eq(raw_open(&rig, &raw, mr, LEN, RECVS), 0);
	return raw;
}

START_TEST(identity)
{
	struct tp_identity id = { 0 };
	struct raw raw = open_raw();

	ck_assert_int_eq(rig.id.pid, getpid());
	ck_assert_uint_eq(rig.id.uid, geteuid());
	ck_assert_uint_eq(rig.id.gid, getegid());
	ck_assert_int_eq(tp_ep_identity(rig.ep, &id), 0);
	ck_assert_int_eq(id.pid, getpid());
	raw_close(&raw);
	until(rig.gone);
	rig_forget_ep(&rig);
}
END_TEST

/* ---- wrong records ---- */

static const struct {
	struct local_head head;
	int status;
} wrong[] = {
	{ { .op = 0 }, -EPROTO },
	{ { .op = LOCAL_OP_END }, -EPROTO },
	{ { .op = 0xffff }, -EPROTO },
	{ { .op = LOCAL_OP_MORE, .size = 8, .total = 8 }, -EPROTO },
	{ { .op = LOCAL_OP_SEND, .size = 8, .total = 4 }, -EPROTO },
	{ { .op = LOCAL_OP_SEND, .size = 0, .total = 4 }, -EPROTO },
	{ { .op = LOCAL_OP_SEND, .size = LEN, .total = LEN + 1 }, -EMSGSIZE },
	{ { .op = LOCAL_OP_SEND, .size = LEN, .total = UINT32_MAX },
	  -EMSGSIZE },
	{ { .op = LOCAL_OP_SEND, .size = UINT32_MAX, .total = 9 }, -EPROTO },
	{ { .op = LOCAL_OP_WRITE, .size = 8, .total = 8, .rkey = 77 },
	  -EACCES },
	{ { .op = LOCAL_OP_READ, .total = 8, .rkey = 77 }, -EACCES },
	{ { .op = LOCAL_OP_READ, .total = UINT32_MAX }, -EPROTO },
	{ { .op = LOCAL_OP_READ, .total = 0 }, -EPROTO },
	{ { .op = LOCAL_OP_READ_DATA, .size = 8, .total = 8 }, -EPROTO },
	{ { .op = LOCAL_OP_OLD, .size = 8, .total = 8 }, -EPROTO },
	{ { .op = LOCAL_OP_FETCH_ADD, .size = 16, .total = 8, .rkey = 77 },
	  -EACCES },
	{ { .op = LOCAL_OP_FETCH_ADD, .size = 8, .total = 8 }, -EPROTO },
	{ { .op = LOCAL_OP_CMP_SWAP, .size = 16, .total = 8, .addr = 4 },
	  -EPROTO },
	{ { .op = LOCAL_OP_IMM, .total = UINT32_MAX }, -EPROTO },
};
#define WRONG ((int)(sizeof(wrong) / sizeof(wrong[0])))

START_TEST(wrong_record)
{
	struct raw raw = open_raw();
	static const uint8_t stuff[LOCAL_PIECE];

	raw_put(&raw, &wrong[_i].head, stuff);
	until(rig.gone);
	ck_assert_int_eq(rig.last.status, wrong[_i].status);
	ck_assert_int_eq(atomic_load(&raw.in.peer->status), wrong[_i].status);
	raw_close(&raw);
	rig_forget_ep(&rig);
	rig_works(&rig, mr, LEN, RECVS);
}
END_TEST

/* READs without end: the number of outstanding replies stays within the limit. */
START_TEST(flood_of_reads)
{
	struct local_head head = { .op = LOCAL_OP_READ,
				   .total = LEN * RECVS,
				   .addr = (uintptr_t)buf,
				   .rkey = mr->rkey };
	struct raw raw = open_raw();
	int i;

	for (i = 0; i < 1000; i++) {
		head.id = (uint32_t)i + 1;
		raw_put(&raw, &head, NULL);
	}
	until(rig.gone);
	ck_assert_int_eq(rig.last.status, -EPROTO);
	raw_close(&raw);
	rig_forget_ep(&rig);
	rig_works(&rig, mr, LEN, RECVS);
}
END_TEST

/* ---- the handshake ---- */

START_TEST(bad_hello)
{
	struct local_hello hello = { 0 };
	struct local_fds give = LOCAL_NO_FDS;
	int raw = raw_connect(&rig);
	unsigned int before = count_fds();
	char c;

	switch (_i) {
	case 0: /* nothing, and then the end */
		break;
	case 1:
		ck_assert_int_eq(send(raw, "x", 1, 0), 1);
		break;
	case 2:
		ck_assert_int_gt(send(raw, &hello, sizeof(hello), 0), 0);
		break;
	case 3: /* superfluous descriptors */
		memset(&give, 0, sizeof(give));
		ck_assert_int_eq(
			local_hello_send(raw, LOCAL_ACCEPT, NULL, 0, &give), 0);
		break;
	case 4: /* an incomplete group */
		give.fd[LOCAL_FD_WAKEUP] = 0;
		ck_assert_int_eq(local_hello_send(raw, LOCAL_CONNECT, NULL, 0,
						  &give),
				 0);
		break;
	case 5: /* a longer length than the data */
		hello = (struct local_hello){ .magic = 0x4c534650u,
					      .version = 3,
					      .type = LOCAL_CONNECT,
					      .has = UINT32_MAX };
		ck_assert_int_gt(send(raw, &hello, sizeof(hello), 0), 0);
		break;
	case 6: /* a wrong group */
		give.fd[LOCAL_FD_WAKEUP] = give.fd[LOCAL_FD_PAGE] = 0;
		/* fall through */
	default: /* a wrong table: accepted all the same */
		give.fd[LOCAL_FD_TABLE] = 0;
		ck_assert_int_eq(local_hello_send(raw, LOCAL_CONNECT, NULL, 0,
						  &give),
				 0);
		until(rig.ep);
		close(raw);
		until(rig.gone);
		rig_forget_ep(&rig);
		rig_works(&rig, mr, LEN, RECVS);
		until(count_fds() < before);
		return;
	}
	shutdown(raw, SHUT_WR);
	until(recv(raw, &c, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN);
	until(count_fds() <= before);
	close(raw);
	rig_works(&rig, mr, LEN, RECVS);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("local_peer");
	TCase *tc = tcase_create("peer");

	tcase_set_timeout(tc, 0);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, identity);
	tcase_add_loop_test(tc, wrong_record, 0, WRONG);
	tcase_add_test(tc, flood_of_reads);
	tcase_add_loop_test(tc, bad_hello, 0, 8);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
