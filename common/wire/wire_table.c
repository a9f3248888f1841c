/* SPDX-License-Identifier: BSD-2-Clause */
/* wire_table.c - the request and reply of each operation, as wire.h describes them. */
#include "common/wire/security_mode.h"
#include "common/wire/loan_pages.h"
#include "common/wire/wire_form.h"

#define BITS(type, field, mask)                                                \
	{                                                                      \
		WIRE_FK_BITS, offsetof(struct type, field), mask,              \
			#type "." #field ": unknown bits"                      \
	}
#define ZERO(type, field)                                                      \
	{                                                                      \
		WIRE_FK_BITS, offsetof(struct type, field), 0,                 \
			#type "." #field ": reserved, not zero"                \
	}
#define MAX(type, field, max)                                                  \
	{                                                                      \
		WIRE_FK_MAX, offsetof(struct type, field), max,                \
			#type "." #field ": too large"                         \
	}
#define SIZE(type, field)                                                      \
	{                                                                      \
		WIRE_FK_MAX64, offsetof(struct type, field), INT64_MAX,        \
			#type "." #field ": above 2^63 - 1"                    \
	}
#define ID(type, field)                                                        \
	{                                                                      \
		WIRE_FK_ID, offsetof(struct type, field), 0,                   \
			#type "." #field ": zero"                              \
	}
#define ITEM(kind, type, field, elem, max)                                     \
	{                                                                      \
		WIRE_IK_##kind, offsetof(struct type, field), elem, max,       \
			#type "." #field                                       \
	}
#define PATH(type, field) ITEM(STRING, type, field, 1, WIRE_PATH_MAX)

#define MODE_BITS 07777u
#define UMASK_BITS WIRE_MODE(0, 0777)

static const struct wire_form empty = { 0 };

static const struct wire_form hello = {
	.size = sizeof(struct wire_hello),
	.items = { ITEM(ARRAY, wire_hello, ngroups, 4, WIRE_GROUPS_MAX),
		   ITEM(STRING, wire_hello, name_len, 1, WIRE_NAME_MAX) },
};
static const struct wire_form hello_rep = {
	.size = sizeof(struct wire_hello_rep),
	.fields = { BITS(wire_hello_rep, flags,
			 WIRE_H_RESUMED | WIRE_H_CARRY | WIRE_H_NOFILES |
				 WIRE_H_NOSEATS) },
};
const struct wire_form wire_leader_form = {
	.size = sizeof(struct wire_leader),
	.items = { ITEM(STRING, wire_leader, uri_len, 1, WIRE_LEADER_URI_MAX) },
	.check = wire_check_leader,
};

static const struct wire_form challenge = {
	.size = sizeof(struct wire_challenge),
};
static const struct wire_form challenge_rep = {
	.size = sizeof(struct wire_challenge_rep),
	.least = WIRE_CHALLENGE_REP_V1,
	.fields = { ID(wire_challenge_rep, fsid),
		    MAX(wire_challenge_rep, mode, AUTH_MODES - 1),
		    BITS(wire_challenge_rep, flags,
			 WIRE_CH_KERNEL | WIRE_CH_SEAL | WIRE_CH_SEAL_IN_PLACE |
				 WIRE_CH_ENCRYPT),
		    ZERO(wire_challenge_rep, zero) },
};

static const struct wire_form auth = {
	.size = sizeof(struct wire_auth),
	.fields = { MAX(wire_auth, kind, AUTH_MODES - 1) },
	.items = { ITEM(ARRAY, wire_auth, len, 1, WIRE_WORD_MAX) },
};
static const struct wire_form auth_rep = {
	.size = sizeof(struct wire_auth_rep),
	.fields = { ID(wire_auth_rep, life), SIZE(wire_auth_rep, life) },
	.items = { ITEM(ARRAY, wire_auth_rep, ticket_len, 1, WIRE_TICKET_MAX),
		   ITEM(ARRAY, wire_auth_rep, word_len, 1, WIRE_WORD_MAX) },
	.check = wire_check_auth_rep,
};

static const struct wire_form ping_rep = {
	.size = sizeof(struct wire_ping_rep),
	.fields = { ZERO(wire_ping_rep, zero) },
	.items = { ITEM(STRING, wire_ping_rep, version_len, 1, WIRE_NAME_MAX) },
};

