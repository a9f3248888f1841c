/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rpc_reserve.c - which clients may use the reserve of a full server for administrators. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit/key_rig.h"
#include "tests/unit/mock_tp.h"
#include "tests/unit/raw_client.h"
#include "tests/run_suite.h"

#define TOOL (WIRE_FT_ROOM | WIRE_FT_TOOL)
#define TOOLS 4u /* the size of the reserve for tools */
#define FILES 1024u
#define GUESTS 65u /* one more than a server always has room for */
/* A silent tool may be disconnected after this time, which is longer than a HELLO takes. */
#define SILENT_MS 300u

static struct rig *rig;
static struct keyring *ring;
static struct key_rig file;
static bool believes; /* the service accepts every manager */
static const struct tp_identity root = { 0 }, other = { .uid = 1000 };

static void setup(void)
{
	const struct rlimit files = { FILES, FILES };

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	key_rig_open(&file);
	ring = key_rig_ring(&file, KEY_A "\n");
	rig = calloc(1, sizeof(*rig));
	rig->sattr.stall_ms = 10000;
	believes = false;
	mock.scarce = false;
	mock.identity = NULL;
}

static void teardown(void)
{
	mock.scarce = false;
	mock.identity = NULL;
	rig_close(rig);
	keyring_close(ring);
	key_rig_close(&file);
}

static bool may_reserve(void *arg, enum wire_role role, const char *peer,
			uint32_t uid)
{
	return role == WIRE_ROLE_MGR ? believes : !uid || uid == geteuid();
}

static void begin(void)
{
	rig_open(rig, "mock");
	rig->service.may_reserve = may_reserve;
}

/* Connects and sends HELLO as uid 0.  Returns 0, or -errno of the connect or the HELLO. */
static int come(struct raw *raw, uint64_t session, enum wire_role role,
		uint32_t features)
{
	raw_open(raw, rig, session, 1);
	raw->priv.role = htole16((uint16_t)role);
	raw->hail.features = htole32(features);
	raw_connect(raw);
	raw_until(raw, raw->established || raw->rejected);
	if (raw->rejected)
		return -(int)le16toh(raw->answer.status);
	raw_send(raw, raw_hello(raw, 0));
	raw_until(raw, raw->received);
	return -raw_status(raw, 0);
}

static int come_once(enum wire_role role, uint32_t features)
{
	struct raw raw;
	int rc = come(&raw, 0x77, role, features);

	raw_close(&raw);
	return rc;
}

static uint32_t welcome(const struct raw *raw)
{
	const struct wire_hello_rep *rep =
		(const void *)((const uint8_t *)raw->buf->in[0] +
			       sizeof(struct wire_hdr));

	return le32toh(rep->flags);
}

/* What the server lacks: descriptors, or its only place is taken. */
static const struct shortage {
	int rc;
	uint32_t flag;
	const char *fix;
} shortages[] = {
	{ -WIRE_ENOFILES, WIRE_H_NOFILES, "raise LimitNOFILE" },
	{ -WIRE_ENOSEATS, WIRE_H_NOSEATS, "raise max_sessions" },
};

static const struct shortage *fill(int i, struct raw *first)
{
	if (shortages[i].rc == -WIRE_ENOSEATS)
		rig->sattr.max_sessions = 1;
	begin();
	ck_assert_int_eq(come(first, 0x1, WIRE_ROLE_CLIENT, 0), 0);
	mock.scarce = shortages[i].rc == -WIRE_ENOFILES;
	return &shortages[i];
}

START_TEST(ordinary_ones_are_told_why)
{
	const struct shortage *is;
	struct raw first;

	is = fill(_i, &first);
	mock.identity = &root;
	ck_assert_int_eq(come_once(WIRE_ROLE_CLIENT, WIRE_FT_ROOM), is->rc);
	ck_assert_uint_eq(rig_logged(rig, is->fix), 1);
	/* a client of an earlier release is told to retry */
	ck_assert_int_eq(come_once(WIRE_ROLE_CLIENT, 0), -EAGAIN);
	raw_close(&first);
}
END_TEST

START_TEST(tools_of_root_get_in)
{
	const struct shortage *is;
	struct raw first, tool;

	is = fill(_i, &first);
	mock.identity = &root;
	ck_assert_int_eq(come(&tool, 0x77, WIRE_ROLE_CLIENT, TOOL), 0);
	ck_assert_uint_eq(welcome(&tool), is->flag);
	raw_close(&tool);
	raw_close(&first);
}
END_TEST

/* The claim of a client to be a tool does not count. */
START_TEST(tools_of_others_do_not)
{
	const struct shortage *is;
	struct raw first;

	is = fill(_i, &first);
	ck_assert_int_eq(come_once(WIRE_ROLE_CLIENT, TOOL), is->rc);
	mock.identity = &other;
	ck_assert_int_eq(come_once(WIRE_ROLE_CLIENT, TOOL), is->rc);
	ck_assert_uint_eq(rig->opened, 1);
	raw_close(&first);
}
END_TEST

