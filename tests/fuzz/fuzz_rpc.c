/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_rpc.c - feeds a connection of a server with any messages, with right or wrong session, slot
 * and seq, over the mock transport.  At the end the server must serve another client.
 *
 * Input: records of an action byte, a byte with the length of the message in units of 8 bytes, and
 * the message.  The last message may be cut short.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/mock_tp.h"
#include "tests/unit/raw_client.h"

/*
 * Replaces a function of libcheck, because the checks of the test rig need it and no test runner
 * exists here.
 */
CK_DLL_EXP void CK_EXPORT _mark_point(const char *file, int line)
{
}

CK_DLL_EXP void CK_EXPORT _ck_assert_failed(const char *file, int line,
					    const char *expr, const char *msg,
					    ...)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, expr);
	abort();
}

/* Bits of the action. */
#define ACT_KIND 0x07u
#define ACT_RAW 0x08u /* do not correct magic, version, len and session */
#define ACT_TURN 0x10u /* let the server work before the next message */

enum { ACT_SEND, ACT_SEND2, ACT_HELLO, ACT_RECONNECT, ACT_ANSWER, ACT_ABORT };

struct fuzzer {
	struct rig *rig;
	struct raw raw;
	uint32_t epoch;
	/* messages in flight, each of which uses a receive of the server */
	unsigned int in_flight;
};

static void fuzz_connect(struct fuzzer *f)
{
	raw_open(&f->raw, f->rig, 0x77, ++f->epoch);
	f->raw.repost = true;
	raw_connect(&f->raw);
	while (!f->raw.established && !f->raw.rejected)
		raw_turn(&f->raw);
	f->in_flight = 0;
}

/* Sends a message, but not more at a time than the server has receives: the mock would abort. */
static void fuzz_send(struct fuzzer *f, size_t len)
{
	if (f->raw.disconnected || f->raw.rejected)
		return;
	if (++f->in_flight > 3 || f->rig->nheld > 2) {
		while (f->rig->nheld)
			rig_answer(f->rig);
		raw_turn(&f->raw);
		raw_turn(&f->raw);
		f->in_flight = 0;
	}
	raw_try(&f->raw, len);
}

static void fuzz_message(struct fuzzer *f, const uint8_t *data, size_t len,
			 unsigned int action)
{
	struct wire_hdr *hdr = raw_hdr(&f->raw);

	memcpy(hdr, data, len);
	if (!(action & ACT_RAW) && len >= sizeof(*hdr)) {
		hdr->magic = htole32(WIRE_MAGIC);
		hdr->version = htole16(WIRE_VERSION);
		hdr->len = htole32((uint32_t)len);
		hdr->session = f->raw.priv.session;
	}
	fuzz_send(f, len);
}

static void fuzz_abort(struct fuzzer *f)
{
	struct rig *rig = f->rig;

	if (!rig->nheld)
		return;
	rpc_req_abort(rig->held[--rig->nheld]);
}

static void fuzz_act(struct fuzzer *f, unsigned int action, const uint8_t *data,
		     size_t len)
{
	switch (action & ACT_KIND) {
	case ACT_HELLO:
		fuzz_send(f, raw_hello(&f->raw, f->rig->cred.uid));
		break;
	case ACT_RECONNECT:
		raw_close(&f->raw);
		fuzz_connect(f);
		break;
	case ACT_ANSWER:
		if (f->rig->nheld)
			rig_answer(f->rig);
		break;
	case ACT_ABORT:
		fuzz_abort(f);
		break;
	default:
		fuzz_message(f, data, len, action);
	}
	if (action & ACT_TURN)
		raw_turn(&f->raw);
}

static void fuzz_records(struct fuzzer *f, const uint8_t *data, size_t len)
{
	while (len >= 2) {
		size_t n = data[1] * 8u;

		if (n > len - 2)
			n = len - 2;
		fuzz_act(f, data[0], data + 2, n);
		data += 2 + n;
		len -= 2 + n;
	}
}

void fuzz_one(const uint8_t *data, size_t len)
{
	struct fuzzer f = { .rig = calloc(1, sizeof(*f.rig)) };

	FUZZ_SURE(f.rig);
	mock = (struct mock){ .restless = true };
	f.rig->sattr.slots = 4;
	rig_open(f.rig, "mock");
	fuzz_connect(&f);
	fuzz_records(&f, data, len);
	raw_turn(&f.raw);
	FUZZ_SURE(rig_append_now(f.rig, 1, NULL, RIG_PATIENCE_MS) == 0);
	raw_close(&f.raw);
	rig_turn(f.rig);
	while (f.rig->nheld)
		rig_answer(f.rig);
	rig_close(f.rig);
	FUZZ_SURE(mock.mrs == 0);
}

/* ---- seeds ---- */

struct seed {
	uint8_t data[4096];
	size_t len;
	struct raw raw;
};

static void seed_act(struct seed *s, unsigned int action)
{
	s->data[s->len++] = (uint8_t)action;
	s->data[s->len++] = 0;
}

static void seed_message(struct seed *s, size_t len, unsigned int flags)
{
	raw_hdr(&s->raw)->flags = htole16((uint16_t)flags);
	s->data[s->len++] = ACT_SEND | ACT_TURN;
	s->data[s->len++] = (uint8_t)(len / 8);
	memcpy(s->data + s->len, s->raw.buf->out, len);
	s->len += len;
}

static void seed_done(struct seed *s)
{
	fuzz_seed(s->data, s->len);
	s->len = 0;
	seed_act(s, ACT_HELLO | ACT_TURN);
}

void fuzz_seeds(void)
{
	static struct seed s;

	s.raw.buf = calloc(1, sizeof(*s.raw.buf));
	seed_act(&s, ACT_HELLO | ACT_TURN);
	seed_message(&s, raw_append(&s.raw, 0, 1), 0);
	seed_message(&s, raw_append(&s.raw, 1, 1), 0);
	seed_message(&s, raw_readlink(&s.raw, 0, 2), 0);
	seed_done(&s);
	/*
	 * the replay of a request that is still executing, and one after its connection was aborted
	 */
	seed_message(&s, raw_release(&s.raw, 0, 1), 0);
	seed_act(&s, ACT_RECONNECT);
	seed_act(&s, ACT_HELLO | ACT_TURN);
	seed_message(&s, raw_release(&s.raw, 0, 1), WIRE_F_REPLAY);
	seed_act(&s, ACT_ABORT | ACT_TURN);
	seed_act(&s, ACT_RECONNECT);
	seed_act(&s, ACT_HELLO | ACT_TURN);
	seed_message(&s, raw_release(&s.raw, 0, 1), WIRE_F_REPLAY);
	seed_act(&s, ACT_ANSWER | ACT_TURN);
	seed_done(&s);
	seed_message(&s, raw_release(&s.raw, 2, 7), 0);
	seed_act(&s, ACT_RECONNECT);
	seed_act(&s, ACT_HELLO | ACT_TURN);
	seed_message(&s, raw_append(&s.raw, 2, 9), 0);
	seed_act(&s, ACT_ANSWER | ACT_TURN);
	seed_done(&s);
	free(s.raw.buf);
}