static const struct wire_form metrics = {
	.size = sizeof(struct wire_metrics),
	.fields = { BITS(wire_metrics, groups,
			 WIRE_MG_OPS | WIRE_MG_USERS | WIRE_MG_FILES |
				 WIRE_MG_INSIDE) },
	.items = { ITEM(ARRAY, wire_metrics, n, sizeof(le64),
			WIRE_METRIC_FILES) },
};
static const struct wire_form metrics_rep = {
	.size = sizeof(struct wire_metrics_rep),
	.fields = { ZERO(wire_metrics_rep, zero) },
	.items = { ITEM(ARRAY, wire_metrics_rep, len, 1, WIRE_BODY_MAX) },
	.check = wire_check_metrics_rep,
};

static const struct wire_form sessions = {
	.size = sizeof(struct wire_sessions),
};
static const struct wire_form sessions_rep = {
	.size = sizeof(struct wire_sessions_rep),
	.fields = { MAX(wire_sessions_rep, more, 1) },
	.items = { ITEM(ARRAY, wire_sessions_rep, n,
			sizeof(struct wire_session), WIRE_SESSIONS_MAX) },
	.check = wire_check_sessions_rep,
};

static const struct wire_form evict = {
	.size = sizeof(struct wire_evict),
	.fields = { MAX(wire_evict, by, WIRE_EV_END - 1) },
	.items = { ITEM(STRING, wire_evict, len, 1, WIRE_EV_TEXT) },
	.check = wire_check_evict,
};
static const struct wire_form evict_rep = {
	.size = sizeof(struct wire_evict_rep),
	.fields = { SIZE(wire_evict_rep, until_ns),
		    ZERO(wire_evict_rep, zero) },
	.items = { ITEM(ARRAY, wire_evict_rep, niods, sizeof(le32),
			WIRE_IOD_MAX) },
};

static const struct wire_form fast_rep = {
	.size = sizeof(struct wire_fast_rep),
	.fields = { ZERO(wire_fast_rep, zero) },
};

static const struct wire_form carry_rep = {
	.size = sizeof(struct wire_carry_rep),
	.fields = { MAX(wire_carry_rep, ticket, WIRE_CARRY_MAX - 1),
		    ZERO(wire_carry_rep, zero) },
	.check = wire_check_carry,
};

static const struct wire_form statfs_rep = {
	.size = sizeof(struct wire_statfs_rep),
};

static const struct wire_form mount_rep = {
	.size = sizeof(struct wire_mount_rep),
	.fields = { ID(wire_mount_rep, root),
		    MAX(wire_mount_rep, niods, WIRE_IOD_MAX) },
	.items = { ITEM(ARRAY, wire_mount_rep, uris_len, 1, WIRE_URIS_MAX) },
	.check = wire_check_mount_rep,
};

static const struct wire_form copysets = {
	.size = sizeof(struct wire_copysets),
	.fields = { MAX(wire_copysets, from, WIRE_COPYSET_END),
		    ZERO(wire_copysets, zero) },
};
static const struct wire_form copysets_rep = {
	.size = sizeof(struct wire_copysets_rep),
	.fields = { MAX(wire_copysets_rep, next, WIRE_COPYSET_END),
		    ZERO(wire_copysets_rep, zero) },
	.items = { ITEM(ARRAY, wire_copysets_rep, rings,
			sizeof(struct wire_ring), WIRE_RINGS_MAX),
		   ITEM(ARRAY, wire_copysets_rep, n,
			sizeof(struct wire_copyset), WIRE_COPYSETS_MAX) },
	.check = wire_check_copysets_rep,
};

static const struct wire_form path = {
	.size = sizeof(struct wire_path),
	.fields = { BITS(wire_path, flags, WIRE_P_NOFOLLOW | WIRE_P_EVER) },
	.items = { PATH(wire_path, path_len) },
};

#define ATTR_FIELDS(type)                                                      \
	SIZE(type, attr.size),                                                 \
		BITS(type, attr.flags,                                         \
		     WIRE_A_SIZE | WIRE_A_MSET | WIRE_A_HOLES | WIRE_A_NOACL | \
			     WIRE_A_NOXATTR | WIRE_A_SOLE),                    \
		ZERO(type, attr.zero),                                         \
		MAX(type, attr.dist.ring, WIRE_RINGS_MAX - 1)

static const struct wire_form attr_rep = {
	.size = sizeof(struct wire_attr_rep),
	.fields = { ATTR_FIELDS(wire_attr_rep) },
};

const struct wire_form wire_redirect_form = {
	.size = sizeof(struct wire_path_rep),
	.fields = { MAX(wire_path_rep, which, 1) },
	.items = { PATH(wire_path_rep, path_len) },
	.check = wire_check_path_rep,
};

