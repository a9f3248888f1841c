/* SPDX-License-Identifier: BSD-2-Clause */
/* wire_samples.c - valid messages; constants are those of a little-endian host. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/wire_samples.h"

#define DIST                                                                   \
	{                                                                      \
		.base = 1, .pcount = 2, .ssize = 65536                         \
	}
#define ATTR                                                                   \
	{                                                                      \
		.handle = 42, .size = INT64_MAX, .atime = 1, .mtime = 2,       \
		.ctime = 3, .mode = 0100644, .nlink = 1, .uid = 1000,          \
		.gid = 100, .flags = WIRE_A_SIZE, .dist = DIST                 \
	}

static const char a_path[] = "a/path"; /* 6 bytes and 2 of padding */
static const char full_path[] = "12345678"; /* no padding */
static const le32 groups[2] = { 100, 27 };
static const char uris[] = "tcp://a:1\0tcp://b:2";
static const le64 handles[3] = { 7, 8, 9 };
static const struct wire_objsize objsizes[3] = { { 1, 8, 5 },
						 { INT64_MAX, 1, 2 } };
static const struct wire_region regions[2] = { { 0, 10 }, { 65536, 11 } };
static const struct wire_mem mems[3] = { { 0x1000, 5, 1 },
					 { UINT64_MAX - 15, 15, 2 },
					 { 0x3000, 1, 1 } };
static const char data[] = "twenty-one bytes here";

static const struct wire_hello hello = { 1000, 100, 2, 6 };
static const struct wire_hello_rep hello_rep = {
	99, 8, WIRE_H_RESUMED | WIRE_H_CARRY
};
static const struct wire_fast_rep fast_rep = { 4096, 7, 73728, 4, 0 };
static const struct wire_metrics metrics = { .from = 3, .groups = 0xf, .n = 2 };
static const le64 metric_handle[2] = { 7, UINT64_MAX };
static const struct {
	struct wire_metric way;
	struct wire_metric_bucket bucket[2];
	char way_text[16]; /* 3 of padding */
	struct wire_metric used;
	char used_text[16];
} metric_rows = {
	{ .kind = WIRE_MK_TIMES,
	  .labels = 1,
	  .buckets = 2,
	  .text_len = 13,
	  .n = 5,
	  .most = 2047 },
	{ { 0, 1 }, { 1792, 4 } },
	"way\0\0op\0read",
	{ .kind = WIRE_MK_NOW, .text_len = 16, .n = UINT64_MAX },
	"zone_used\0Used.",
};
static const struct wire_metrics_rep metrics_rep = {
	.next = 9, .len = sizeof(metric_rows)
};
static const struct wire_session session_row[2] = {
	{ .id = 7,
	  .age_ns = 1,
	  .uid = 1,
	  .opens = 2,
	  .locks = 3,
	  .job = "12.0",
	  .name = "node:1:ls",
	  .peer = "tcp 10.0.0.9:4123" },
	{ .id = UINT64_MAX, .flags = WIRE_SE_AWAY },
};
static const struct wire_sessions sessions = { .after = 0 };
static const struct wire_sessions_rep sessions_rep = { .n = 2, .more = 1 };
static const struct wire_copysets copysets = { .since = 5, .from = 1025 };
static const struct wire_ring rings[2] = { { 0, 1, 0, 4 }, { 1, 2, 1024, 12 } };
static const struct wire_copyset copyset_rows[2] = {
	{ .id = 1024, .version = 1, .n = 1, .member = { { 3, 0 } } },
	{ .id = 1035,
	  .version = 9,
	  .losses = 1,
	  .n = 3,
	  .member = { { 0, WIRE_CS_OFFLINE }, { 1, 0 }, { 2, 1 } } },
};
static const struct wire_copysets_rep copysets_rep = {
	.revision = 9, .next = 1036, .rings = 2, .n = 2
};
static const struct wire_order order_mem = { .io = { 42, 21, 0, 2, 3, 0 },
					     .number = 9,
					     .below = 8,
					     .session = 7,
					     .seq = 6,
					     .total = 42,
					     .slot = 5,
					     .origin = 1023,
					     .primary = 1 };
static const struct wire_order order_inline = {
	.io = { 42, 21, 0, 2, 0, 21 }, .session = 7, .seq = 1, .total = 21
};
static const struct wire_order order_resize = { .io = { .handle = 42 },
						.session = 7,
						.seq = 1,
						.arg = { INT64_MAX, 3 },
						.kind = WIRE_ORDER_RESIZE };
static const struct wire_order order_space = { .io = { .handle = 42 },
					       .session = 7,
					       .seq = 1,
					       .arg = { 4096, 8192 },
					       .kind = WIRE_ORDER_SPACE,
					       .flags = WIRE_FA_KEEP |
							WIRE_FA_PUNCH };
static const struct wire_order order_counter = { .io = { .handle = 42 },
						 .session = 7,
						 .seq = 1,
						 .arg = { UINT64_MAX,
							  WIRE_COUNTERS - 1 },
						 .kind = WIRE_ORDER_COUNTER };
static const struct wire_assign assign = {
	.revision = 8, .n = 2, .ended = 1, .flags = WIRE_AS_LAST
};
static const struct wire_ended ended[1] = { { 77, 1023, 0 } };
static const struct wire_promise promise = {
	.process = UINT64_MAX, .sent = 1, .lease = 2, .iod = 1023, .n = 2
};
static const struct wire_promised promised[2] = {
	{ .copyset = 1024, .version = 1 },
	{ .copyset = 1035, .version = 9, .flags = WIRE_PR_LENT },
};
static const struct wire_promise promise_none = { .process = 1, .lease = 1 };
static const struct wire_outcome outcome = { .seq = 7,
					     .origin = 1023,
					     .slot = UINT16_MAX };
