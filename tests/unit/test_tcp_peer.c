/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tcp_peer.c - peers that break the tcp provider's private protocol. */
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "tests/unit/tcp_rig.h"
#include "common/transport/tp_seal.h"
#include "common/util/crc32c.h"

#define RIGHTS (TP_REMOTE_READ | TP_REMOTE_WRITE | TP_REMOTE_ATOMIC)
#define BIG (8u << 20)
#define DEAD_MS 6000

static struct rig rig;
static uint64_t mem[512];
static struct tp_mr *mr;

static void setup(void)
{
	rig_open(&rig, 0, DEAD_MS);
	memset(mem, 0, sizeof(mem));
	ck_assert_int_eq(tp_mr_reg(rig.dev, mem, sizeof(mem), RIGHTS, &mr), 0);
}

static void teardown(void)
{
	tp_mr_dereg(mr);
	rig_close(&rig);
}

static struct tcp_seg seg_at(size_t off, uint32_t len)
{
	return (struct tcp_seg){ (uintptr_t)mem + off, mr->rkey, len };
}

static void post_recv(unsigned int ep, uint64_t id, size_t off, uint32_t len)
{
	struct tp_recv_wr wr = {
		.wr_id = id,
		.sge = { (char *)mem + off, len, mr->lkey },
	};

	ck_assert_int_eq(tp_post_recv(rig.ep[ep], &wr), 0);
}

/* Checks that a message of len bytes passes ep. */
static void works(int fd, unsigned int ep, uint32_t len)
{
	const struct tcp_frame send = { .op = TCP_OP_SEND, .len = len };
	static const char payload[64] = "payload";
	unsigned int before = rig.nwc;

	post_recv(ep, 77, 1024, 64);
	raw_frame(&rig, fd, &send, NULL);
	raw_send(&rig, fd, payload, len);
	rig_until(&rig, rig.nwc == before + 1);
	ck_assert_int_eq(rig.wc[before].status, 0);
	ck_assert_uint_eq(rig.wc[before].wr_id, 77);
	ck_assert_uint_eq(rig.wc[before].byte_len, len);
	ck_assert_mem_eq((char *)mem + 1024, payload, len);
}

/* Checks that ep ends with status, its peer gets nak, and other connections stay. */
static void ends(int fd, unsigned int ep, int status, uint32_t nak)
{
	int other = raw_open(&rig);

	rig_until(&rig, rig.gone[ep]);
	ck_assert_int_eq(rig.last[ep].status, status);
	ck_assert_uint_eq(raw_end(&rig, fd), nak);
	works(other, rig.neps - 1, 5);
	close(other);
	close(fd);
}