#define O_BITS                                                                 \
	(WIRE_O_READ | WIRE_O_WRITE | WIRE_O_CREAT | WIRE_O_EXCL |             \
	 WIRE_O_TRUNC | WIRE_O_APPEND | WIRE_O_NOFOLLOW | WIRE_O_DIRECTORY |   \
	 WIRE_O_HOLD)

static const struct wire_form open_req = {
	.size = sizeof(struct wire_open),
	.fields = { BITS(wire_open, flags, O_BITS),
		    BITS(wire_open, mode, MODE_BITS | UMASK_BITS),
		    ZERO(wire_open, dist.ring), ZERO(wire_open, zero) },
	.items = { PATH(wire_open, path_len) },
};
static const struct wire_form open_rep = {
	.size = sizeof(struct wire_open_rep),
	.fields = { ATTR_FIELDS(wire_open_rep) },
};

static const struct wire_form release = {
	.size = sizeof(struct wire_release),
	.fields = { SIZE(wire_release, end),
		    BITS(wire_release, flags,
			 WIRE_R_WROTE | WIRE_R_MTIME | WIRE_R_DOUBT |
				 WIRE_R_READ | WIRE_R_SPACE),
		    ZERO(wire_release, zero) },
};

static const struct wire_form grant_req = {
	.size = sizeof(struct wire_grant),
	.fields = { ID(wire_grant, handle), ID(wire_grant, open),
		    BITS(wire_grant, flags, WIRE_O_READ | WIRE_O_WRITE),
		    ZERO(wire_grant, zero) },
};
static const struct wire_form grant_rep = {
	.size = sizeof(struct wire_grant_rep),
};
static const struct wire_form redeem_req = {
	.size = sizeof(struct wire_redeem),
	.fields = { BITS(wire_redeem, flags,
			 WIRE_O_READ | WIRE_O_WRITE | WIRE_O_APPEND),
		    ZERO(wire_redeem, zero) },
};

static const struct wire_form adopt_req = {
	.size = sizeof(struct wire_adopt),
	.fields = { ID(wire_adopt, session), ID(wire_adopt, handle),
		    BITS(wire_adopt, flags, WIRE_AD_PROCESS),
		    ZERO(wire_adopt, zero) },
};
static const struct wire_form adopt_rep = {
	.size = sizeof(struct wire_adopt_rep),
	.fields = { BITS(wire_adopt_rep, flags, WIRE_AD_OPEN | WIRE_AD_MORE),
		    ZERO(wire_adopt_rep, zero) },
};
static const struct wire_form adopted = {
	.size = sizeof(struct wire_adopted),
	.fields = { ID(wire_adopted, session) },
};

static const struct wire_form groups = {
	.size = sizeof(struct wire_groups),
	.fields = { ID(wire_groups, list),
		    MAX(wire_groups, total, WIRE_GROUPS_ALL),
		    ZERO(wire_groups, zero) },
	.items = { ITEM(ARRAY, wire_groups, n, 4, WIRE_GROUPS_PART) },
	.check = wire_check_groups,
};

static const struct wire_form declare = {
	.size = sizeof(struct wire_declare),
	.fields = { BITS(wire_declare, flags, WIRE_DC_ALL) },
	.items = { ITEM(ARRAY, wire_declare, n, sizeof(struct wire_hold),
			WIRE_HOLD_MAX) },
	.check = wire_check_declare,
};

#define S_BITS                                                                 \
	(WIRE_S_MODE | WIRE_S_UID | WIRE_S_GID | WIRE_S_ATIME | WIRE_S_MTIME | \
	 WIRE_S_ATIME_NOW | WIRE_S_MTIME_NOW | WIRE_S_KILL)

static const struct wire_form setattr = {
	.size = sizeof(struct wire_setattr),
	.fields = { BITS(wire_setattr, valid, S_BITS),
		    BITS(wire_setattr, mode, MODE_BITS),
		    BITS(wire_setattr, flags, WIRE_P_NOFOLLOW) },
	.items = { PATH(wire_setattr, path_len) },
};

static const struct wire_form mkdir_req = {
	.size = sizeof(struct wire_mkdir),
	.fields = { BITS(wire_mkdir, mode, MODE_BITS | UMASK_BITS) },
	.items = { PATH(wire_mkdir, path_len) },
};

static const struct wire_form two = {
	.size = sizeof(struct wire_two),
	.items = { PATH(wire_two, path1_len), PATH(wire_two, path2_len) },
};

