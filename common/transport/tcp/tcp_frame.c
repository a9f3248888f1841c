/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_frame.c - encodes and decodes frames.  A table has the limits of the fields for each op. */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "common/transport/tcp/tcp_frame.h"
#include "common/transport/transport.h"
#include "common/util/crc32c.h"

#define MAGIC 0x49535650u /* "PVSI" */

struct frame_rule {
	uint32_t seg_min, seg_max;
	uint32_t len_min, len_max;
	bool small; /* the payload is needed before the frame is handled */
};

#define HELLO_MAX (TCP_HELLO_LEN + TP_PRIVATE_MAX)

static const struct frame_rule rules[TCP_OP_END] = {
	[TCP_OP_CONNECT] = { 0, 0, TCP_HELLO_LEN, HELLO_MAX, true },
	[TCP_OP_ACCEPT] = { 0, 0, TCP_HELLO_LEN, HELLO_MAX, true },
	[TCP_OP_REJECT] = { 0, 0, TCP_HELLO_LEN, HELLO_MAX, true },
	[TCP_OP_SEND] = { 0, 0, 0, TP_SEND_MAX, false },
	[TCP_OP_WRITE] = { 0, TCP_SEG_MAX, 0, TP_LEN_MAX, false },
	[TCP_OP_WRITE_IMM] = { 0, 1, 0, TP_LEN_MAX, false },
	[TCP_OP_READ] = { 0, TCP_SEG_MAX, 0, TP_LEN_MAX, false },
	[TCP_OP_READ_DATA] = { 0, 0, 0, TP_LEN_MAX, false },
	[TCP_OP_FETCH_ADD] = { 1, 1, 16, 16, true },
	[TCP_OP_CMP_SWAP] = { 1, 1, 16, 16, true },
	[TCP_OP_ATOMIC_OLD] = { 0, 0, 8, 8, true },
	[TCP_OP_NAK] = { 0, 0, 0, 0, true },
	[TCP_OP_BYE] = { 0, 0, 0, 0, true },
	[TCP_OP_PULSE] = { 0, 0, 0, 0, true },
	[TCP_OP_ECHO] = { 0, 0, 0, 0, true },
	[TCP_OP_SEALED] = { 0, 0, 0, 0, true },
};

_Static_assert(HELLO_MAX <= TCP_SMALL_MAX, "a hello is small");

static void u16_put(uint8_t *p, uint16_t val)
{
	val = htole16(val);
	memcpy(p, &val, sizeof(val));
}

static void u32_put(uint8_t *p, uint32_t val)
{
	val = htole32(val);
	memcpy(p, &val, sizeof(val));
}

static uint16_t u16_get(const uint8_t *p)
{
	uint16_t val;

	memcpy(&val, p, sizeof(val));
	return le16toh(val);
}

static uint32_t u32_get(const uint8_t *p)
{
	uint32_t val;

	memcpy(&val, p, sizeof(val));
	return le32toh(val);
}

void tcp_u64_put(uint8_t *p, uint64_t val)
{
	val = htole64(val);
	memcpy(p, &val, sizeof(val));
}

uint64_t tcp_u64_get(const uint8_t *p)
{
	uint64_t val;

	memcpy(&val, p, sizeof(val));
	return le64toh(val);
}

void tcp_frame_put(uint8_t *p, const struct tcp_frame *frame)
{
	p[0] = (uint8_t)frame->op;
	p[1] = 0;
	u16_put(p + 2, (uint16_t)frame->nseg);
	u32_put(p + 4, frame->len);
	u32_put(p + 8, frame->imm);
	u32_put(p + 12, frame->id);
}

int tcp_frame_get(const uint8_t *p, struct tcp_frame *frame, const char **why)
{
	struct tcp_frame f = {
		.op = p[0],
		.nseg = u16_get(p + 2),
		.len = u32_get(p + 4),
		.imm = u32_get(p + 8),
		.id = u32_get(p + 12),
	};
	const struct frame_rule *rule;

	if (p[0] == 0 || p[0] >= TCP_OP_END || p[1] != 0) {
		*why = "unknown operation";
		return -EPROTO;
	}
	rule = &rules[p[0]];
	if (f.nseg < rule->seg_min || f.nseg > rule->seg_max) {
		*why = "segment count out of bounds";
		return -EPROTO;
	}
	if (f.len < rule->len_min || f.len > rule->len_max) {
		*why = "length out of bounds";
		return -EPROTO;
	}
	*frame = f;
	return 0;
}