/* Frames that an established peer must not send. */
static const struct {
	const char *what;
	struct tcp_frame frame;
	struct tcp_seg seg[2]; /* addr is an offset into mem */
	int rkey; /* 1: the right key */
	int status;
	uint32_t nak;
} wrongs[] = {
	{ "no such operation",
	  { 99, 0, 0, 0, 0 },
	  { { 0 } },
	  0,
	  -EPROTO,
	  TCP_NAK_PROTOCOL },
	{ "a second CONNECT",
	  { TCP_OP_CONNECT, 0, 8, 0, 0 },
	  { { 0 } },
	  0,
	  -EPROTO,
	  TCP_NAK_PROTOCOL },
	{ "an ACCEPT",
	  { TCP_OP_ACCEPT, 0, 8, 0, 0 },
	  { { 0 } },
	  0,
	  -EPROTO,
	  TCP_NAK_PROTOCOL },
	{ "a REJECT",
	  { TCP_OP_REJECT, 0, 8, 0, 0 },
	  { { 0 } },
	  0,
	  -EPROTO,
	  TCP_NAK_PROTOCOL },
	{ "a PULSE, which the acceptor sends",
	  { TCP_OP_PULSE, 0, 0, 0, 0 },
	  { { 0 } },
	  0,
	  -EPROTO,
	  TCP_NAK_PROTOCOL },
	{ "an ECHO of nothing",
	  { TCP_OP_ECHO, 0, 0, 0, 0 },
	  { { 0 } },
	  0,
	  -EPROTO,
	  TCP_NAK_PROTOCOL },
	{ "data nobody asked for",
	  { TCP_OP_READ_DATA, 0, 8, 0, 1 },
	  { { 0 } },
	  0,
	  -EPROTO,
	  TCP_NAK_PROTOCOL },
	{ "an atomic's answer",
	  { TCP_OP_ATOMIC_OLD, 0, 8, 0, 1 },
	  { { 0 } },
	  0,
	  -EPROTO,
	  TCP_NAK_PROTOCOL },
	{ "segments longer than the frame",
	  { TCP_OP_WRITE, 1, 8, 0, 1 },
	  { { 0, 0, 16 } },
	  1,
	  -EPROTO,
	  TCP_NAK_PROTOCOL },
	{ "segments shorter than the frame",
	  { TCP_OP_WRITE, 2, 64, 0, 1 },
	  { { 0, 0, 16 }, { 32, 0, 16 } },
	  1,
	  -EPROTO,
	  TCP_NAK_PROTOCOL },
	{ "an empty segment",
	  { TCP_OP_WRITE, 2, 16, 0, 1 },
	  { { 0, 0, 16 }, { 32, 0, 0 } },
	  1,
	  -EPROTO,
	  TCP_NAK_PROTOCOL },
	{ "a WRITE of bytes and no segment",
	  { TCP_OP_WRITE, 0, 8, 0, 1 },
	  { { 0 } },
	  0,
	  -EPROTO,
	  TCP_NAK_PROTOCOL },
	{ "a READ of bytes and no segment",
	  { TCP_OP_READ, 0, 8, 0, 1 },
	  { { 0 } },
	  0,
	  -EPROTO,
	  TCP_NAK_PROTOCOL },
	{ "the second segment wrong",
	  { TCP_OP_WRITE, 2, 32, 0, 1 },
	  { { 0, 0, 16 }, { sizeof(mem) - 8, 0, 16 } },
	  1,
	  -EACCES,
	  TCP_NAK_ACCESS },
	{ "no such key",
	  { TCP_OP_WRITE, 1, 8, 0, 1 },
	  { { 0, 0, 8 } },
	  0,
	  -EACCES,
	  TCP_NAK_ACCESS },
	{ "READ after the end",
	  { TCP_OP_READ, 1, 16, 0, 1 },
	  { { sizeof(mem) - 8, 0, 16 } },
	  1,
	  -EACCES,
	  TCP_NAK_ACCESS },
	{ "SEALED to an end that does not seal",
	  { TCP_OP_SEALED, 0, 0, 0, 0 },
	  { { 0 } },
	  0,
	  -EPROTO,
	  TCP_NAK_PROTOCOL },
	{ "an atomic across words",
	  { TCP_OP_FETCH_ADD, 1, 16, 0, 1 },
	  { { 4, 0, 8 } },
	  1,
	  -EPROTO,
	  TCP_NAK_PROTOCOL },
	{ "an atomic of 16 bytes",
	  { TCP_OP_CMP_SWAP, 1, 16, 0, 1 },
	  { { 0, 0, 16 } },
	  1,
	  -EPROTO,
	  TCP_NAK_PROTOCOL },
};

START_TEST(wrong_frame)
{
	static const uint8_t payload[64] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	static const uint64_t zeros[16];
	struct tcp_seg seg[2];
	int fd = raw_open(&rig), i;

	works(fd, 0, 5);
	for (i = 0; i < 2; i++) {
		seg[i] = wrongs[_i].seg[i];
		seg[i].addr += (uintptr_t)mem;
		seg[i].rkey = wrongs[_i].rkey ? mr->rkey : mr->rkey ^ 0x70000;
	}
	raw_frame(&rig, fd, &wrongs[_i].frame, seg);
	raw_send(&rig, fd, payload, sizeof(payload));
	ends(fd, 0, wrongs[_i].status, wrongs[_i].nak);
	ck_assert_mem_eq(mem, zeros, sizeof(zeros));
}
END_TEST

/* Replies that do not match the request. */
static const struct tcp_frame answers[] = {
	{ TCP_OP_READ_DATA, 0, 63, 0, 1 },
	{ TCP_OP_READ_DATA, 0, 65, 0, 1 },
	{ TCP_OP_READ_DATA, 0, 64, 0, 2 },
	{ TCP_OP_ATOMIC_OLD, 0, 8, 0, 1 },
};