static const struct wire_form link2_req = {
	.size = sizeof(struct wire_link2),
	.fields = { BITS(wire_link2, flags, WIRE_LN_SYMBOLIC),
		    ZERO(wire_link2, zero) },
	.items = { PATH(wire_link2, path1_len), PATH(wire_link2, path2_len) },
};

static const struct wire_form rename_req = {
	.size = sizeof(struct wire_rename),
	.fields = { BITS(wire_rename, flags,
			 WIRE_RN_NOREPLACE | WIRE_RN_EXCHANGE),
		    ZERO(wire_rename, zero) },
	.items = { PATH(wire_rename, path1_len), PATH(wire_rename, path2_len) },
	.check = wire_check_rename,
};

static const struct wire_form mknod_req = {
	.size = sizeof(struct wire_mknod),
	.fields = { BITS(wire_mknod, mode, 0177777 | UMASK_BITS) },
	.items = { PATH(wire_mknod, path_len) },
	.check = wire_check_mknod,
};

static const struct wire_form setxattr_req = {
	.size = sizeof(struct wire_setxattr),
	.fields = { BITS(wire_setxattr, flags,
			 WIRE_X_CREATE | WIRE_X_REPLACE) },
	.items = { PATH(wire_setxattr, path_len),
		   ITEM(STRING, wire_setxattr, name_len, 1, WIRE_NAME_MAX),
		   ITEM(ARRAY, wire_setxattr, value_len, 1, WIRE_XATTR_MAX) },
};
static const struct wire_form getxattr_req = {
	.size = sizeof(struct wire_getxattr),
	.items = { PATH(wire_getxattr, path_len),
		   ITEM(STRING, wire_getxattr, name_len, 1, WIRE_NAME_MAX) },
};
static const struct wire_form xattr_rep = {
	.size = sizeof(struct wire_xattr_rep),
	.fields = { ZERO(wire_xattr_rep, zero) },
	.items = { ITEM(ARRAY, wire_xattr_rep, len, 1, WIRE_XATTR_LIST_MAX) },
};

static const struct wire_form readdir_req = {
	.size = sizeof(struct wire_readdir),
	.check = wire_check_readdir,
};
static const struct wire_form readdir_rep = {
	.size = sizeof(struct wire_readdir_rep),
	.fields = { MAX(wire_readdir_rep, eof, 1),
		    ZERO(wire_readdir_rep, zero) },
};

static const struct wire_form truncate_req = {
	.size = sizeof(struct wire_truncate),
	.fields = { SIZE(wire_truncate, size), ZERO(wire_truncate, zero) },
	.items = { PATH(wire_truncate, path_len) },
};

static const struct wire_form access_req = {
	.size = sizeof(struct wire_access),
	.fields = { BITS(wire_access, mask, 07) },
	.items = { PATH(wire_access, path_len) },
};

static const struct wire_form append = {
	.size = sizeof(struct wire_append),
	.fields = { SIZE(wire_append, len) },
};
static const struct wire_form lock = {
	.size = sizeof(struct wire_lock),
	.fields = { SIZE(wire_lock, start), SIZE(wire_lock, end),
		    MAX(wire_lock, type, WIRE_L_EXCLUSIVE),
		    BITS(wire_lock, flags,
			 WIRE_L_WAIT | WIRE_L_TEST | WIRE_L_WHOLE |
				 WIRE_L_CANCEL) },
	.check = wire_check_lock,
};
static const struct wire_form lock_rep = {
	.size = sizeof(struct wire_lock_rep),
	.fields = { SIZE(wire_lock_rep, start), SIZE(wire_lock_rep, end),
		    MAX(wire_lock_rep, type, WIRE_L_EXCLUSIVE),
		    ZERO(wire_lock_rep, zero) },
};

static const struct wire_form lock_any = {
	.size = sizeof(struct wire_lock_any),
	.items = { ITEM(ARRAY, wire_lock_any, n, sizeof(struct wire_lock),
			WIRE_LOCK_ANY_MAX) },
	.check = wire_check_lock_any,
};
static const struct wire_form lock_any_rep = {
	.size = sizeof(struct wire_lock_any_rep),
	.fields = { MAX(wire_lock_any_rep, which, WIRE_LOCK_ANY_MAX - 1),
		    ZERO(wire_lock_any_rep, zero) },
};

static const struct wire_form append_rep = {
	.size = sizeof(struct wire_append_rep),
	.fields = { SIZE(wire_append_rep, offset) },
};

