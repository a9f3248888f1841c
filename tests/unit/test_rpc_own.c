/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_own.c - memory of a server that belongs to one connection, and other connections that
 * access it.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/raw_client.h"
#include "tests/run_suite.h"

static const char *const devs[] = { "tcp", "local" };
static struct rig *rig;

static void setup(void)
{
	rig = calloc(1, sizeof(*rig));
	rig->sattr.fast_bytes = 1 << 20;
}

static void teardown(void)
{
	rig_close(rig);
}

static struct wire_fast_rep ask(struct raw *raw)
{
	struct wire_out out;
	struct wire_fast_rep rep;
	int len;

	wire_begin(&out, raw->buf->out, RAW_MSG);
	len = wire_end(&out, WIRE_FAST, 0, 0);
	raw_hdr(raw)->session = raw->priv.session;
	raw_hdr(raw)->seq = htole64(1);
	raw_hdr(raw)->clock = htole64(clock_boot() + 60000 * CLOCK_NS_PER_MS);
	raw_send(raw, (size_t)len);
	raw_until(raw, raw->received == 2);
	ck_assert_int_eq(raw_status(raw, 1), 0);
	memcpy(&rep, (const struct wire_hdr *)raw->buf->in[1] + 1, sizeof(rep));
	ck_assert_uint_ne(le32toh(rep.rkey), 0);
	return rep;
}

static void write_to(struct raw *raw, const struct wire_fast_rep *place)
{
	struct tp_sge sge = { raw->buf->out, 64, raw->mr->lkey };
	struct tp_send_wr wr = { .opcode = TP_WRITE,
				 .sgl = &sge,
				 .nsge = 1,
				 .remote_addr = le64toh(place->addr),
				 .rkey = le32toh(place->rkey) };

	ck_assert_int_eq(tp_post_send(raw->ep, &wr), 0);
}

/*
 * A Fast RDMA buffer contains requests: a peer that writes to the buffer of another one could act
 * for it.
 */
START_TEST(of_another_connection)
{
	struct wire_fast_rep place;
	struct raw own, other;

	rig_open(rig, devs[_i]);
	raw_open(&own, rig, 0x77, 1);
	raw_greet(&own);
	place = ask(&own);
	raw_open(&other, rig, 0x78, 1);
	raw_greet(&other);
	write_to(&other, &place);
	raw_until(&other, other.disconnected);
	write_to(&own, &place);
	raw_send(&own, raw_append(&own, 1, 1));
	raw_until(&own, own.received == 3);
	ck_assert_int_eq(raw_status(&own, 2), 0);
	ck_assert(!own.disconnected);
	raw_close(&other);
	raw_close(&own);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_own");
	TCase *tc = tcase_create("rpc_own");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, of_another_connection, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