START_TEST(wrong_answer)
{
	struct tp_sge sge = { mem, 64, mr->lkey };
	struct tp_send_wr wr = { .wr_id = 5,
				 .opcode = TP_READ,
				 .flags = TP_SIGNALED,
				 .sgl = &sge,
				 .nsge = 1 };
	static const uint8_t payload[65] = { 0xff };
	struct tcp_frame question;
	uint8_t seg[TCP_SEG_LEN];
	int fd = raw_open(&rig);

	ck_assert_int_eq(tp_post_send(rig.ep[0], &wr), 0);
	ck_assert(raw_head(&rig, fd, &question));
	ck_assert_int_eq(question.op, TCP_OP_READ);
	ck_assert_uint_eq(question.len, 64);
	ck_assert_uint_eq(question.id, 1);
	ck_assert(raw_recv(&rig, fd, seg, sizeof(seg)));
	raw_frame(&rig, fd, &answers[_i], NULL);
	raw_send(&rig, fd, payload, answers[_i].len);
	rig_until(&rig, rig.nwc == 1);
	ck_assert_int_eq(rig.wc[0].status, -ECANCELED);
	ck_assert_uint_eq(mem[0], 0);
	ends(fd, 0, -EPROTO, TCP_NAK_PROTOCOL);
}
END_TEST

START_TEST(garbage_after_handshake)
{
	int fd = raw_open(&rig);
	char junk[3000];

	memset(junk, 0xc3, sizeof(junk));
	raw_send(&rig, fd, junk, sizeof(junk));
	ends(fd, 0, -EPROTO, TCP_NAK_PROTOCOL);
}
END_TEST

START_TEST(too_long_for_receive)
{
	const struct tcp_frame send = { .op = TCP_OP_SEND, .len = 9, .id = 3 };
	int fd = raw_open(&rig);

	post_recv(0, 1, 0, 8);
	raw_frame(&rig, fd, &send, NULL);
	rig_until(&rig, rig.nwc == 1);
	ck_assert_int_eq(rig.wc[0].status, -EMSGSIZE);
	ends(fd, 0, -EMSGSIZE, TCP_NAK_LENGTH);
}
END_TEST

/* More outstanding requests than the protocol allows. */
START_TEST(too_many_reads)
{
	struct tcp_frame read = { .op = TCP_OP_READ, .nseg = 1, .len = BIG };
	char *big = calloc(1, BIG);
	struct tp_mr *big_mr;
	struct tcp_seg seg;
	int fd = raw_open(&rig);
	uint32_t i;

	ck_assert_int_eq(tp_mr_reg(rig.dev, big, BIG, RIGHTS, &big_mr), 0);
	seg = (struct tcp_seg){ (uintptr_t)big, big_mr->rkey, BIG };
	for (i = 0; i <= TCP_READS_MAX; i++) {
		read.id = i + 1;
		raw_frame(&rig, fd, &read, &seg);
	}
	rig_until(&rig, rig.gone[0]);
	ck_assert_int_eq(rig.last[0].status, -EPROTO);
	close(fd);
	tp_mr_dereg(big_mr);
	free(big);
}
END_TEST

/* Without a receive the message waits in the socket; other connections do not wait. */
START_TEST(no_receive_posted)
{
	const struct tcp_frame send = { .op = TCP_OP_SEND, .len = 5 };
	int fd = raw_open(&rig), other = raw_open(&rig), i;

	raw_frame(&rig, fd, &send, NULL);
	raw_send(&rig, fd, "hello", 5);
	for (i = 0; i < 20; i++)
		rig_turn(&rig);
	ck_assert_uint_eq(rig.nwc, 0);
	works(other, 1, 7);
	post_recv(0, 5, 0, 64);
	rig_until(&rig, rig.nwc == 2);
	ck_assert_uint_eq(rig.wc[1].wr_id, 5);
	ck_assert_mem_eq(mem, "hello", 5);
	close(fd);
	rig_until(&rig, rig.gone[0]);
	ck_assert_int_eq(rig.last[0].status, 0);
	close(other);
}
END_TEST

/* A peer that dies while its message waits is noticed all the same. */
START_TEST(reset_while_not_ready)
{
	const struct tcp_frame send = { .op = TCP_OP_SEND, .len = 5 };
	const struct linger now = { 1, 0 };
	int fd = raw_open(&rig), i;

	raw_frame(&rig, fd, &send, NULL);
	for (i = 0; i < 20; i++)
		rig_turn(&rig);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
	rig_until(&rig, rig.gone[0]);
	ck_assert_int_eq(rig.last[0].status, -ECONNRESET);
}
END_TEST