#define IO_FIELDS SIZE(wire_io, total), BITS(wire_io, flags, WIRE_IO_SYNC)
#define IO_ITEMS                                                               \
	ITEM(ARRAY, wire_io, nreg, sizeof(struct wire_region),                 \
	     WIRE_REGION_MAX),                                                 \
		ITEM(ARRAY, wire_io, nmem, sizeof(struct wire_mem),            \
		     WIRE_MEM_MAX)
#define IO_REP_FIELDS                                                          \
	SIZE(wire_io_rep, done), SIZE(wire_io_rep, size),                      \
		ZERO(wire_io_rep, zero)

static const struct wire_form read_req = {
	.size = sizeof(struct wire_io),
	.fields = { IO_FIELDS, MAX(wire_io, data_len, 0) },
	.items = { IO_ITEMS },
	.check = wire_check_read,
};
static const struct wire_form read_rep = {
	.size = sizeof(struct wire_io_rep),
	.fields = { IO_REP_FIELDS },
	.items = { ITEM(DATA, wire_io_rep, data_len, 1, WIRE_INLINE_MAX) },
	.check = wire_check_read_rep,
};
static const struct wire_form write_req = {
	.size = sizeof(struct wire_io),
	.fields = { IO_FIELDS },
	.items = { IO_ITEMS,
		   ITEM(DATA, wire_io, data_len, 1, WIRE_INLINE_MAX) },
	.check = wire_check_write,
};
static const struct wire_form write_rep = {
	.size = sizeof(struct wire_io_rep),
	.fields = { IO_REP_FIELDS, MAX(wire_io_rep, data_len, 0) },
};

#define LIST_FIELDS                                                            \
	SIZE(wire_list, io.total), BITS(wire_list, io.flags, WIRE_IO_SYNC),    \
		SIZE(wire_list, skip), ZERO(wire_list, dist.ring)
#define LIST_ITEMS                                                             \
	ITEM(ARRAY, wire_list, io.nreg, sizeof(struct wire_vec),               \
	     WIRE_VEC_MAX),                                                    \
		ITEM(ARRAY, wire_list, io.nmem, sizeof(struct wire_mem),       \
		     WIRE_MEM_MAX)

static const struct wire_form read_list = {
	.size = sizeof(struct wire_list),
	.fields = { LIST_FIELDS, MAX(wire_list, io.data_len, 0) },
	.items = { LIST_ITEMS },
	.check = wire_check_read_list,
};
static const struct wire_form write_list = {
	.size = sizeof(struct wire_list),
	.fields = { LIST_FIELDS },
	.items = { LIST_ITEMS,
		   ITEM(DATA, wire_list, io.data_len, 1, WIRE_INLINE_MAX) },
	.check = wire_check_write_list,
};

static const struct wire_form resize = {
	.size = sizeof(struct wire_resize),
	.fields = { SIZE(wire_resize, size),
		    BITS(wire_resize, flags, WIRE_RZ_AGAIN),
		    ZERO(wire_resize, zero) },
};

static const struct wire_form fallocate_req = {
	.size = sizeof(struct wire_fallocate),
	.fields = { BITS(wire_fallocate, flags,
			 WIRE_FA_KEEP | WIRE_FA_PUNCH | WIRE_FA_ZERO),
		    ZERO(wire_fallocate, zero) },
	.check = wire_check_fallocate,
};

static const struct wire_form copy_req = {
	.size = sizeof(struct wire_copy),
	.fields = { BITS(wire_copy, flags, WIRE_IO_SYNC) },
	.check = wire_check_copy,
};

static const struct wire_form seek_req = {
	.size = sizeof(struct wire_seek),
	.fields = { SIZE(wire_seek, off), BITS(wire_seek, flags, WIRE_SK_HOLE),
		    ZERO(wire_seek, zero) },
};
static const struct wire_form seek_rep = {
	.size = sizeof(struct wire_seek_rep),
	.fields = { SIZE(wire_seek_rep, off) },
};

static const struct wire_form borrow_req = {
	.size = sizeof(struct wire_borrow),
	.fields = { ID(wire_borrow, handle),
		    BITS(wire_borrow, flags, WIRE_B_WRITE | WIRE_B_PAGES),
		    ZERO(wire_borrow, zero) },
};
static const struct wire_form borrow_rep = {
	.size = sizeof(struct wire_borrow_rep),
	.fields = { MAX(wire_borrow_rep, index, LOAN_PAGE_OBJECTS - 1),
		    MAX(wire_borrow_rep, stripe, LOAN_PAGE_STRIPES - 1),
		    BITS(wire_borrow_rep, flags,
			 WIRE_B_WRITE | WIRE_B_WAITS | WIRE_B_NONE),
		    ZERO(wire_borrow_rep, zero) },
};

