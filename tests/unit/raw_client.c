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

/* ---- METRICS ---- */

static const char *next_string(const char **at)
{
	const char *s = *at;

	*at += strlen(s) + 1;
	return s;
}

static void read_row(const struct wire_metric *m, struct raw_metric *to)
{
	const struct wire_metric_bucket *b = wire_metric_buckets(m);
	const char *at = wire_metric_text(m);

	*to = (struct raw_metric){ .name = next_string(&at),
				   .kind = le16toh(m->kind),
				   .labels = le16toh(m->labels),
				   .n = le64toh(m->n),
				   .errors = le64toh(m->errors),
				   .bytes_in = le64toh(m->bytes_in),
				   .bytes_out = le64toh(m->bytes_out),
				   .ns = le64toh(m->ns),
				   .most = le64toh(m->most) };
	next_string(&at); /* help */
	for (unsigned int i = 0; i < 2 * to->labels; i++)
		to->label[i] = next_string(&at);
	for (unsigned int i = 0; i < le16toh(m->buckets); i++)
		to->bucket[histogram_bucket(le64toh(b[i].from))] = le64toh(
			b[i].n);
}

static unsigned int read_page(const struct wire_msg *msg,
			      struct raw_metric *list, unsigned int most)
{
	const uint8_t *at = msg->tail[0].ptr;
	size_t left = msg->tail[0].len, len;
	unsigned int n = 0;
	const char *why;

	for (; left; at += len, left -= len) {
		len = wire_metric_len((const void *)at, left, &why);
		ck_assert_uint_gt(len, 0);
		ck_assert_uint_lt(n, most);
		read_row((const void *)at, &list[n++]);
	}
	return n;
}

unsigned int raw_metrics(struct raw *raw, unsigned int number, uint32_t groups,
			 struct raw_metric *list, unsigned int most)
{
	struct wire_metrics body = { .groups = htole32(groups) };
	unsigned int n = 0;

	do {
		const struct wire_metrics_rep *rep;
		struct wire_msg msg;
		struct wire_out out;
		size_t len;

		ck_assert_uint_lt(number, RAW_RECVS);
		wire_begin(&out, raw->buf->out, RAW_MSG);
		wire_put(&out, &body, sizeof(body));
		len = (size_t)wire_end(&out, WIRE_METRICS, 0, 0);
		raw_hdr(raw)->session = raw->priv.session;
		raw_hdr(raw)->seq = htole64(number);
		raw_send(raw, len);
		raw_until(raw, raw->received == number + 1);
		ck_assert_int_eq(raw_status(raw, number), 0);
		ck_assert_int_eq(wire_parse(raw->buf->in[number], raw->len,
					    &msg, NULL),
				 0);
		number++;
		rep = msg.body;
		n += read_page(&msg, list + n, most - n);
		ck_assert(!rep->next ||
			  le64toh(rep->next) > le64toh(body.from));
		body.from = rep->next;
	} while (body.from);
	return n;
}

static bool is_labelled(const struct raw_metric *m, const char *first,
			const char *last)
{
	return (!*first || (m->labels && !strcmp(m->label[1], first))) &&
	       (!*last ||
		(m->labels && !strcmp(m->label[2 * m->labels - 1], last)));
}

const struct raw_metric *raw_metric_of(const struct raw_metric *list,
				       unsigned int n, const char *name,
				       const char *first, const char *last)
{
	const struct raw_metric *found = NULL;

	for (unsigned int i = 0; i < n; i++) {
		if (strcmp(list[i].name, name) ||
		    !is_labelled(&list[i], first, last))
			continue;
		ck_assert_ptr_null(found);
		found = &list[i];
	}
	ck_assert_msg(found != NULL, "no %s of %s, %s", name, first, last);
	return found;
}