/* Half of a WRITE has arrived when the memory is deregistered. */
START_TEST(dereg_under_write)
{
	const struct tcp_frame write = {
		.op = TCP_OP_WRITE, .nseg = 1, .len = BIG, .id = 9
	};
	char *big = calloc(1, BIG), *data = malloc(BIG);
	struct tcp_seg seg;
	struct tp_mr *big_mr;
	int fd = raw_open(&rig);

	memset(data, 0x77, BIG);
	ck_assert_int_eq(tp_mr_reg(rig.dev, big, BIG, RIGHTS, &big_mr), 0);
	seg = (struct tcp_seg){ (uintptr_t)big, big_mr->rkey, BIG };
	raw_frame(&rig, fd, &write, &seg);
	raw_send(&rig, fd, data, BIG / 2);
	rig_until(&rig, big[BIG / 2 - 1] == 0x77);
	tp_mr_dereg(big_mr);
	memset(big, 0x11, BIG);
	raw_send(&rig, fd, data, BIG / 2);
	ends(fd, 0, -EACCES, TCP_NAK_ACCESS);
	ck_assert(big[0] == 0x11 && !memcmp(big, big + 1, BIG - 1));
	free(big);
	free(data);
}
END_TEST

/* The reply to a READ is in flight when the memory is deregistered. */
START_TEST(dereg_under_read)
{
	const uint32_t len = 64u << 20;
	const struct tcp_frame read = {
		.op = TCP_OP_READ, .nseg = 1, .len = len, .id = 9
	};
	char *big = calloc(1, len), part[1024];
	struct tcp_seg seg;
	struct tcp_frame head;
	struct tp_mr *big_mr;
	int fd = raw_open(&rig);

	ck_assert_int_eq(tp_mr_reg(rig.dev, big, len, RIGHTS, &big_mr), 0);
	seg = (struct tcp_seg){ (uintptr_t)big, big_mr->rkey, len };
	raw_frame(&rig, fd, &read, &seg);
	ck_assert(raw_head(&rig, fd, &head));
	ck_assert_int_eq(head.op, TCP_OP_READ_DATA);
	ck_assert_uint_eq(head.len, len);
	tp_mr_dereg(big_mr);
	memset(big, 0x55, len);
	/* the socket gets old bytes, and then an error, but never the new bytes */
	while (raw_recv(&rig, fd, part, sizeof(part)))
		ck_assert(!part[0] && !memcmp(part, part + 1, 1023));
	rig_until(&rig, rig.gone[0]);
	ck_assert_int_eq(rig.last[0].status, -EACCES);
	close(fd);
	free(big);
}
END_TEST

/* Connects as a peer that checks frames.  Returns its socket. */
static int checked_open(void)
{
	unsigned int before = rig.neps;
	uint8_t buf[TCP_HEAD_LEN + TCP_HELLO_LEN];
	struct tcp_frame frame = { .op = TCP_OP_CONNECT, .imm = TCP_CHECKS };
	int fd = raw_connect(&rig);

	frame.len = tcp_hello_put(buf + TCP_HEAD_LEN, NULL, 0);
	tcp_frame_put(buf, &frame);
	raw_send(&rig, fd, buf, sizeof(buf));
	rig_until(&rig, rig.neps == before + 1);
	ck_assert(raw_head(&rig, fd, &frame));
	ck_assert_int_eq(frame.op, TCP_OP_ACCEPT);
	ck_assert_uint_eq(frame.imm, TCP_CHECKS | TCP_CHECKED);
	ck_assert(raw_recv(&rig, fd, buf, TCP_HELLO_LEN));
	return fd;
}

#define CHECKED_LEN (TCP_HEAD_LEN + TCP_CHECK_LEN + 64u)
/* A message of 64 bytes of which the first 48 are covered by the check. */
static void checked_message(uint8_t buf[CHECKED_LEN])
{
	const struct tcp_frame send = { .op = TCP_OP_SEND, .len = 64 };
	struct tcp_check check = { .covered = 48 };

	memset(buf, 0x42, CHECKED_LEN);
	check.rest = crc32c(0, buf, check.covered);
	tcp_frame_put(buf, &send);
	tcp_check_put(buf, &check);
}

START_TEST(checked)
{
	uint8_t buf[CHECKED_LEN];
	int fd = checked_open();

	post_recv(0, 4, 0, 64);
	checked_message(buf);
	raw_send(&rig, fd, buf, sizeof(buf));
	rig_until(&rig, rig.nwc == 1);
	ck_assert_int_eq(rig.wc[0].status, 0);
	ck_assert_uint_eq(rig.wc[0].byte_len, 64);
	close(fd);
}
END_TEST

