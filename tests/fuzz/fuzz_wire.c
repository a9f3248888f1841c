/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_wire.c - messages with any content: each field of an accepted message can be used as its
 * operation does.
 */
#include <errno.h>
#include <string.h>

#include "common/util/extent.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/wire_samples.h"

/* Reads the wire_as.  Returns the address after it. */
static const uint8_t *check_as(const struct wire_msg *msg, const uint8_t *at,
			       const uint8_t *end)
{
	size_t len = sizeof(*msg->as) +
		     le32toh(msg->as->ngroups) * sizeof(le32);

	FUZZ_SURE((const uint8_t *)msg->as == at);
	FUZZ_SURE((const void *)msg->groups == msg->as + 1);
	FUZZ_SURE(le32toh(msg->as->ngroups) <= WIRE_GROUPS_MAX);
	FUZZ_SURE(len <= (size_t)(end - at));
	fuzz_touch(msg->as, len);
	return at + wire_pad(len);
}

static void check_tail(const struct wire_msg *msg, const uint8_t *end)
{
	const uint8_t *at = (const uint8_t *)msg->body + msg->body_len;

	for (unsigned int i = 0; i < WIRE_TAIL_MAX; i++) {
		const struct wire_tail *t = &msg->tail[i];

		if (!t->ptr)
			continue;
		FUZZ_SURE((const uint8_t *)t->ptr == at);
		FUZZ_SURE((uintptr_t)t->ptr % 8 == 0);
		FUZZ_SURE(t->len <= (size_t)(end - at));
		fuzz_touch(t->ptr, t->len);
		at += wire_pad(t->len);
	}
	if (msg->as)
		at = check_as(msg, at, end);
	if (msg->caps) {
		size_t len = sizeof(*msg->caps) +
			     le32toh(msg->caps->n) * WIRE_CAP_LEN;

		FUZZ_SURE((const uint8_t *)msg->caps == at);
		FUZZ_SURE(le32toh(msg->caps->n) <= WIRE_CAPS_MAX);
		FUZZ_SURE(len <= (size_t)(end - at));
		fuzz_touch(msg->caps, len);
		at += len;
	}
	if (msg->apart) {
		FUZZ_SURE((const uint8_t *)msg->apart == at);
		fuzz_touch(msg->apart, sizeof(*msg->apart));
		at += sizeof(*msg->apart);
	}
	if (msg->job) {
		at += sizeof(struct wire_job);
		FUZZ_SURE((const uint8_t *)msg->job == at);
		FUZZ_SURE(msg->job_len && wire_job_ok(msg->job, msg->job_len));
		fuzz_touch(msg->job, msg->job_len);
		at += wire_pad(msg->job_len);
	}
	if (msg->seal) {
		FUZZ_SURE((const uint8_t *)msg->seal == at && msg->proof);
		fuzz_touch(msg->seal, sizeof(*msg->seal));
		at += sizeof(*msg->seal);
	}
	if (msg->ticket) {
		at += sizeof(struct wire_shown);
		FUZZ_SURE((const uint8_t *)msg->ticket == at && msg->proof);
		FUZZ_SURE(msg->ticket_len <= WIRE_TICKET_MAX);
		fuzz_touch(msg->ticket, msg->ticket_len);
		at += wire_pad(msg->ticket_len);
	}
	if (msg->proof) {
		FUZZ_SURE((const uint8_t *)msg->proof == at);
		fuzz_touch(msg->proof, sizeof(*msg->proof));
		at += sizeof(*msg->proof);
	}
	FUZZ_SURE(at == end || (at > end && at - end < 8));
}