static const struct wire_form counter_req = {
	.size = sizeof(struct wire_counter),
	.fields = { ID(wire_counter, handle),
		    MAX(wire_counter, number, WIRE_COUNTERS - 1),
		    BITS(wire_counter, flags, WIRE_CT_SET) },
};
static const struct wire_form counter_rep = {
	.size = sizeof(struct wire_counter_rep),
};

static const struct wire_form place_req = {
	.size = sizeof(struct wire_place),
	.fields = { ID(wire_place, handle), ID(wire_place, step),
		    MAX(wire_place, number, WIRE_COUNTERS - 1),
		    BITS(wire_place, flags, WIRE_PL_RAISE) },
};
static const struct wire_form place_rep = {
	.size = sizeof(struct wire_place_rep),
	.fields = { ZERO(wire_place_rep, zero) },
};

static const struct wire_form share_rep = {
	.size = sizeof(struct wire_share_rep),
	.fields = { ID(wire_share_rep, addr), ID(wire_share_rep, places),
		    ZERO(wire_share_rep, zero) },
	.check = wire_check_share_rep,
};

static const struct wire_form objects = {
	.size = sizeof(struct wire_objects),
	.fields = { ZERO(wire_objects, zero) },
	.items = { ITEM(ARRAY, wire_objects, n, 8, WIRE_HANDLE_MAX) },
};
static const struct wire_form remove_req = {
	.size = sizeof(struct wire_remove),
	.items = { ITEM(ARRAY, wire_remove, n, sizeof(le64), WIRE_HANDLE_MAX),
		   ITEM(ARRAY, wire_remove, copysets, sizeof(le32),
			WIRE_HANDLE_MAX) },
	.check = wire_check_remove,
};
static const struct wire_form getsize_rep = {
	.size = sizeof(struct wire_getsize_rep),
	.items = { ITEM(ARRAY, wire_getsize_rep, n, sizeof(struct wire_objsize),
			WIRE_HANDLE_MAX),
		   ITEM(ARRAY, wire_getsize_rep, places,
			sizeof(struct wire_end_place), 1) },
	.check = wire_check_getsize_rep,
};

static const struct wire_form fence = {
	.size = sizeof(struct wire_fence),
	.fields = { BITS(wire_fence, flags, WIRE_FN_MEMORY | WIRE_FN_EVICT) },
	.items = { ITEM(ARRAY, wire_fence, n, 8, WIRE_FENCE_MAX) },
	.check = wire_check_fence,
};

static const struct wire_form order_req = {
	.size = sizeof(struct wire_order),
	.fields = { ID(wire_order, session), SIZE(wire_order, io.total),
		    MAX(wire_order, kind, WIRE_ORDER_END - 1),
		    BITS(wire_order, flags,
			 WIRE_FA_KEEP | WIRE_FA_PUNCH | WIRE_FA_ZERO),
		    ZERO(wire_order, zero) },
	.items = { ITEM(ARRAY, wire_order, io.nreg, sizeof(struct wire_region),
			WIRE_ORDER_REGIONS),
		   ITEM(ARRAY, wire_order, io.nmem, sizeof(struct wire_mem),
			WIRE_MEM_MAX),
		   ITEM(DATA, wire_order, io.data_len, 1, WIRE_INLINE_MAX) },
	.check = wire_check_order,
};

static const struct wire_form assign = {
	.size = sizeof(struct wire_assign),
	.fields = { ID(wire_assign, revision),
		    BITS(wire_assign, flags, WIRE_AS_LAST),
		    ZERO(wire_assign, zero) },
	.items = { ITEM(ARRAY, wire_assign, n, sizeof(struct wire_copyset),
			WIRE_COPYSETS_MAX),
		   ITEM(ARRAY, wire_assign, ended, sizeof(struct wire_ended),
			WIRE_ENDED_MAX) },
	.check = wire_check_assign,
};

static const struct wire_form promise = {
	.size = sizeof(struct wire_promise),
	.fields = { ID(wire_promise, process), ID(wire_promise, lease),
		    SIZE(wire_promise, lease),
		    MAX(wire_promise, iod, WIRE_IOD_MAX - 1) },
	.items = { ITEM(ARRAY, wire_promise, n, sizeof(struct wire_promised),
			WIRE_PROMISES_MAX) },
	.check = wire_check_promise,
};