/* A flipped bit in each part of the frame: nothing of the frame is used. */
START_TEST(changed)
{
	static const unsigned int at[] = { 0,
					   2,
					   5,
					   12,
					   TCP_HEAD_LEN,
					   TCP_HEAD_LEN + 4,
					   TCP_HEAD_LEN + 8,
					   TCP_HEAD_LEN + TCP_CHECK_LEN + 26 };
	uint8_t buf[CHECKED_LEN];
	int fd = checked_open();

	post_recv(0, 4, 0, 64);
	checked_message(buf);
	buf[at[_i]] ^= 1;
	raw_send(&rig, fd, buf, sizeof(buf));
	rig_until(&rig, rig.gone[0]);
	ck_assert_int_eq(rig.last[0].status, -EBADMSG);
	ck_assert_int_eq(((char *)mem)[0], 0);
	close(fd);
}
END_TEST

/* The frames arrive in single bytes, so they do not depend on their division. */
START_TEST(byte_by_byte)
{
	const struct tcp_frame write = {
		.op = TCP_OP_WRITE_IMM, .nseg = 1, .len = 20, .imm = 0xfeedf00d
	};
	struct tcp_seg seg = seg_at(100, 20);
	uint8_t buf[TCP_HEAD_LEN + TCP_SEG_LEN + 20];
	int fd = raw_open(&rig);
	size_t i;

	post_recv(0, 4, 0, 0);
	tcp_frame_put(buf, &write);
	tcp_seg_put(buf + TCP_HEAD_LEN, &seg);
	memset(buf + TCP_HEAD_LEN + TCP_SEG_LEN, 0x42, 20);
	for (i = 0; i < sizeof(buf); i++) {
		raw_send(&rig, fd, buf + i, 1);
		rig_turn(&rig);
		rig_turn(&rig);
	}
	rig_until(&rig, rig.nwc == 1);
	ck_assert_int_eq(rig.wc[0].opcode, TP_RECV_IMM);
	ck_assert_uint_eq(rig.wc[0].imm, 0xfeedf00d);
	ck_assert_uint_eq(rig.wc[0].byte_len, 20);
	ck_assert(((char *)mem)[100] == 0x42 && ((char *)mem)[119] == 0x42);
	ck_assert_int_eq(((char *)mem)[120], 0);
	close(fd);
}
END_TEST

/* The end of the stream in the middle of a frame is the end of the peer's process. */
START_TEST(end_in_mid_frame)
{
	const struct tcp_frame send = { .op = TCP_OP_SEND, .len = 1000 };
	int fd = raw_open(&rig);

	post_recv(0, 1, 0, 1000);
	raw_frame(&rig, fd, &send, NULL);
	raw_send(&rig, fd, "some", 4);
	close(fd);
	rig_until(&rig, rig.gone[0]);
	ck_assert_int_eq(rig.last[0].status, 0);
	ck_assert_uint_eq(rig.nwc, 1);
	ck_assert_int_eq(rig.wc[0].status, -ECANCELED);
}
END_TEST

/* Makes the peer's host deaf: its kernel drops all packets. */
static void make_deaf(int fd)
{
	struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog all = { 1, &drop };

	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &all,
				    sizeof(all)),
			 0);
}

START_TEST(silent_host)
{
	struct tp_sge sge = { mem, 64, TP_LKEY_NONE };
	struct tp_send_wr send = { .opcode = TP_SEND, .sgl = &sge, .nsge = 1 };
	struct tp_send_wr read = {
		.wr_id = 7, .opcode = TP_READ, .sgl = &sge, .nsge = 1
	};
	struct rig impatient;
	int fd;

	rig_open(&impatient, 0, 300);
	fd = raw_open(&impatient);
	make_deaf(fd);
	sge.lkey = TP_LKEY_NONE;
	ck_assert_int_eq(tp_post_send(impatient.ep[0], &send), 0);
	sge = (struct tp_sge){ mem, 0, 0 };
	ck_assert_int_eq(tp_post_send(impatient.ep[0], &read), 0);
	rig_until(&impatient, impatient.gone[0]);
	ck_assert_int_eq(impatient.last[0].status, -ETIMEDOUT);
	ck_assert_uint_eq(impatient.nwc, 1);
	ck_assert_uint_eq(impatient.wc[0].wr_id, 7);
	ck_assert_int_eq(impatient.wc[0].status, -ETIMEDOUT);
	close(fd);
	rig_close(&impatient);
}
END_TEST