/* Reads the lists as the iod does, which makes no checks of its own. */
static void check_io(const struct wire_msg *msg)
{
	const struct wire_io *io = msg->body;
	const struct wire_region *reg = msg->tail[0].ptr;
	const struct wire_mem *mem = msg->tail[1].ptr;
	uint64_t nreg = 0, nmem = 0, end;

	for (uint32_t i = 0; i < le32toh(io->nreg); i++) {
		FUZZ_SURE(reg[i].len);
		FUZZ_SURE(extent_end(le64toh(reg[i].off), le64toh(reg[i].len),
				     &end));
		nreg += le64toh(reg[i].len);
	}
	for (uint32_t i = 0; i < le32toh(io->nmem); i++) {
		FUZZ_SURE(mem[i].len);
		FUZZ_SURE(le64toh(mem[i].addr) + le32toh(mem[i].len) >=
			  le64toh(mem[i].addr));
		nmem += le32toh(mem[i].len);
	}
	FUZZ_SURE(nreg && nreg == le64toh(io->total));
	FUZZ_SURE(!io->nmem || nmem == nreg);
	FUZZ_SURE(msg->tail[2].len == le32toh(io->data_len));
	if (io->nmem || le16toh(msg->hdr->op) == WIRE_READ)
		FUZZ_SURE(io->data_len == 0);
	else
		FUZZ_SURE(le32toh(io->data_len) == nreg);
	FUZZ_SURE(io->nmem || nreg <= WIRE_INLINE_MAX);
}

/* Walks the vectors as the iod does, which does not check their sums. */
static void check_list(const struct wire_msg *msg)
{
	const struct wire_list *list = msg->body;
	const struct wire_vec *vec = msg->tail[0].ptr;
	uint64_t pieces = 0;

	FUZZ_SURE(list->io.total && list->io.nreg);
	FUZZ_SURE(le32toh(list->dist.base) < le32toh(list->dist.pcount));
	FUZZ_SURE(le32toh(list->dist.ssize) >= WIRE_SSIZE_MIN);
	for (uint32_t i = 0; i < le32toh(list->io.nreg); i++) {
		uint64_t last = le64toh(vec[i].off);

		FUZZ_SURE(vec[i].len && vec[i].count && vec[i].count2);
		pieces += (uint64_t)le32toh(vec[i].count) *
			  le32toh(vec[i].count2);
		last += (le32toh(vec[i].count) - 1ull) * le64toh(vec[i].stride);
		last += (le32toh(vec[i].count2) - 1ull) *
			le64toh(vec[i].stride2);
		FUZZ_SURE(last <= INT64_MAX - le64toh(vec[i].len));
	}
	FUZZ_SURE(pieces <= WIRE_PIECE_MAX);
}

/* Reads each lock as the manager does, which may take any of them. */
static void check_lock_any(const struct wire_msg *msg)
{
	const struct wire_lock_any *any = msg->body;
	const struct wire_lock *lock = msg->tail[0].ptr;

	FUZZ_SURE(any->n && le32toh(any->n) <= WIRE_LOCK_ANY_MAX);
	for (uint32_t i = 0; i < le32toh(any->n); i++) {
		FUZZ_SURE(lock[i].owner && lock[i].type);
		FUZZ_SURE(le64toh(lock[i].start) < le64toh(lock[i].end));
		FUZZ_SURE(le64toh(lock[i].end) <= INT64_MAX);
		FUZZ_SURE(!(le32toh(lock[i].flags) & ~WIRE_L_WHOLE));
	}
}

/* Reads each hold as the manager does, which looks up its file. */
static void check_declare(const struct wire_msg *msg)
{
	const struct wire_declare *declare = msg->body;
	const struct wire_hold *hold = msg->tail[0].ptr;

	FUZZ_SURE(le32toh(declare->n) <= WIRE_HOLD_MAX);
	for (uint32_t i = 0; i < le32toh(declare->n); i++)
		FUZZ_SURE(hold[i].handle && hold[i].open);
}