static const struct wire_outcome_rep outcome_rep = { .done = 5,
						     .state = WIRE_OC_DONE };
static const struct wire_copysets_rep copysets_none = { .revision = 5 };
static const struct wire_evict evict = { .session = 7, .wait_ms = 1000 };
static const struct wire_evict evict_job = { .by = WIRE_EV_JOB, .len = 6 };
static const struct wire_evict_rep evict_rep = {
	.until_ns = 1, .n = 2, .left = 1, .niods = 2
};
static const le32 evict_iod[2] = { 0, 1 };
static const struct wire_leader leader = { 2, 6 };
static const struct wire_leader no_leader = { WIRE_LEADER_NONE, 0 };
static const struct wire_carry_rep carry_rep = {
	UINT64_MAX - 15, INT64_MAX - 15, 15, 7, 3, 0
};
static const struct wire_ping_rep ping_rep = { 99, 5, 6, 7, 6, 0 };
static const struct wire_statfs_rep statfs_rep = { 4096, 9, 8, 7, 6, 5 };
static const struct wire_mount_rep mount_rep = { 77,	1, 2,
						 65536, 0, sizeof(uris) };
static const struct wire_path path = { 3, WIRE_P_NOFOLLOW, 6 };
static const struct wire_path no_path = { 3, 0, 0 };
static const struct wire_attr_rep attr_rep = { ATTR };
static const struct wire_path_rep path_rep = { 6, 0 };
static const struct wire_path_rep path_rep2 = { 6, 1 };
static const struct wire_open open_req = {
	.dir = 1, .flags = 0x1ff, .mode = 07777, .dist = DIST, .path_len = 6
};
static const struct wire_open_rep open_rep = { ATTR, 55 };
static const struct wire_release release = { 42, 55, 9, 9, 27, 0 };
static const struct wire_setattr setattr = {
	1, 2, 3, 0xff, 0755, 1000, 1, 1, 6
};
static const struct wire_mkdir mkdir_req = { 1, 0755, 6 };
static const struct wire_two two = { 1, 2, 6, 8 };
static const struct wire_rename rename_req = { 1, 2, 6, 8, 2, 0 };
static const struct wire_link2 link2_req = { 1, 2, 6, 8, WIRE_LN_SYMBOLIC, 0 };
static const struct wire_mknod mknod_req = { 1, 0020644, 6, 4, 77 };
static const struct wire_mknod mkfifo_req = { 1, 0010644, 6, 0, 0 };
static const struct wire_setxattr setxattr_req = { 1, 1, 6, 8, 8 };
static const struct wire_getxattr getxattr_req = { 1, 6, 8 };
static const struct wire_xattr_rep xattr_rep = { 8, 0 };
static const struct wire_readdir readdir_req = { 1, 0, { 0x1000, 4096, 3 } };
static const struct wire_readdir_rep readdir_rep = { 64, 2, 1, 0 };
static const struct wire_truncate truncate_req = { 1, 5, 55, 6, 0 };
static const struct wire_access access_req = { 1, 7, 6 };
static const struct wire_grant grant = { 42, 55, WIRE_O_READ };
static const struct wire_grant_rep grant_rep = { { 1, 2 } };
static const struct wire_redeem redeem = { { 1, 2 }, WIRE_O_READ };
static const struct wire_adopt adopt = { 7, 42, 55, 3, WIRE_AD_PROCESS };
static const struct wire_adopt_rep adopt_rep = { WIRE_AD_OPEN };
static const struct wire_adopted adopted = { 7 };
static const struct wire_declare declare = { 7, WIRE_DC_ALL, 2 };
static const struct wire_hold holds[2] = { { 42, 55 }, { 43, 56 } };
static const struct wire_fetch fetch = { 7, 2, 0, 21, 3 };
static const struct wire_fetch_rep fetch_rep = { 21, 1 };
static const struct wire_managers managers = { 0, WIRE_MA_STATUS, 0 };
static const struct wire_managers managers_join = { 9, WIRE_MA_JOIN, 6 };
static const struct wire_managers_rep managers_rep = {
	.term = 3, .leader = 7, .self = 7, .role = WIRE_MR_LEADER, .n = 2
};
static const struct wire_member members[2] = {
	{ .id = 7, .flags = WIRE_MM_VOTER, .uri = "tcp://h:3000" },
	{ .id = UINT64_MAX, .lag = 5, .filled = 9, .flags = WIRE_MM_FILLED }
};
static const struct wire_raft raft_inline = { 7, 1, 2, 21, 0, 21, 0 };
static const struct wire_raft raft_mem = { 7, 1, 2, 21, 3, 0, 0 };
static const struct wire_raft_rep raft_rep = { 21, 0 };
static const struct wire_groups groups_part = { 9, 67, 64, 3, 0 };
static const le32 gids[3] = { 7, 8, UINT32_MAX };
static const struct wire_append append = { 42, 55, INT64_MAX };
static const struct wire_append_rep append_rep = { INT64_MAX };
static const struct wire_lock lock = {
	42, 7, 10, INT64_MAX, WIRE_L_EXCLUSIVE, WIRE_L_WAIT
};
static const struct wire_lock_rep lock_rep = { 10, 20, WIRE_L_SHARED, 0 };
static const struct wire_lock_any lock_any = { 2, 5000 };
static const struct wire_lock wanted[2] = {
	{ 42, 7, 10, INT64_MAX, WIRE_L_EXCLUSIVE, 0 },
	{ 43, 8, 0, 1, WIRE_L_SHARED, WIRE_L_WHOLE },
};
static const struct wire_lock_any_rep lock_any_rep = { 1, 0 };
static const struct wire_io io_mem = { 42, 21, WIRE_IO_SYNC, 2, 3, 0 };
static const struct wire_io io_inline = { 42, 21, 0, 2, 0, 21 };
static const struct wire_io io_no_data = { 42, 21, 0, 2, 0, 0 };
static const struct wire_io_rep io_rep = { 21, 21, 0, 0 };
static const struct wire_io_rep io_rep_inline = { 21, 65557, 21, 0 };
static const struct wire_vec vecs[2] = { { 0, 10, 100, 0, 2, 1 },
					 { 65536, 1, 7, 50, 3, 4 } };