size_t tcp_frame_need(const struct tcp_frame *frame)
{
	size_t need = TCP_HEAD_LEN + frame->nseg * TCP_SEG_LEN;

	return rules[frame->op].small ? need + frame->len : need;
}

void tcp_check_put(uint8_t *head, const struct tcp_check *check)
{
	uint8_t *p = head + TCP_HEAD_LEN;

	u32_put(p, check->covered);
	u32_put(p + 4, check->rest);
	u32_put(p + 8, crc32c(0, head, TCP_HEAD_LEN + 8));
}

int tcp_check_get(const uint8_t *head, struct tcp_check *check)
{
	const uint8_t *p = head + TCP_HEAD_LEN;

	if (u32_get(p + 8) != crc32c(0, head, TCP_HEAD_LEN + 8))
		return -EBADMSG;
	check->covered = u32_get(p);
	check->rest = u32_get(p + 4);
	return check->covered > TCP_COVERED_MAX ? -EPROTO : 0;
}

void tcp_seg_put(uint8_t *p, const struct tcp_seg *seg)
{
	tcp_u64_put(p, seg->addr);
	u32_put(p + 8, seg->rkey);
	u32_put(p + 12, seg->len);
}

int tcp_seg_get(const uint8_t *p, struct tcp_seg *seg)
{
	struct tcp_seg s = {
		.addr = tcp_u64_get(p),
		.rkey = u32_get(p + 8),
		.len = u32_get(p + 12),
	};

	if (s.len == 0)
		return -EPROTO;
	*seg = s;
	return 0;
}

uint32_t tcp_hello_put(uint8_t *p, const void *priv, unsigned int len)
{
	u32_put(p, MAGIC);
	u16_put(p + 4, TCP_VERSION);
	u16_put(p + 6, 0);
	if (len)
		memcpy(p + TCP_HELLO_LEN, priv, len);
	return TCP_HELLO_LEN + len;
}

static uint32_t hello_check(struct tcp_frame frame, const uint8_t *payload)
{
	uint8_t head[TCP_HEAD_LEN];

	frame.id = 0;
	tcp_frame_put(head, &frame);
	return crc32c(crc32c(0, head, sizeof(head)), payload, frame.len);
}

void tcp_hello_seal(struct tcp_frame *frame, const uint8_t *payload)
{
	frame->imm |= TCP_CHECKED;
	frame->id = hello_check(*frame, payload);
}

bool tcp_hello_is_intact(const struct tcp_frame *frame, const uint8_t *payload)
{
	return !(frame->imm & TCP_CHECKED) ||
	       frame->id == hello_check(*frame, payload);
}

int tcp_hello_get(const uint8_t *p, uint32_t len, struct tcp_hello *hello,
		  const char **why)
{
	if (len < TCP_HELLO_LEN || len > HELLO_MAX || u32_get(p) != MAGIC ||
	    u16_get(p + 6) != 0) {
		*why = "not the PVFS tcp transport";
		return -EPROTOTYPE;
	}
	if (u16_get(p + 4) != TCP_VERSION) {
		*why = "another version of the tcp transport; upgrade the "
		       "older end";
		return -EPROTO;
	}
	hello->len = len - TCP_HELLO_LEN;
	hello->priv = p + TCP_HELLO_LEN;
	return 0;
}

static const struct {
	uint32_t nak;
	int status;
} naks[] = {
	{ TCP_NAK_PROTOCOL, -EPROTO },
	{ TCP_NAK_ACCESS, -EACCES },
	{ TCP_NAK_LENGTH, -EMSGSIZE },
	{ TCP_NAK_FAILED, -ECONNRESET },
};

int tcp_nak_status(uint32_t nak)
{
	size_t i;

	for (i = 0; i < sizeof(naks) / sizeof(naks[0]); i++) {
		if (naks[i].nak == nak)
			return naks[i].status;
	}
	return -EPROTO;
}

uint32_t tcp_nak_code(int status)
{
	size_t i;

	for (i = 0; i < sizeof(naks) / sizeof(naks[0]); i++) {
		if (naks[i].status == status)
			return naks[i].nak;
	}
	return TCP_NAK_FAILED;
}