/* Checks that the groups are a part of the list. */
static void check_groups(const struct wire_msg *msg)
{
	const struct wire_groups *part = msg->body;

	FUZZ_SURE(le32toh(part->n) && le32toh(part->n) <= WIRE_GROUPS_PART);
	FUZZ_SURE(le32toh(part->total) <= WIRE_GROUPS_ALL);
	FUZZ_SURE((uint64_t)le32toh(part->first) + le32toh(part->n) <=
		  le32toh(part->total));
}

/* The receiver allocates len bytes, and reads all of mem into them. */
static void check_raft(const struct wire_msg *msg)
{
	const struct wire_raft *raft = msg->body;
	const struct wire_mem *mem = msg->tail[0].ptr;
	uint64_t sum = msg->tail[1].len;

	for (uint32_t i = 0; i < le32toh(raft->nmem); i++)
		sum += le32toh(mem[i].len);
	FUZZ_SURE(sum && sum == le32toh(raft->len) && sum <= WIRE_RAFT_MAX);
	FUZZ_SURE(!raft->nmem || !msg->tail[1].len);
}

/* A client copies the texts of the members as strings. */
static void check_managers(const struct wire_msg *msg)
{
	const struct wire_managers_rep *rep = msg->body;
	const struct wire_member *member = msg->tail[0].ptr;

	FUZZ_SURE(le32toh(rep->n) <= WIRE_MEMBERS_MAX);
	for (uint32_t i = 0; i < le32toh(rep->n); i++)
		FUZZ_SURE(member[i].id && strnlen((const char *)member[i].uri,
						  sizeof(member[i].uri)) <=
						  WIRE_LEADER_URI_MAX);
}

static void check_mount(const struct wire_msg *msg)
{
	const struct wire_mount_rep *rep = msg->body;
	const char *uri = msg->tail[0].ptr;

	for (uint32_t i = 0; i < le32toh(rep->niods); i++)
		uri += strlen(uri) + 1;
	FUZZ_SURE(uri == (const char *)msg->tail[0].ptr + msg->tail[0].len);
}

/* A client follows the strings of each row to their ends. */
static void check_metrics(const struct wire_msg *msg)
{
	const uint8_t *at = msg->tail[0].ptr;
	size_t left = msg->tail[0].len, len;
	const char *why;

	for (; left; at += len, left -= len) {
		const struct wire_metric *m = (const void *)at;
		const struct wire_metric_bucket *b = wire_metric_buckets(m);
		const char *text = wire_metric_text(m);

		len = wire_metric_len(m, left, &why);
		FUZZ_SURE(len && len <= left && len % 8 == 0);
		FUZZ_SURE(le16toh(m->labels) <= WIRE_METRIC_LABELS);
		FUZZ_SURE(le16toh(m->buckets) <= WIRE_METRIC_BUCKETS);
		for (unsigned int i = 0; i < le16toh(m->buckets); i++)
			FUZZ_SURE(b[i].n && (!i || le64toh(b[i - 1].from) <
							   le64toh(b[i].from)));
		for (unsigned int i = 0; i < 2u + 2 * le16toh(m->labels); i++)
			text += strlen(text) + 1;
		FUZZ_SURE(text == wire_metric_text(m) + le16toh(m->text_len));
	}
}

static void check_order(const struct wire_msg *msg)
{
	const struct wire_order *body = msg->body;
	uint64_t off = le64toh(body->arg[0]), end;

	FUZZ_SURE(wire_copyset(msg->hdr).id && body->session);
	switch (le32toh(body->kind)) {
	case WIRE_ORDER_WRITE:
		check_io(msg);
		break;
	case WIRE_ORDER_RESIZE:
		FUZZ_SURE(off <= INT64_MAX);
		break;
	case WIRE_ORDER_SPACE:
		FUZZ_SURE(extent_end(off, le64toh(body->arg[1]), &end));
		break;
	default:
		FUZZ_SURE(le32toh(body->kind) == WIRE_ORDER_COUNTER);
		FUZZ_SURE(le64toh(body->arg[1]) < WIRE_COUNTERS);
	}
}