static const struct wire_list list_mem = {
	.io = { 42, 21, WIRE_IO_SYNC, 2, 3, 0 }, .skip = 1, .dist = DIST
};
static const struct wire_list list_inline = { .io = { 42, 21, 0, 2, 0, 21 },
					      .dist = DIST };
static const struct wire_list list_no_data = { .io = { 42, 21, 0, 2, 0, 0 },
					       .dist = DIST };
static const struct wire_resize resize = { 42, INT64_MAX };
static const struct wire_objects objects = { 3, 0 };
static const struct wire_remove remove_own = { 3, 0 };
static const struct wire_remove remove_keys = { 3, 3 };
static const le32 key_copysets[3] = { 0, WIRE_COPYSET_MIN,
				      WIRE_COPYSET_END - 1 };
static const struct wire_getsize_rep getsize_rep = { 3, 0 };
static const struct wire_getsize_rep placed_rep = { 1, 1 };
static const struct wire_objsize one_objsize[1] = { { 1, 8, 5 } };
static const struct wire_end_place end_place[1] = { { 4096, 7, 9, 0 } };
static const struct wire_walk walk = { .after = 7, .place = 3 };
static const struct wire_walk walk_keys = { 7, 3,
					    WIRE_WALK_KEYS | WIRE_COPYSET_MIN };
static const struct wire_walk_rep walk_rep = { .after = 9, .place = 4, .n = 3 };
static const struct wire_fence fence = { 3, 0 };
static const struct wire_lease lease = { 1234567890123, 77, 3 };
static const struct wire_challenge challenge = { { 1 }, { 2 } };
static const struct wire_challenge_rep challenge_rep = {
	9,     2,     WIRE_CH_SEAL | WIRE_CH_SEAL_IN_PLACE | WIRE_CH_ENCRYPT,
	{ 1 }, { 2 }, 3
};
static const struct wire_auth auth = { 2, 8 };
static const struct wire_auth_rep auth_rep = { 5, 1000, 100, 8, 8, { 1 } };
static const struct wire_fallocate falloc = { 42, 4096, 100, WIRE_FA_KEEP, 0 };
static const struct wire_copy copy = { 42, 43, 4096, 0, 100, 3, WIRE_IO_SYNC };
static const struct wire_seek seek = { 42, 4096, WIRE_SK_HOLE, 0 };
static const struct wire_seek_rep seek_rep = { INT64_MAX };
static const struct wire_counter counter = { 42, 5, 7, WIRE_CT_SET };
static const struct wire_counter_rep counter_rep = { UINT64_MAX };
static const struct wire_place place = { 42, 5, 1, 9, 7, WIRE_PL_RAISE };
static const struct wire_share_rep share_rep = { 4096, 100, 3, 0 };
static const struct wire_place_rep place_rep = { 4096, 1024, 9, 3, 0 };
static const struct wire_borrow borrow = { 42, WIRE_B_WRITE | WIRE_B_PAGES, 0 };
static const struct wire_borrow_rep borrow_rep = {
	7, 8, 255, 1023, WIRE_B_WRITE, 0
};
static const struct wire_claim claim = { 7, 9, 2, 3, 0 };
static const struct wire_claim_rep claim_rep = { 9, WIRE_FOREIGN, 0, 3 };
static const struct wire_disk_rep disk_rep = { 5 };

#define BODY(b) .body = &(b), .body_len = sizeof(b)
#define STR(type, field, s)                                                    \
	{                                                                      \
		s, sizeof(s) - 1, offsetof(struct type, field)                 \
	}
#define ARR(type, field, a)                                                    \
	{                                                                      \
		a, sizeof(a), offsetof(struct type, field)                     \
	}
#define REP .flags = WIRE_F_REPLY
#define PATH(type) .tail = { STR(type, path_len, a_path) }, .ntail = 1
#define IO_LISTS ARR(wire_io, nreg, regions), ARR(wire_io, nmem, mems)
#define IO_INLINE                                                              \
	ARR(wire_io, nreg, regions),                                           \
	{                                                                      \
		NULL, 0, offsetof(struct wire_io, nmem)                        \
	}

#define ORDER .copyset = { WIRE_COPYSET_MIN, 1 }
#define ORDER_LISTS                                                            \
	ARR(wire_order, io.nreg, regions), ARR(wire_order, io.nmem, mems)
#define ORDER_INLINE                                                           \
	ARR(wire_order, io.nreg, regions),                                     \
	{                                                                      \
		NULL, 0, offsetof(struct wire_order, io.nmem)                  \
	}

#define LIST_LISTS ARR(wire_list, io.nreg, vecs), ARR(wire_list, io.nmem, mems)
#define LIST_INLINE                                                            \
	ARR(wire_list, io.nreg, vecs),                                         \
	{                                                                      \
		NULL, 0, offsetof(struct wire_list, io.nmem)                   \
	}