START_TEST(tools_are_ordinary_where_there_is_room)
{
	struct raw tool;

	begin();
	mock.identity = &root;
	ck_assert_int_eq(come(&tool, 0x77, WIRE_ROLE_CLIENT, TOOL), 0);
	ck_assert_uint_eq(welcome(&tool), 0);
	raw_close(&tool);
}
END_TEST

/* A tool of root and an ordinary client of the same kind reconnect when descriptors are scarce. */
START_TEST(only_the_reserve_comes_back)
{
	struct raw first, tool, back;
	int again;

	fill(0, &first);
	mock.identity = &root;
	ck_assert_int_eq(come(&tool, 0x77, WIRE_ROLE_CLIENT, TOOL), 0);
	for (again = 0; again < 2; again++) {
		raw_open(&back, rig, again ? 0x1 : 0x77, 2);
		back.hail.features = htole32(TOOL);
		raw_connect(&back);
		raw_until(&back, back.established || back.rejected);
		ck_assert_int_eq(back.rejected, again);
		raw_close(&back);
	}
	ck_assert_uint_eq(le16toh(back.answer.status), WIRE_ENOFILES);
	raw_close(&tool);
	raw_close(&first);
}
END_TEST

/*
 * If there are more tools than the reserve, the new one waits, or the oldest one is disconnected.
 */
START_TEST(the_oldest_tool_goes)
{
	struct raw first, tool[TOOLS + 1];
	unsigned int i;

	if (_i < 2)
		rig->sattr.stall_ms = SILENT_MS;
	fill(_i % 2, &first);
	mock.identity = &root;
	for (i = 0; i < TOOLS; i++)
		ck_assert_int_eq(
			come(&tool[i], 0x70 + i, WIRE_ROLE_CLIENT, TOOL), 0);
	rig_for_ms(rig, SILENT_MS + 50);
	ck_assert_int_eq(come(&tool[i], 0x70 + i, WIRE_ROLE_CLIENT, TOOL),
			 _i < 2 ? 0 : -EBUSY);
	if (_i < 2)
		raw_until(&tool[0], tool[0].disconnected);
	for (i = 1; i < TOOLS; i++)
		ck_assert(!tool[i].disconnected);
	ck_assert_uint_eq(rig_logged(rig, "to make room in the reserve"),
			  _i < 2);
	ck_assert(!first.disconnected);
	for (i = 0; i <= TOOLS; i++)
		raw_close(&tool[i]);
	raw_close(&first);
}
END_TEST

/*
 * A place in the reserve does not count in max_sessions: other clients have as many places as
 * before.
 */
START_TEST(the_reserve_is_beside_max_sessions)
{
	struct raw first, tool, next;

	fill(1, &first);
	mock.identity = &root;
	ck_assert_int_eq(come(&tool, 0x77, WIRE_ROLE_CLIENT, TOOL), 0);
	raw_close(&first);
	rig_for_ms(rig, 5);
	mock.identity = NULL;
	ck_assert_int_eq(come(&next, 0x2, WIRE_ROLE_CLIENT, WIRE_FT_ROOM), 0);
	ck_assert(!tool.disconnected);
	raw_close(&tool);
	raw_close(&next);
}
END_TEST

/* The end of a disconnected tool makes no room for an ordinary client. */
START_TEST(disconnected_tools_keep_their_places)
{
	struct raw first, tool, next, back;

	fill(1, &first);
	mock.identity = &root;
	ck_assert_int_eq(come(&tool, 0x77, WIRE_ROLE_CLIENT, TOOL), 0);
	raw_close(&tool);
	rig_for_ms(rig, 5);
	mock.identity = NULL;
	ck_assert_int_eq(come(&next, 0x2, WIRE_ROLE_CLIENT, WIRE_FT_ROOM),
			 -WIRE_ENOSEATS);
	raw_close(&next);
	raw_open(&back, rig, 0x77, 2);
	raw_connect(&back);
	raw_until(&back, back.established || back.rejected);
	ck_assert(back.established);
	raw_close(&back);
	raw_close(&first);
}
END_TEST

/* A disconnected tool of the reserve makes no room for guests. */
START_TEST(disconnected_tools_do_not_count_as_room)
{
	struct raw tool, guest[GUESTS + 1];
	unsigned int i;

	rig->sattr.max_sessions = GUESTS;
	begin();
	mock.scarce = true;
	mock.identity = &root;
	ck_assert_int_eq(come(&tool, 0x77, WIRE_ROLE_CLIENT, TOOL), 0);
	raw_close(&tool);
	mock.scarce = false;
	rig_for_ms(rig, 5);
	for (i = 0; i <= GUESTS; i++) {
		raw_open(&guest[i], rig, 0x100 + i, 1);
		raw_connect(&guest[i]);
		raw_until(&guest[i], guest[i].established);
	}
	raw_until(&guest[0], guest[0].disconnected);
	for (i = 1; i <= GUESTS; i++)
		ck_assert(!guest[i].disconnected);
	ck_assert_uint_eq(rig_logged(rig, "no HELLO within"), 0);
	for (i = 0; i <= GUESTS; i++)
		raw_close(&guest[i]);
}
END_TEST