/* The peer's host replies, but its program does so only for a while. */
START_TEST(silent_program)
{
	const struct tcp_frame echo = { .op = TCP_OP_ECHO };
	struct tcp_frame head;
	struct rig impatient;
	int fd, i;

	rig_open(&impatient, 0, 300);
	fd = raw_open(&impatient);
	for (i = 0; i < 3; i++) {
		ck_assert(raw_head(&impatient, fd, &head));
		ck_assert_int_eq(head.op, TCP_OP_PULSE);
		ck_assert(!impatient.gone[0]);
		raw_frame(&impatient, fd, &echo, NULL);
	}
	ck_assert(raw_head(&impatient, fd, &head));
	ck_assert_int_eq(head.op, TCP_OP_PULSE);
	rig_until(&impatient, impatient.gone[0]);
	ck_assert_int_eq(impatient.last[0].status, -ETIMEDOUT);
	ck_assert(strstr(impatient.text, "does not answer"));
	close(fd);
	rig_close(&impatient);
}
END_TEST

static int option(int fd, int level, int name)
{
	int val = -1;
	socklen_t len = sizeof(val);

	ck_assert_int_eq(getsockopt(fd, level, name, &val, &len), 0);
	return val;
}

/* If nothing is outstanding, the keepalive of the kernel probes. */
START_TEST(keepalive)
{
	int fd = raw_open(&rig), ms, s;

	s = container_of(rig.ep[0], struct tcp_ep, ep)->fd;
	ms = 1000 * (option(s, IPPROTO_TCP, TCP_KEEPIDLE) +
		     option(s, IPPROTO_TCP, TCP_KEEPINTVL) *
			     option(s, IPPROTO_TCP, TCP_KEEPCNT));
	ck_assert_int_eq(option(s, SOL_SOCKET, SO_KEEPALIVE), 1);
	ck_assert_int_eq(option(s, IPPROTO_TCP, TCP_NODELAY), 1);
	ck_assert_int_le(ms, DEAD_MS);
	ck_assert_int_gt(ms, DEAD_MS / 2);
	close(fd);
}
END_TEST

static unsigned int freed;

static void sealer_freed(struct sealer *s)
{
	freed++;
}

/* Unsealed data that arrived before sealing, and was not polled, is an error afterwards. */
START_TEST(seal_behind_bare)
{
	const struct tcp_frame send = { .op = TCP_OP_SEND, .len = 8 };
	int fd = raw_open(&rig);
	struct tcp_ep *ep = container_of(rig.ep[0], struct tcp_ep, ep);
	struct sealer sealer = { .free = sealer_freed };
	uint64_t count[TP_FLAWS], end = clock_after_ms(RIG_PATIENCE_MS);
	struct tp_wc wc;

	freed = 0;
	post_recv(0, 1, 0, 64);
	raw_frame(&rig, fd, &send, NULL);
	ck_assert_int_eq(write(fd, "halfhalf", _i ? 8 : 4), _i ? 8 : 4);
	while (_i ? ep->rq.head == ep->rq.done : !ep->rx.landing) {
		tp_cq_poll(rig.cq, &wc, 0);
		ck_assert_uint_lt(clock_now(), end);
	}
	ck_assert_int_eq(tp_ep_seal(rig.ep[0], &sealer, 0), -EBADMSG);
	ck_assert_uint_eq(freed, 1);
	tp_dev_flaws(rig.dev, count);
	ck_assert_uint_eq(count[TP_FLAW_BARE], 1);
	ends(fd, 0, -EBADMSG, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp_peer");
	TCase *tc = tcase_create("peer");

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, wrong_frame, 0,
			    sizeof(wrongs) / sizeof(wrongs[0]));
	tcase_add_loop_test(tc, wrong_answer, 0,
			    sizeof(answers) / sizeof(answers[0]));
	tcase_add_test(tc, garbage_after_handshake);
	tcase_add_test(tc, too_long_for_receive);
	tcase_add_test(tc, too_many_reads);
	tcase_add_test(tc, no_receive_posted);
	tcase_add_test(tc, reset_while_not_ready);
	tcase_add_test(tc, dereg_under_write);
	tcase_add_test(tc, dereg_under_read);
	tcase_add_test(tc, byte_by_byte);
	tcase_add_test(tc, checked);
	tcase_add_loop_test(tc, changed, 0, 8);
	tcase_add_loop_test(tc, seal_behind_bare, 0, 2);
	tcase_add_test(tc, end_in_mid_frame);
	tcase_add_test(tc, silent_host);
	tcase_add_test(tc, silent_program);
	tcase_add_test(tc, keepalive);
	return run_suite(s);
}