static const struct {
	struct wire_caps head;
	uint8_t cap[WIRE_CAP_LEN];
} a_cap = { .head = { .n = 1 }, .cap = { 1 } },
  some_caps = { .head = { .n = 1, .life = 3600 }, .cap = { 2 } };
static const struct wire_apart an_apart = { .token = { 1, 2, 3 } };
static const struct wire_proof a_proof = { .mac = { 1, 2, 3 } };
static const struct wire_seal a_seal = { .mode = 2, .key = { 4, 5, 6 } };
static const struct {
	struct wire_job job;
	char text[8]; /* 3 of padding */
} a_job = { { 5, 0 }, "job 1" };
static const struct {
	struct wire_shown shown;
	uint8_t ticket[16]; /* 3 of padding */
} a_ticket = { { 13, 0 }, { 1, 2, 3 } };

const struct wire_sample wire_samples[] = {
	{ "hello", WIRE_HELLO, BODY(hello),
	  .tail = { ARR(wire_hello, ngroups, groups),
		    STR(wire_hello, name_len, a_path) },
	  .ntail = 2 },
	{ "hello, carries", WIRE_HELLO, .flags = WIRE_F_CARRY, BODY(hello),
	  .tail = { ARR(wire_hello, ngroups, groups),
		    STR(wire_hello, name_len, a_path) },
	  .ntail = 2 },
	{ "hello, proved", WIRE_HELLO, .flags = WIRE_F_PROOF, BODY(hello),
	  .tail = { ARR(wire_hello, ngroups, groups),
		    STR(wire_hello, name_len, a_path) },
	  .ntail = 2 },
	{ "hello, apart", WIRE_HELLO, .flags = WIRE_F_APART, BODY(hello),
	  .tail = { ARR(wire_hello, ngroups, groups),
		    STR(wire_hello, name_len, a_path) },
	  .ntail = 2 },
	{ "hello, ticket", WIRE_HELLO, .flags = WIRE_F_PROOF | WIRE_F_TICKET,
	  BODY(hello),
	  .tail = { ARR(wire_hello, ngroups, groups),
		    STR(wire_hello, name_len, a_path) },
	  .ntail = 2 },
	{ "hello, sealed", WIRE_HELLO,
	  .flags = WIRE_F_PROOF | WIRE_F_TICKET | WIRE_F_SEAL, BODY(hello),
	  .tail = { ARR(wire_hello, ngroups, groups),
		    STR(wire_hello, name_len, a_path) },
	  .ntail = 2 },
	{ "hello, job", WIRE_HELLO, .flags = WIRE_F_JOB, BODY(hello),
	  .tail = { ARR(wire_hello, ngroups, groups),
		    STR(wire_hello, name_len, a_path) },
	  .ntail = 2 },
	{ "hello, job, seal and ticket", WIRE_HELLO,
	  .flags = WIRE_F_PROOF | WIRE_F_TICKET | WIRE_F_SEAL | WIRE_F_JOB,
	  BODY(hello),
	  .tail = { ARR(wire_hello, ngroups, groups),
		    STR(wire_hello, name_len, a_path) },
	  .ntail = 2 },
	{ "hello reply", WIRE_HELLO, REP, BODY(hello_rep) },
	{ "hello reply, sealed", WIRE_HELLO,
	  .flags = WIRE_F_REPLY | WIRE_F_PROOF | WIRE_F_SEAL, BODY(hello_rep) },
	{ "hello refused, sealed", WIRE_HELLO,
	  .flags = WIRE_F_REPLY | WIRE_F_PROOF | WIRE_F_SEAL, .status = 13 },
	{ "hello reply, apart", WIRE_HELLO,
	  .flags = WIRE_F_REPLY | WIRE_F_APART, BODY(hello_rep) },
	{ "hello reply, apart and proved", WIRE_HELLO,
	  .flags = WIRE_F_REPLY | WIRE_F_APART | WIRE_F_PROOF,
	  BODY(hello_rep) },
	{ "hello reply, proved", WIRE_HELLO,
	  .flags = WIRE_F_REPLY | WIRE_F_PROOF, BODY(hello_rep) },
	{ "hello refused, proved", WIRE_HELLO,
	  .flags = WIRE_F_REPLY | WIRE_F_PROOF, .status = 13 },
	{ "hello refused, leader", WIRE_HELLO, REP, .status = WIRE_ENOTLEADER,
	  BODY(leader), .tail = { STR(wire_leader, uri_len, a_path) },
	  .ntail = 1 },
	{ "hello refused, leader, proved", WIRE_HELLO,
	  .flags = WIRE_F_REPLY | WIRE_F_PROOF, .status = WIRE_ENOTLEADER,
	  BODY(leader), .tail = { STR(wire_leader, uri_len, a_path) },
	  .ntail = 1 },
	{ "hello refused, no leader", WIRE_HELLO, REP,
	  .status = WIRE_ENOTLEADER, BODY(no_leader) },
	{ "ping", WIRE_PING },
	{ "ping reply", WIRE_PING, REP, BODY(ping_rep),
	  .tail = { STR(wire_ping_rep, version_len, a_path) }, .ntail = 1 },
	{ "metrics", WIRE_METRICS, BODY(metrics),
	  .tail = { ARR(wire_metrics, n, metric_handle) }, .ntail = 1 },
	{ "metrics reply", WIRE_METRICS, REP, BODY(metrics_rep),
	  .tail = { { &metric_rows, sizeof(metric_rows),
		      offsetof(struct wire_metrics_rep, len) } },
	  .ntail = 1 },
	{ "copysets", WIRE_COPYSETS, BODY(copysets) },
	{ "copysets reply", WIRE_COPYSETS, REP, BODY(copysets_rep),
	  .tail = { ARR(wire_copysets_rep, rings, rings),
		    ARR(wire_copysets_rep, n, copyset_rows) },
	  .ntail = 2 },
	{ "copysets reply, none", WIRE_COPYSETS, REP, BODY(copysets_none) },
	{ "sessions", WIRE_SESSIONS, BODY(sessions) },
	{ "sessions reply", WIRE_SESSIONS, REP, BODY(sessions_rep),
	  .tail = { ARR(wire_sessions_rep, n, session_row) }, .ntail = 1 },
	{ "evict", WIRE_EVICT, BODY(evict) },
	{ "evict job", WIRE_EVICT, BODY(evict_job),
	  .tail = { STR(wire_evict, len, a_path) }, .ntail = 1 },
	{ "groups", WIRE_GROUPS, BODY(groups_part),
	  .tail = { ARR(wire_groups, n, gids) }, .ntail = 1 },
	{ "groups reply", WIRE_GROUPS, REP },
	{ "raft", WIRE_RAFT, BODY(raft_inline),
	  .tail = { { NULL, 0, offsetof(struct wire_raft, nmem) },
		    STR(wire_raft, data_len, data) },
	  .ntail = 2, .gathered = true },
	{ "raft, in memory", WIRE_RAFT, BODY(raft_mem),
	  .tail = { ARR(wire_raft, nmem, mems) }, .ntail = 1 },
	{ "raft reply", WIRE_RAFT, REP },
	{ "raft reply with a message", WIRE_RAFT, REP, BODY(raft_rep),
	  .tail = { STR(wire_raft_rep, data_len, data) }, .ntail = 1,
	  .gathered = true },
	{ "fetch", WIRE_FETCH, BODY(fetch),
	  .tail = { ARR(wire_fetch, nmem, mems) }, .ntail = 1 },
	{ "fetch reply", WIRE_FETCH, REP, BODY(fetch_rep) },
	{ "managers", WIRE_MANAGERS, BODY(managers) },
	{ "managers join", WIRE_MANAGERS, BODY(managers_join),
	  .tail = { STR(wire_managers, uri_len, a_path) }, .ntail = 1 },
	{ "managers reply", WIRE_MANAGERS, REP, BODY(managers_rep),
	  .tail = { ARR(wire_managers_rep, n, members) }, .ntail = 1 },
	{ "evict reply", WIRE_EVICT, REP, BODY(evict_rep),
	  .tail = { ARR(wire_evict_rep, niods, evict_iod) }, .ntail = 1 },
	{ "statfs", WIRE_STATFS },
	{ "statfs reply", WIRE_STATFS, REP, BODY(statfs_rep) },
	{ "bye", WIRE_BYE },
	{ "bye reply", WIRE_BYE, REP },
	{ "fast", WIRE_FAST },
	{ "fast reply", WIRE_FAST, REP, BODY(fast_rep) },
	{ "carry", WIRE_CARRY },
	{ "carry reply", WIRE_CARRY, REP, BODY(carry_rep) },
	{ "challenge", WIRE_CHALLENGE, BODY(challenge) },
	{ "challenge reply", WIRE_CHALLENGE, REP, BODY(challenge_rep) },
	{ "challenge reply, of before", WIRE_CHALLENGE, REP,
	  .body = &challenge_rep, .body_len = WIRE_CHALLENGE_REP_V1 },
	{ "auth", WIRE_AUTH, BODY(auth),
	  .tail = { STR(wire_auth, len, full_path) }, .ntail = 1 },
	{ "auth reply", WIRE_AUTH, REP, BODY(auth_rep),
	  .tail = { STR(wire_auth_rep, ticket_len, full_path),
		    STR(wire_auth_rep, word_len, full_path) },
	  .ntail = 2 },
	{ "mount", WIRE_MOUNT },
	{ "mount reply", WIRE_MOUNT, REP, BODY(mount_rep),
	  .tail = { ARR(wire_mount_rep, uris_len, uris) }, .ntail = 1 },
	{ "getattr", WIRE_GETATTR, BODY(path), PATH(wire_path) },
	{ "getattr handle", WIRE_GETATTR, BODY(no_path) },
	{ "getattr replay", WIRE_GETATTR, .flags = WIRE_F_REPLAY, BODY(path),
	  PATH(wire_path) },
	{ "getattr reply", WIRE_GETATTR, REP, BODY(attr_rep) },
	{ "getattr error", WIRE_GETATTR, REP, .status = 2 },
	{ "getattr redirect", WIRE_GETATTR, REP, .status = WIRE_REDIRECT,
	  BODY(path_rep), PATH(wire_path_rep) },
	{ "open", WIRE_OPEN, BODY(open_req), PATH(wire_open) },
	{ "open reply", WIRE_OPEN, REP, BODY(open_rep) },
	{ "release", WIRE_RELEASE, BODY(release) },
	{ "release reply", WIRE_RELEASE, REP },
	{ "setattr", WIRE_SETATTR, BODY(setattr), PATH(wire_setattr) },
	{ "setattr reply", WIRE_SETATTR, REP, BODY(attr_rep) },
	{ "mkdir", WIRE_MKDIR, BODY(mkdir_req), PATH(wire_mkdir) },
	{ "mkdir reply", WIRE_MKDIR, REP, BODY(attr_rep) },
	{ "rmdir", WIRE_RMDIR, BODY(path), PATH(wire_path) },
	{ "rmdir reply", WIRE_RMDIR, REP },
	{ "unlink", WIRE_UNLINK, BODY(path), PATH(wire_path) },
	{ "unlink reply", WIRE_UNLINK, REP },
	{ "unlink2", WIRE_UNLINK2, BODY(path), PATH(wire_path) },
	{ "unlink2 reply", WIRE_UNLINK2, REP, BODY(attr_rep) },
	{ "rename", WIRE_RENAME, BODY(two),
	  .tail = { STR(wire_two, path1_len, a_path),
		    STR(wire_two, path2_len, full_path) },
	  .ntail = 2 },
	{ "rename reply", WIRE_RENAME, REP },
	{ "rename2", WIRE_RENAME2, BODY(rename_req),
	  .tail = { STR(wire_rename, path1_len, a_path),
		    STR(wire_rename, path2_len, full_path) },
	  .ntail = 2 },
	{ "rename2 reply", WIRE_RENAME2, REP },
	{ "mknod", WIRE_MKNOD, BODY(mknod_req), PATH(wire_mknod) },
	{ "setxattr", WIRE_SETXATTR, BODY(setxattr_req),
	  .tail = { STR(wire_setxattr, path_len, a_path),
		    STR(wire_setxattr, name_len, full_path),
		    STR(wire_setxattr, value_len, full_path) },
	  .ntail = 3 },
	{ "setxattr reply", WIRE_SETXATTR, REP },
	{ "getxattr", WIRE_GETXATTR, BODY(getxattr_req),
	  .tail = { STR(wire_getxattr, path_len, a_path),
		    STR(wire_getxattr, name_len, full_path) },
	  .ntail = 2 },
	{ "getxattr reply", WIRE_GETXATTR, REP, BODY(xattr_rep),
	  .tail = { STR(wire_xattr_rep, len, full_path) }, .ntail = 1 },
	{ "listxattr", WIRE_LISTXATTR, BODY(path), PATH(wire_path) },
	{ "listxattr reply", WIRE_LISTXATTR, REP, BODY(xattr_rep),
	  .tail = { STR(wire_xattr_rep, len, full_path) }, .ntail = 1 },
	{ "removexattr", WIRE_REMOVEXATTR, BODY(getxattr_req),
	  .tail = { STR(wire_getxattr, path_len, a_path),
		    STR(wire_getxattr, name_len, full_path) },
	  .ntail = 2 },
	{ "removexattr reply", WIRE_REMOVEXATTR, REP },
	{ "mkfifo", WIRE_MKNOD, BODY(mkfifo_req), PATH(wire_mknod) },
	{ "mknod reply", WIRE_MKNOD, REP, BODY(attr_rep) },
	{ "rename redirect", WIRE_RENAME, REP, .status = WIRE_REDIRECT,
	  BODY(path_rep2), PATH(wire_path_rep) },
	{ "symlink", WIRE_SYMLINK, BODY(two),
	  .tail = { STR(wire_two, path1_len, a_path),
		    STR(wire_two, path2_len, full_path) },
	  .ntail = 2 },
	{ "symlink reply", WIRE_SYMLINK, REP },
	{ "readlink", WIRE_READLINK, BODY(path), PATH(wire_path) },
	{ "readlink reply", WIRE_READLINK, REP, BODY(path_rep),
	  PATH(wire_path_rep) },
	{ "link", WIRE_LINK, BODY(two),
	  .tail = { STR(wire_two, path1_len, a_path),
		    STR(wire_two, path2_len, full_path) },
	  .ntail = 2 },
	{ "link reply", WIRE_LINK, REP },
	{ "link2", WIRE_LINK2, BODY(link2_req),
	  .tail = { STR(wire_link2, path1_len, a_path),
		    STR(wire_link2, path2_len, full_path) },
	  .ntail = 2 },
	{ "link2 reply", WIRE_LINK2, REP, BODY(attr_rep) },
	{ "link2 redirect", WIRE_LINK2, REP, .status = WIRE_REDIRECT,
	  BODY(path_rep2), PATH(wire_path_rep) },
	{ "readdir", WIRE_READDIR, BODY(readdir_req) },
	{ "readdir reply", WIRE_READDIR, REP, BODY(readdir_rep) },
	{ "readdirplus", WIRE_READDIRPLUS, BODY(readdir_req) },
	{ "readdirplus reply", WIRE_READDIRPLUS, REP, BODY(readdir_rep) },
	{ "truncate", WIRE_TRUNCATE, BODY(truncate_req), PATH(wire_truncate) },
	{ "truncate reply", WIRE_TRUNCATE, REP },
	{ "access", WIRE_ACCESS, BODY(access_req), PATH(wire_access) },
	{ "access reply", WIRE_ACCESS, REP },
	{ "grant", WIRE_GRANT, BODY(grant) },
	{ "grant reply", WIRE_GRANT, REP, BODY(grant_rep) },
	{ "redeem", WIRE_REDEEM, BODY(redeem) },
	{ "redeem reply", WIRE_REDEEM, REP, BODY(open_rep) },
	{ "adopt", WIRE_ADOPT, BODY(adopt) },
	{ "adopt reply", WIRE_ADOPT, REP, BODY(adopt_rep) },
	{ "adopted", WIRE_ADOPTED, BODY(adopted) },
	{ "adopted reply", WIRE_ADOPTED, REP },
	{ "declare", WIRE_DECLARE, BODY(declare),
	  .tail = { ARR(wire_declare, n, holds) }, .ntail = 1 },
	{ "declare reply", WIRE_DECLARE, REP },
	{ "append", WIRE_APPEND, BODY(append) },
	{ "append reply", WIRE_APPEND, REP, BODY(append_rep) },
	{ "lock", WIRE_LOCK, BODY(lock) },
	{ "lock reply", WIRE_LOCK, REP, BODY(lock_rep) },
	{ "lock_any", WIRE_LOCK_ANY, BODY(lock_any),
	  .tail = { ARR(wire_lock_any, n, wanted) }, .ntail = 1 },
	{ "lock_any reply", WIRE_LOCK_ANY, REP, BODY(lock_any_rep) },
	{ "read", WIRE_READ, BODY(io_mem), .tail = { IO_LISTS }, .ntail = 2 },
	{ "read inline", WIRE_READ, BODY(io_no_data), .tail = { IO_INLINE },
	  .ntail = 2 },
	{ "read reply", WIRE_READ, REP, BODY(io_rep) },
	{ "read inline reply", WIRE_READ, REP, BODY(io_rep_inline),
	  .tail = { STR(wire_io_rep, data_len, data) }, .ntail = 1,
	  .gathered = true },
	{ "write", WIRE_WRITE, BODY(io_mem), .tail = { IO_LISTS }, .ntail = 2 },
	{ "write data", WIRE_WRITE, .flags = WIRE_F_DATA, BODY(io_mem),
	  .tail = { IO_LISTS }, .ntail = 2 },
	{ "write inline", WIRE_WRITE, BODY(io_inline),
	  .tail = { IO_INLINE, STR(wire_io, data_len, data) }, .ntail = 3,
	  .gathered = true },
	{ "write reply", WIRE_WRITE, REP, BODY(io_rep) },
	{ "resize", WIRE_RESIZE, BODY(resize) },
	{ "resize, copyset", WIRE_RESIZE, BODY(resize),
	  .copyset = { WIRE_COPYSET_MIN, 1 } },
	{ "resize reply", WIRE_RESIZE, REP },
	{ "sync", WIRE_SYNC, BODY(objects),
	  .tail = { ARR(wire_objects, n, handles) }, .ntail = 1 },
	{ "sync reply", WIRE_SYNC, REP },
	{ "getsize", WIRE_GETSIZE, BODY(objects),
	  .tail = { ARR(wire_objects, n, handles) }, .ntail = 1 },
	{ "getsize, copyset", WIRE_GETSIZE, BODY(objects),
	  .tail = { ARR(wire_objects, n, handles) }, .ntail = 1,
	  .copyset = { UINT32_MAX, UINT32_MAX } },
	{ "getsize reply", WIRE_GETSIZE, REP, BODY(getsize_rep),
	  .tail = { ARR(wire_getsize_rep, n, objsizes) }, .ntail = 1 },
	{ "getsize reply, placed", WIRE_GETSIZE, REP, BODY(placed_rep),
	  .tail = { ARR(wire_getsize_rep, n, one_objsize),
		    ARR(wire_getsize_rep, places, end_place) },
	  .ntail = 2 },
	{ "remove", WIRE_REMOVE, BODY(remove_own),
	  .tail = { ARR(wire_remove, n, handles) }, .ntail = 1 },
	{ "remove, copysets", WIRE_REMOVE, BODY(remove_keys),
	  .tail = { ARR(wire_remove, n, handles),
		    ARR(wire_remove, copysets, key_copysets) },
	  .ntail = 2 },
	{ "remove reply", WIRE_REMOVE, REP },
	{ "fence", WIRE_FENCE, BODY(fence),
	  .tail = { ARR(wire_fence, n, handles) }, .ntail = 1 },
	{ "fence reply", WIRE_FENCE, REP },
	{ "order", WIRE_ORDER, ORDER, BODY(order_mem), .tail = { ORDER_LISTS },
	  .ntail = 2 },
	{ "order data", WIRE_ORDER, ORDER, .flags = WIRE_F_DATA,
	  BODY(order_mem), .tail = { ORDER_LISTS }, .ntail = 2 },
	{ "order inline", WIRE_ORDER, ORDER, BODY(order_inline),
	  .tail = { ORDER_INLINE, STR(wire_order, io.data_len, data) },
	  .ntail = 3, .gathered = true },
	{ "order resize", WIRE_ORDER, ORDER, BODY(order_resize) },
	{ "order space", WIRE_ORDER, ORDER, BODY(order_space) },
	{ "order counter", WIRE_ORDER, ORDER, BODY(order_counter) },
	{ "order reply", WIRE_ORDER, REP },
	{ "assign", WIRE_ASSIGN, BODY(assign),
	  .tail = { ARR(wire_assign, n, copyset_rows),
		    ARR(wire_assign, ended, ended) },
	  .ntail = 2 },
	{ "assign reply", WIRE_ASSIGN, REP },
	{ "promise", WIRE_PROMISE, BODY(promise),
	  .tail = { ARR(wire_promise, n, promised) }, .ntail = 1 },
	{ "promise reply", WIRE_PROMISE, REP, BODY(promise),
	  .tail = { ARR(wire_promise, n, promised) }, .ntail = 1 },
	{ "promise reply, none", WIRE_PROMISE, REP, BODY(promise_none) },
	{ "outcome", WIRE_OUTCOME, BODY(outcome),
	  .copyset = { WIRE_COPYSET_MIN, 1 } },
	{ "outcome reply", WIRE_OUTCOME, REP, BODY(outcome_rep) },
	{ "objects", WIRE_OBJECTS, BODY(walk) },
	{ "objects, keys", WIRE_OBJECTS, BODY(walk_keys) },
	{ "objects reply", WIRE_OBJECTS, REP, BODY(walk_rep),
	  .tail = { ARR(wire_walk_rep, n, handles) }, .ntail = 1 },
	{ "claim", WIRE_CLAIM, BODY(claim) },
	{ "claim reply", WIRE_CLAIM, REP, BODY(claim_rep) },
	{ "claim reply, short", WIRE_CLAIM, REP, .body = &claim_rep,
	  .body_len = WIRE_CLAIM_REP_SHORT },
	{ "lease", WIRE_LEASE, BODY(lease) },
	{ "lease, version 2", WIRE_LEASE, .body = &lease,
	  .body_len = WIRE_LEASE_V2 },
	{ "lease reply", WIRE_LEASE, REP },
	{ "fallocate", WIRE_FALLOCATE, BODY(falloc) },
	{ "fallocate reply", WIRE_FALLOCATE, REP },
	{ "copy", WIRE_COPY, BODY(copy) },
	{ "copy, shown", WIRE_COPY, .flags = WIRE_F_CAPS, BODY(copy) },
	{ "renew", WIRE_RENEW, .flags = WIRE_F_CAPS },
	{ "renew reply", WIRE_RENEW, .flags = WIRE_F_REPLY | WIRE_F_CAPS },
	{ "copy reply", WIRE_COPY, REP },
	{ "seek", WIRE_SEEK, BODY(seek) },
	{ "seek reply", WIRE_SEEK, REP, BODY(seek_rep) },
	{ "counter", WIRE_COUNTER, BODY(counter) },
	{ "counter reply", WIRE_COUNTER, REP, BODY(counter_rep) },
	{ "place", WIRE_PLACE, BODY(place) },
	{ "place reply", WIRE_PLACE, REP, BODY(place_rep) },
	{ "share", WIRE_SHARE },
	{ "share reply", WIRE_SHARE, REP, BODY(share_rep) },
	{ "borrow", WIRE_BORROW, BODY(borrow) },
	{ "borrow reply", WIRE_BORROW, REP, BODY(borrow_rep) },
	{ "disk", WIRE_DISK },
	{ "disk reply", WIRE_DISK, REP, BODY(disk_rep) },
	{ "read list", WIRE_READ_LIST, BODY(list_mem), .tail = { LIST_LISTS },
	  .ntail = 2 },
	{ "read list, shown", WIRE_READ_LIST, .flags = WIRE_F_CAPS,
	  BODY(list_mem), .tail = { LIST_LISTS }, .ntail = 2 },
	{ "read list inline", WIRE_READ_LIST, BODY(list_no_data),
	  .tail = { LIST_INLINE }, .ntail = 2 },
	{ "read list reply", WIRE_READ_LIST, REP, BODY(io_rep_inline),
	  .tail = { STR(wire_io_rep, data_len, data) }, .ntail = 1,
	  .gathered = true },
	{ "write list", WIRE_WRITE_LIST, BODY(list_mem), .tail = { LIST_LISTS },
	  .ntail = 2 },
	{ "write list inline", WIRE_WRITE_LIST, BODY(list_inline),
	  .tail = { LIST_INLINE, STR(wire_list, io.data_len, data) },
	  .ntail = 3, .gathered = true },
	{ "write list reply", WIRE_WRITE_LIST, REP, BODY(io_rep) },
};