static void check_promise(const struct wire_msg *msg)
{
	const struct wire_promise *body = msg->body;
	const struct wire_promised *promised = msg->tail[0].ptr;
	uint32_t n = le32toh(body->n), last = 0;

	FUZZ_SURE(n <= WIRE_PROMISES_MAX && body->process && body->lease);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t copyset = le32toh(promised[i].copyset);

		FUZZ_SURE(copyset > last && copyset < WIRE_COPYSET_END);
		FUZZ_SURE(promised[i].version);
		last = copyset;
	}
}

/* Checks the copyset of a request: the iod looks it up, or uses its own one. */
static void check_copyset(const struct wire_hdr *hdr)
{
	struct copyset_ref copyset = wire_copyset(hdr);

	FUZZ_SURE(!copyset.id == !copyset.version);
	FUZZ_SURE(!copyset.id || (copyset.id >= WIRE_COPYSET_MIN &&
				  wire_op_has_copyset(le16toh(hdr->op))));
}

static void check_good(const struct wire_msg *msg, const uint8_t *end)
{
	unsigned int op = le16toh(msg->hdr->op);
	int reply = le16toh(msg->hdr->flags) & WIRE_F_REPLY;

	FUZZ_SURE(strcmp(wire_op_name(op), "op?"));
	if (!reply)
		check_copyset(msg->hdr);
	if (!msg->body)
		return;
	fuzz_touch(msg->body, msg->body_len);
	check_tail(msg, end);
	if (!reply && (op == WIRE_READ || op == WIRE_WRITE))
		check_io(msg);
	if (op == WIRE_PROMISE)
		check_promise(msg);
	if (!reply && op == WIRE_OUTCOME)
		FUZZ_SURE(wire_copyset(msg->hdr).id);
	if (!reply && op == WIRE_ORDER)
		check_order(msg);
	if (!reply && (op == WIRE_READ_LIST || op == WIRE_WRITE_LIST))
		check_list(msg);
	if (!reply && op == WIRE_LOCK_ANY)
		check_lock_any(msg);
	if (!reply && op == WIRE_DECLARE)
		check_declare(msg);
	if (!reply && op == WIRE_GROUPS)
		check_groups(msg);
	if (!reply && op == WIRE_RAFT)
		check_raft(msg);
	if (reply && op == WIRE_MANAGERS)
		check_managers(msg);
	if (reply && op == WIRE_MOUNT)
		check_mount(msg);
	if (reply && op == WIRE_METRICS)
		check_metrics(msg);
}

static void parse(const void *buf, size_t len)
{
	struct wire_msg msg = { 0 };
	const char *why = NULL;
	int rc = wire_parse(buf, len, &msg, &why);

	FUZZ_SURE(rc == 0 || rc == -EPROTO || rc == -EPROTONOSUPPORT ||
		  rc == -ENOSYS);
	FUZZ_SURE(!rc == !why);
	if (rc == -ENOSYS)
		FUZZ_SURE(msg.hdr == buf);
	if (rc == 0)
		check_good(&msg, (const uint8_t *)buf + len);
}

/* Tries the input as it is, and then with a header with which the body is checked. */
void fuzz_one(const uint8_t *data, size_t len)
{
	void *buf = fuzz_copy(data, len);
	struct wire_hdr *hdr = buf;

	parse(buf, len);
	if (len >= sizeof(*hdr)) {
		hdr->magic = htole32(WIRE_MAGIC);
		hdr->version = htole16(WIRE_VERSION);
		hdr->len = htole32((uint32_t)len);
		hdr->session |= htole64(1);
		parse(buf, len);
	}
	free(buf);
}

void fuzz_seeds(void)
{
	uint64_t buf[SAMPLE_MAX / 8];

	for (unsigned int i = 0; i < wire_nsamples; i++)
		fuzz_seed(buf, wire_sample_build(&wire_samples[i], buf));
}