/* Case _i: all are managers, and a tool has to retry. */
START_TEST(managers_do_not_go_for_tools)
{
	struct raw first, in[TOOLS + 1];
	unsigned int i, managers = _i ? TOOLS : 1;

	rig->sattr.stall_ms = SILENT_MS;
	fill(1, &first);
	mock.identity = &root;
	believes = true;
	for (i = 0; i < TOOLS; i++)
		ck_assert_int_eq(come(&in[i], 0x70 + i,
				      i < managers ? WIRE_ROLE_MGR
						   : WIRE_ROLE_CLIENT,
				      i < managers ? WIRE_FT_ROOM : TOOL),
				 0);
	rig_for_ms(rig, SILENT_MS + 50);
	ck_assert_int_eq(come(&in[i], 0x70 + i, WIRE_ROLE_CLIENT, TOOL),
			 _i ? -EBUSY : 0);
	rig_for_ms(rig, 5);
	raw_turn(&in[0]);
	ck_assert(!in[0].disconnected);
	ck_assert_uint_eq(rig_logged(rig, "to make room in the reserve"), !_i);
	for (i = 0; i <= TOOLS; i++)
		raw_close(&in[i]);
	raw_close(&first);
}
END_TEST

/* A client that only claims a right to the reserve is one of a few guests. */
START_TEST(the_oldest_silent_one_goes)
{
	struct raw first, silent[2 * TOOLS + 1], tool;
	unsigned int i;

	fill(0, &first);
	for (i = 0; i <= 2 * TOOLS; i++) {
		raw_open(&silent[i], rig, 0x70 + i, 1);
		silent[i].hail.features = htole32(TOOL);
		raw_connect(&silent[i]);
		raw_until(&silent[i], silent[i].established);
	}
	raw_until(&silent[0], silent[0].disconnected);
	mock.identity = &root;
	ck_assert_int_eq(come(&tool, 0x90, WIRE_ROLE_CLIENT, TOOL), 0);
	ck_assert_uint_eq(rig_logged(rig, "no HELLO within"), 0);
	for (i = 0; i <= 2 * TOOLS; i++)
		raw_close(&silent[i]);
	raw_close(&tool);
	raw_close(&first);
}
END_TEST

/*
 * Without a key, the service identifies managers.  A manager that it does not know, and an iod,
 * have no more rights than a client.
 */
START_TEST(servers_without_a_key)
{
	const struct shortage *is;
	struct raw first;

	is = fill(_i, &first);
	mock.identity = &root;
	ck_assert_int_eq(come_once(WIRE_ROLE_MGR, WIRE_FT_ROOM), is->rc);
	believes = true;
	ck_assert_int_eq(come_once(WIRE_ROLE_IOD, WIRE_FT_ROOM), is->rc);
	ck_assert_int_eq(come_once(WIRE_ROLE_MGR, WIRE_FT_ROOM), 0);
	raw_close(&first);
}
END_TEST

/* With a key, they prove their identity. */
START_TEST(servers_with_a_key)
{
	struct raw raw;

	rig->sattr.role = WIRE_ROLE_IOD;
	rig->sattr.prover = keyring_prover(ring);
	rig->prover = keyring_prover(ring);
	rig->role = WIRE_ROLE_MGR;
	rig->sattr.max_sessions = 1;
	begin();
	believes = true; /* has no effect */
	mock.scarce = true;
	ck_assert_int_eq(come(&raw, 0x77, WIRE_ROLE_MGR, WIRE_FT_ROOM),
			 -EKEYREJECTED);
	raw_close(&raw);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_reserve");
	TCase *tc = tcase_create("rpc_reserve");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, ordinary_ones_are_told_why, 0, 2);
	tcase_add_loop_test(tc, tools_of_root_get_in, 0, 2);
	tcase_add_loop_test(tc, tools_of_others_do_not, 0, 2);
	tcase_add_test(tc, tools_are_ordinary_where_there_is_room);
	tcase_add_test(tc, only_the_reserve_comes_back);
	tcase_add_loop_test(tc, the_oldest_tool_goes, 0, 4);
	tcase_add_test(tc, the_reserve_is_beside_max_sessions);
	tcase_add_test(tc, disconnected_tools_keep_their_places);
	tcase_add_test(tc, disconnected_tools_do_not_count_as_room);
	tcase_add_loop_test(tc, managers_do_not_go_for_tools, 0, 2);
	tcase_add_test(tc, the_oldest_silent_one_goes);
	tcase_add_loop_test(tc, servers_without_a_key, 0, 2);
	tcase_add_test(tc, servers_with_a_key);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