const unsigned int wire_nsamples = sizeof(wire_samples) /
				   sizeof(wire_samples[0]);

const struct wire_sample *wire_sample_find(const char *name)
{
	for (unsigned int i = 0; i < wire_nsamples; i++) {
		if (!strcmp(wire_samples[i].name, name))
			return &wire_samples[i];
	}
	return NULL;
}

size_t wire_sample_build(const struct wire_sample *s, void *buf)
{
	unsigned int nput = s->ntail - s->gathered;
	struct wire_out out;
	struct wire_hdr *hdr = buf;
	size_t extra = 0;
	int len;

	wire_begin(&out, buf, SAMPLE_MAX);
	if (s->body)
		wire_put(&out, s->body, s->body_len);
	for (unsigned int i = 0; i < nput; i++)
		wire_put(&out, s->tail[i].ptr, s->tail[i].len);
	if (s->flags & WIRE_F_CAPS)
		wire_put(&out, s->flags & WIRE_F_REPLY ? &some_caps : &a_cap,
			 sizeof(a_cap));
	if (s->flags & WIRE_F_APART && s->flags & WIRE_F_REPLY)
		wire_put(&out, &an_apart, sizeof(an_apart));
	if (s->flags & WIRE_F_JOB)
		wire_put(&out, &a_job, sizeof(a_job));
	if (s->flags & WIRE_F_SEAL)
		wire_put(&out, &a_seal, sizeof(a_seal));
	if (s->flags & WIRE_F_TICKET)
		wire_put(&out, &a_ticket, sizeof(a_ticket));
	if (s->flags & WIRE_F_PROOF)
		wire_put(&out, &a_proof, sizeof(a_proof));
	if (s->gathered) {
		extra = s->tail[nput].len;
		memcpy((char *)buf + out.len, s->tail[nput].ptr, extra);
	}
	hdr->session = htole64(1234);
	hdr->seq = htole64(1);
	hdr->credits = htole32(s->copyset.id);
	hdr->status = htole32(s->status | s->copyset.version);
	len = wire_end(&out, s->op, s->flags, extra);
	if (len < 0)
		abort();
	return (size_t)len;
}
