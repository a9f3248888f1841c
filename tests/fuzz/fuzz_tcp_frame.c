/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_tcp_frame.c - the frames, segments and hellos of the tcp provider, with any content. */
#include <errno.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "common/transport/tcp/tcp_frame.h"
#include "common/transport/transport.h"

static void check_segs(const uint8_t *data, size_t len, uint32_t nseg)
{
	uint8_t back[TCP_SEG_LEN];
	struct tcp_seg seg;

	for (; nseg && len >= TCP_SEG_LEN; nseg--) {
		if (tcp_seg_get(data, &seg) == 0) {
			FUZZ_SURE(seg.len > 0);
			tcp_seg_put(back, &seg);
			FUZZ_SURE(!memcmp(back, data, sizeof(back)));
		}
		data += TCP_SEG_LEN;
		len -= TCP_SEG_LEN;
	}
}

static void check_hello(const uint8_t *data, size_t len)
{
	struct tcp_hello hello;
	const char *why = NULL;

	if (tcp_hello_get(data, (uint32_t)len, &hello, &why)) {
		FUZZ_SURE(why);
		return;
	}
	FUZZ_SURE(hello.len <= TP_PRIVATE_MAX &&
		  hello.priv + hello.len == data + len);
	fuzz_touch(hello.priv, hello.len);
}

void fuzz_one(const uint8_t *data, size_t len)
{
	uint8_t back[TCP_HEAD_LEN];
	struct tcp_frame f;
	const char *why = NULL;

	if (len < TCP_HEAD_LEN)
		return;
	if (tcp_frame_get(data, &f, &why)) {
		FUZZ_SURE(why);
		return;
	}
	tcp_frame_put(back, &f);
	FUZZ_SURE(!memcmp(back, data, sizeof(back)));
	FUZZ_SURE(f.nseg <= TCP_SEG_MAX && f.len <= TP_LEN_MAX);
	FUZZ_SURE(tcp_frame_need(&f) <=
		  TCP_HEAD_LEN + TCP_SEG_MAX * TCP_SEG_LEN + TCP_SMALL_MAX);
	FUZZ_SURE(tcp_nak_status(f.imm) < 0);
	check_segs(data + TCP_HEAD_LEN, len - TCP_HEAD_LEN, f.nseg);
	check_hello(data + TCP_HEAD_LEN, len - TCP_HEAD_LEN);
}

void fuzz_seeds(void)
{
	const struct tcp_seg seg = { 0x123456789abc, 0xcafe0001, 64 };
	static const uint8_t priv[TP_PRIVATE_MAX] = "private data";
	uint8_t buf[TCP_HEAD_LEN + TCP_HELLO_LEN + TP_PRIVATE_MAX];
	struct tcp_frame f = { .op = TCP_OP_CONNECT };

	memset(buf, 7, sizeof(buf));
	f.len = tcp_hello_put(buf + TCP_HEAD_LEN, priv, TP_PRIVATE_MAX);
	tcp_frame_put(buf, &f);
	fuzz_seed(buf, sizeof(buf));
	f = (struct tcp_frame){ TCP_OP_WRITE, 2, 128, 0, 1 };
	tcp_frame_put(buf, &f);
	tcp_seg_put(buf + TCP_HEAD_LEN, &seg);
	tcp_seg_put(buf + TCP_HEAD_LEN + TCP_SEG_LEN, &seg);
	fuzz_seed(buf, TCP_HEAD_LEN + 2 * TCP_SEG_LEN);
	f = (struct tcp_frame){ TCP_OP_NAK, 0, 0, TCP_NAK_ACCESS, 1 };
	tcp_frame_put(buf, &f);
	fuzz_seed(buf, TCP_HEAD_LEN);
}