static const struct wire_form outcome = {
	.size = sizeof(struct wire_outcome),
	.fields = { ID(wire_outcome, seq),
		    MAX(wire_outcome, origin, WIRE_IOD_MAX - 1),
		    MAX(wire_outcome, slot, UINT16_MAX) },
	.check = wire_check_outcome,
};
static const struct wire_form outcome_rep = {
	.size = sizeof(struct wire_outcome_rep),
	.fields = { MAX(wire_outcome_rep, state, WIRE_OC_END - 1),
		    ZERO(wire_outcome_rep, zero) },
};

static const struct wire_form lease = {
	.size = sizeof(struct wire_lease),
	.least = WIRE_LEASE_V2,
	.fields = { ID(wire_lease, until), ID(wire_lease, clock),
		    ID(wire_lease, since) },
};

static const struct wire_form walk = {
	.size = sizeof(struct wire_walk),
	.check = wire_check_walk,
};
static const struct wire_form walk_rep = {
	.size = sizeof(struct wire_walk_rep),
	.items = { ITEM(ARRAY, wire_walk_rep, n, sizeof(le64),
			2 * WIRE_HANDLE_MAX) },
};

static const struct wire_form claim = {
	.size = sizeof(struct wire_claim),
	.fields = { ID(wire_claim, owner), ID(wire_claim, term),
		    BITS(wire_claim, flags, WIRE_C_FRESH | WIRE_C_ASK),
		    ZERO(wire_claim, zero) },
};
static const struct wire_form claim_rep = {
	.size = sizeof(struct wire_claim_rep),
	.least = WIRE_CLAIM_REP_SHORT,
	.fields = { MAX(wire_claim_rep, verdict, WIRE_FOREIGN),
		    ZERO(wire_claim_rep, zero) },
};

static const struct wire_form disk_rep = {
	.size = sizeof(struct wire_disk_rep),
};

static const struct wire_form raft = {
	.size = sizeof(struct wire_raft),
	.fields = { ID(wire_raft, group), ID(wire_raft, from),
		    ID(wire_raft, to), MAX(wire_raft, len, WIRE_RAFT_MAX),
		    ZERO(wire_raft, zero) },
	.items = { ITEM(ARRAY, wire_raft, nmem, sizeof(struct wire_mem),
			WIRE_RAFT_MEM),
		   ITEM(DATA, wire_raft, data_len, 1, WIRE_RAFT_INLINE) },
	.check = wire_check_raft,
};

static const struct wire_form raft_rep = {
	.size = sizeof(struct wire_raft_rep),
	.optional = true,
	.fields = { ZERO(wire_raft_rep, zero) },
	.items = { ITEM(DATA, wire_raft_rep, data_len, 1, WIRE_RAFT_INLINE) },
};

static const struct wire_form fetch = {
	.size = sizeof(struct wire_fetch),
	.fields = { ID(wire_fetch, group), ID(wire_fetch, member),
		    SIZE(wire_fetch, offset),
		    MAX(wire_fetch, len, WIRE_FETCH_MAX) },
	.items = { ITEM(ARRAY, wire_fetch, nmem, sizeof(struct wire_mem),
			WIRE_FETCH_MEM) },
	.check = wire_check_fetch,
};
static const struct wire_form fetch_rep = {
	.size = sizeof(struct wire_fetch_rep),
	.fields = { MAX(wire_fetch_rep, len, WIRE_FETCH_MAX),
		    MAX(wire_fetch_rep, end, 1) },
};

static const struct wire_form managers = {
	.size = sizeof(struct wire_managers),
	.fields = { MAX(wire_managers, cmd, WIRE_MA_END - 1) },
	.items = { ITEM(STRING, wire_managers, uri_len, 1,
			WIRE_LEADER_URI_MAX) },
	.check = wire_check_managers,
};
static const struct wire_form managers_rep = {
	.size = sizeof(struct wire_managers_rep),
	.fields = { MAX(wire_managers_rep, role, WIRE_MR_END - 1),
		    BITS(wire_managers_rep, flags, WIRE_MS_ALL),
		    ZERO(wire_managers_rep, zero) },
	.items = { ITEM(ARRAY, wire_managers_rep, n, sizeof(struct wire_member),
			WIRE_MEMBERS_MAX) },
	.check = wire_check_managers_rep,
};

