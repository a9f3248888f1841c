/* SPDX-License-Identifier: BSD-2-Clause */
/* raw_client.c - bare transport calls. */
#include "tests/unit/raw_client.h"

#include <stdlib.h>
#include <string.h>

static void raw_post(struct raw *raw, unsigned int i)
{
	struct tp_recv_wr wr = {
		.wr_id = i,
		.sge = { raw->buf->in[i], RAW_MSG, raw->mr->lkey },
	};

	ck_assert_int_eq(tp_post_recv(raw->ep, &wr), 0);
}

void raw_open(struct raw *raw, struct rig *rig, uint64_t session,
	      uint32_t epoch)
{
	struct tp_ep_attr attr = { .max_send_wr = 64,
				   .max_recv_wr = RAW_RECVS };

	memset(raw, 0, sizeof(*raw));
	raw->rig = rig;
	raw->buf = calloc(1, sizeof(*raw->buf));
	ck_assert_int_eq(tp_cq_open(rig->dev, 256, &raw->cq), 0);
	ck_assert_int_eq(tp_ep_open(raw->cq, &attr, &raw->ep), 0);
	ck_assert_int_eq(tp_mr_reg(rig->dev, raw->buf, sizeof(*raw->buf),
				   TP_LOCAL_WRITE, &raw->mr),
			 0);
	raw->priv = (struct wire_connect){
		.magic = htole32(WIRE_MAGIC),
		.version = htole16(WIRE_VERSION),
		.role = htole16(WIRE_ROLE_CLIENT),
		.fsid = htole64(RIG_FSID),
		.session = htole64(session),
		.epoch = htole32(epoch),
		.reply_max = htole32(RAW_MSG),
	};
}

void raw_close(struct raw *raw)
{
	tp_ep_close(raw->ep);
	tp_mr_dereg(raw->mr);
	tp_cq_close(raw->cq);
	free(raw->buf);
}

static void raw_events(struct raw *raw)
{
	struct tp_event ev;

	while (tp_cq_event(raw->cq, &ev) == 1) {
		raw->established |= ev.type == TP_EV_ESTABLISHED;
		raw->rejected |= ev.type == TP_EV_REJECTED;
		raw->disconnected |= ev.type == TP_EV_DISCONNECTED;
		if (ev.priv_len >= sizeof(raw->answer))
			memcpy(&raw->answer, ev.priv, sizeof(raw->answer));
		wire_take_hail(ev.priv, ev.priv_len, sizeof(raw->answer),
			       &raw->hailed);
	}
}

void raw_turn(struct raw *raw)
{
	struct tp_wc wc[RAW_RECVS];
	int i, n;

	n = tp_cq_poll(raw->cq, wc, RAW_RECVS);
	for (i = 0; i < n; i++) {
		raw->sent += wc[i].opcode == TP_SEND;
		if (wc[i].opcode != TP_RECV || wc[i].status)
			continue;
		if (raw->repost)
			raw_post(raw, (unsigned int)wc[i].wr_id);
		else
			ck_assert_uint_eq(wc[i].wr_id, raw->received);
		raw->received++;
		raw->len = wc[i].byte_len;
	}
	raw_events(raw);
	rig_turn(raw->rig);
}

void raw_connect(struct raw *raw)
{
	struct {
		struct wire_connect priv;
		struct wire_hail hail;
	} both = { raw->priv, raw->hail };
	unsigned int i,
		len = raw->hail.features ? sizeof(both) : sizeof(both.priv);

	for (i = 0; i < RAW_RECVS; i++)
		raw_post(raw, i);
	ck_assert_int_eq(tp_connect(raw->ep, &raw->rig->addr, &both, len,
				    clock_after_ms(5000)),
			 0);
}

struct wire_hdr *raw_hdr(struct raw *raw)
{
	return (struct wire_hdr *)raw->buf->out;
}

static size_t raw_end(struct raw *raw, struct wire_out *out, unsigned int op,
		      unsigned int slot, uint64_t seq)
{
	int len = wire_end(out, op, 0, 0);

	ck_assert_int_gt(len, 0);
	raw_hdr(raw)->session = raw->priv.session;
	raw_hdr(raw)->slot = htole16((uint16_t)slot);
	raw_hdr(raw)->seq = htole64(seq);
	raw_hdr(raw)->clock = htole64(clock_boot() + 1000 * CLOCK_NS_PER_MS);
	return (size_t)len;
}

size_t raw_hello(struct raw *raw, uint32_t uid)
{
	const struct rpc_cred *cred = &raw->rig->cred;
	struct wire_hello hello = {
		.uid = htole32(uid),
		.gid = htole32(cred->gid),
		.ngroups = htole32(cred->ngroups),
		.name_len = htole32(4),
	};
	struct wire_out out;

	wire_begin(&out, raw->buf->out, RAW_MSG);
	wire_put(&out, &hello, sizeof(hello));
	wire_put(&out, cred->groups, cred->ngroups * sizeof(le32));
	wire_put(&out, "r\naw", 4);
	return raw_end(raw, &out, WIRE_HELLO, 0, 0);
}

size_t raw_append(struct raw *raw, unsigned int slot, uint64_t seq)
{
	struct wire_append append = { .handle = htole64(1), .len = htole64(1) };
	struct wire_out out;

	wire_begin(&out, raw->buf->out, RAW_MSG);
	wire_put(&out, &append, sizeof(append));
	return raw_end(raw, &out, WIRE_APPEND, slot, seq);
}

size_t raw_release(struct raw *raw, unsigned int slot, uint64_t seq)
{
	struct wire_release release = { .handle = htole64(1),
					.open = htole64(1) };
	struct wire_out out;

	wire_begin(&out, raw->buf->out, RAW_MSG);
	wire_put(&out, &release, sizeof(release));
	return raw_end(raw, &out, WIRE_RELEASE, slot, seq);
}

size_t raw_readlink(struct raw *raw, unsigned int slot, uint64_t seq)
{
	struct wire_path path = { .dir = htole64(1) };
	struct wire_out out;

	wire_begin(&out, raw->buf->out, RAW_MSG);
	wire_put(&out, &path, sizeof(path));
	return raw_end(raw, &out, WIRE_READLINK, slot, seq);
}

int raw_try(struct raw *raw, size_t len)
{
	struct tp_sge sge = { raw->buf->out, (uint32_t)len, raw->mr->lkey };
	struct tp_send_wr wr = {
		.opcode = TP_SEND, .flags = TP_SIGNALED, .sgl = &sge, .nsge = 1
	};

	return tp_post_send(raw->ep, &wr);
}

void raw_send(struct raw *raw, size_t len)
{
	ck_assert_int_eq(raw_try(raw, len), 0);
}

void raw_greet(struct raw *raw)
{
	raw_connect(raw);
	raw_until(raw, raw->established);
	raw_send(raw, raw_hello(raw, raw->rig->cred.uid));
	raw_until(raw, raw->received == 1);
	ck_assert_int_eq(raw_status(raw, 0), 0);
}

int raw_status(const struct raw *raw, unsigned int n)
{
	const struct wire_hdr *hdr = (const void *)raw->buf->in[n];

	return raw->received > n ? (int)le32toh(hdr->status) : 0;
}