#define OP(op, req, rep) [WIRE_##op] = { #op, &req, &rep, false }
#define PATH_OP(op, req, rep) [WIRE_##op] = { #op, &req, &rep, true }

static const struct wire_op_desc ops[] = {
	OP(HELLO, hello, hello_rep),
	OP(PING, empty, ping_rep),
	OP(STATFS, empty, statfs_rep),
	OP(BYE, empty, empty),
	OP(FAST, empty, fast_rep),
	OP(CARRY, empty, carry_rep),
	OP(METRICS, metrics, metrics_rep),
	OP(CHALLENGE, challenge, challenge_rep),
	OP(AUTH, auth, auth_rep),
	OP(MOUNT, empty, mount_rep),
	OP(COPYSETS, copysets, copysets_rep),
	PATH_OP(GETATTR, path, attr_rep),
	PATH_OP(OPEN, open_req, open_rep),
	OP(RELEASE, release, empty),
	OP(GRANT, grant_req, grant_rep),
	OP(REDEEM, redeem_req, open_rep),
	OP(DECLARE, declare, empty),
	OP(RENEW, empty, empty),
	OP(SESSIONS, sessions, sessions_rep),
	OP(EVICT, evict, evict_rep),
	OP(GROUPS, groups, empty),
	OP(RAFT, raft, raft_rep),
	OP(MANAGERS, managers, managers_rep),
	OP(FETCH, fetch, fetch_rep),
	OP(ADOPT, adopt_req, adopt_rep),
	OP(ADOPTED, adopted, empty),
	PATH_OP(SETATTR, setattr, attr_rep),
	PATH_OP(MKDIR, mkdir_req, attr_rep),
	PATH_OP(RMDIR, path, empty),
	PATH_OP(UNLINK, path, empty),
	PATH_OP(UNLINK2, path, attr_rep),
	PATH_OP(RENAME, two, empty),
	PATH_OP(RENAME2, rename_req, empty),
	PATH_OP(MKNOD, mknod_req, attr_rep),
	PATH_OP(SETXATTR, setxattr_req, empty),
	PATH_OP(GETXATTR, getxattr_req, xattr_rep),
	PATH_OP(LISTXATTR, path, xattr_rep),
	PATH_OP(REMOVEXATTR, getxattr_req, empty),
	PATH_OP(SYMLINK, two, empty),
	PATH_OP(READLINK, path, wire_redirect_form),
	PATH_OP(LINK, two, empty),
	PATH_OP(LINK2, link2_req, attr_rep),
	OP(READDIR, readdir_req, readdir_rep),
	OP(READDIRPLUS, readdir_req, readdir_rep),
	PATH_OP(TRUNCATE, truncate_req, empty),
	PATH_OP(ACCESS, access_req, empty),
	OP(APPEND, append, append_rep),
	OP(LOCK, lock, lock_rep),
	OP(LOCK_ANY, lock_any, lock_any_rep),
	OP(READ, read_req, read_rep),
	OP(WRITE, write_req, write_rep),
	OP(RESIZE, resize, empty),
	OP(SYNC, objects, empty),
	OP(GETSIZE, objects, getsize_rep),
	OP(REMOVE, remove_req, empty),
	OP(FENCE, fence, empty),
	OP(READ_LIST, read_list, read_rep),
	OP(WRITE_LIST, write_list, write_rep),
	OP(OBJECTS, walk, walk_rep),
	OP(CLAIM, claim, claim_rep),
	OP(DISK, empty, disk_rep),
	OP(LEASE, lease, empty),
	OP(FALLOCATE, fallocate_req, empty),
	OP(SEEK, seek_req, seek_rep),
	OP(COPY, copy_req, empty),
	OP(BORROW, borrow_req, borrow_rep),
	OP(COUNTER, counter_req, counter_rep),
	OP(PLACE, place_req, place_rep),
	OP(SHARE, empty, share_rep),
	OP(ORDER, order_req, empty),
	OP(PROMISE, promise, promise),
	OP(ASSIGN, assign, empty),
	OP(OUTCOME, outcome, outcome_rep),
};

_Static_assert(sizeof(ops) / sizeof(ops[0]) <= WIRE_OP_END, "WIRE_OP_END");

const struct wire_op_desc *wire_op_find(unsigned int op)
{
	if (op >= sizeof(ops) / sizeof(ops[0]) || !ops[op].name)
		return NULL;
	return &ops[op];
}

const char *wire_op_name(unsigned int op)
{
	const struct wire_op_desc *desc = wire_op_find(op);

	return desc ? desc->name : "op?";
}
