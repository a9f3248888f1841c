/* SPDX-License-Identifier: BSD-2-Clause */
/* test_wire_fields.c - each field and count has its limit, which is named when it is exceeded. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/wire_samples.h"

static union {
	uint8_t bytes[SAMPLE_MAX];
	struct wire_hdr hdr;
	uint64_t align;
} m;

static const struct wire_sample *build(const char *name, size_t *len)
{
	const struct wire_sample *s = wire_sample_find(name);

	ck_assert_msg(s != NULL, "no sample '%s'", name);
	*len = wire_sample_build(s, &m);
	return s;
}

static int parse(size_t len, const char **why)
{
	struct wire_msg msg;

	*why = "(no reason)";
	return wire_parse(&m, len, &msg, why);
}

/* One field of a valid message, set to an invalid value. */
struct bad {
	const char *sample;
	size_t off;
	unsigned int width;
	uint64_t val;
	int rc;
	const char *why;
};

#define HDR(sample, field, val, rc, why)                                       \
	{                                                                      \
		sample, offsetof(struct wire_hdr, field),                      \
			sizeof(((struct wire_hdr *)0)->field), val, rc, why    \
	}
#define BODY(sample, type, field, val, why)                                    \
	{                                                                      \
		sample,                                                        \
			sizeof(struct wire_hdr) +                              \
				offsetof(struct type, field),                  \
			sizeof(((struct type *)0)->field), val, -EPROTO, why   \
	}
#define TAIL(sample, body, i, type, field, val, why)                           \
	{                                                                      \
		sample,                                                        \
			sizeof(struct wire_hdr) + sizeof(struct body) +        \
				(i) * sizeof(struct type) +                    \
				offsetof(struct type, field),                  \
			sizeof(((struct type *)0)->field), val, -EPROTO, why   \
	}

#define SECOND(sample, type, field, val, why)                                  \
	{                                                                      \
		sample,                                                        \
			sizeof(struct wire_hdr) +                              \
				sizeof(struct wire_getsize_rep) +              \
				sizeof(struct wire_objsize) +                  \
				offsetof(struct type, field),                  \
			sizeof(((struct type *)0)->field), val, -EPROTO, why   \
	}

/* The first row has two buckets at 56 and its text at 88; the second row is at 104. */
#define METRIC(off, width, val, why)                                           \
	{                                                                      \
		"metrics reply",                                               \
			sizeof(struct wire_hdr) +                              \
				sizeof(struct wire_metrics_rep) + (off),       \
			width, val, -EPROTO, why                               \
	}
#define ROW(at, field, val, why)                                               \
	METRIC((at) + offsetof(struct wire_metric, field),                     \
	       sizeof(((struct wire_metric *)0)->field), val, why)

#define RING(i, field, val, why)                                               \
	TAIL("copysets reply", wire_copysets_rep, i, wire_ring, field, val, why)
/* At the offset after two rings. */
#define COPYSET(i, field, val, why)                                            \
	TAIL("copysets reply", wire_copysets_rep, (i) + 1, wire_copyset,       \
	     field, val, why)

#define ASSIGNED(i, field, val, why)                                           \
	TAIL("assign", wire_assign, i, wire_copyset, field, val, why)

/* At the offset after two rows. */
#define ENDED(field, val, why)                                                 \
	TAIL("assign", wire_assign, 4, wire_ended, field, val, why)

/* At the offset after three handles. */
#define REMOVED(i, val, why)                                                   \
	{                                                                      \
		"remove, copysets",                                            \
			sizeof(struct wire_hdr) + sizeof(struct wire_remove) + \
				3 * sizeof(le64) + (i) * sizeof(le32),         \
			sizeof(le32), val, -EPROTO, why                        \
	}

#define PROMISED(i, field, val, why)                                           \
	TAIL("promise", wire_promise, i, wire_promised, field, val, why)

/* At the offset after two groups and a name of six bytes. */
#define JOB(off, width, val, why)                                              \
	{                                                                      \
		"hello, job",                                                  \
			sizeof(struct wire_hdr) + sizeof(struct wire_hello) +  \
				16 + (off),                                    \
			width, val, -EPROTO, why                               \
	}

static const struct bad bad[] = {
	HDR("ping", magic, 1, -EPROTO, "magic: not this protocol"),
	HDR("ping", version, 1, -EPROTONOSUPPORT,
	    "version: another protocol version"),
	HDR("ping", op, 0, -ENOSYS, "wire_hdr.op: unknown operation"),
	HDR("ping", op, 15, -ENOSYS, "wire_hdr.op: unknown operation"),
	HDR("ping", op, 127, -ENOSYS, "wire_hdr.op: unknown operation"),
	HDR("ping", op, 65535, -ENOSYS, "wire_hdr.op: unknown operation"),
	HDR("ping", op, WIRE_FENCE, -EPROTO, "length: shorter than the body"),
	HDR("ping", len, 47, -EPROTO, "wire_hdr.len: not the length received"),
	HDR("hello", flags, WIRE_F_WAITS, -EPROTO,
	    "wire_hdr.flags: WAITS is not for HELLO"),
	HDR("ping", flags, WIRE_F_REPLY | WIRE_F_WAITS, -EPROTO,
	    "wire_hdr.flags: unknown bits"),
	HDR("ping", flags, WIRE_F_CAPS, -EPROTO,
	    "wire_hdr.flags: CAPS where none belong"),
	HDR("getattr reply", flags, WIRE_F_REPLY | WIRE_F_CAPS, -EPROTO,
	    "wire_hdr.flags: CAPS where none belong"),
	HDR("seek", flags, WIRE_F_CAPS, -EPROTO,
	    "length: shorter than wire_caps"),
	BODY("renew", wire_caps, n, 0, "wire_caps.n: zero, or too many"),
	BODY("renew", wire_caps, n, 2, "length: shorter than the capabilities"),
	BODY("renew", wire_caps, n, WIRE_CAPS_MAX + 1,
	     "wire_caps.n: zero, or too many"),
	BODY("renew", wire_caps, life, 1, "wire_caps.life: in a request"),
	HDR("ping", flags, WIRE_F_APART, -EPROTO,
	    "wire_hdr.flags: APART is for HELLO"),
	HDR("hello reply", flags, WIRE_F_REPLY | WIRE_F_APART, -EPROTO,
	    "length: shorter than wire_apart"),
	HDR("ping", flags, WIRE_F_WHOLE, -EPROTO,
	    "wire_hdr.flags: no such place"),
	HDR("write inline", flags, WIRE_F_WHOLE, -EPROTO,
	    "wire_hdr.flags: no such place"),
	HDR("ping", flags, WIRE_F_AS, -EPROTO,
	    "wire_hdr.flags: AS is for paths"),
	HDR("ping", flags, WIRE_F_STATE_LOST, -EPROTO,
	    "wire_hdr.flags: STATE_LOST without REPLAY"),
	HDR("ping", flags, WIRE_F_UNSURE, -EPROTO,
	    "wire_hdr.flags: UNSURE is for BYE"),
	HDR("ping", flags, WIRE_F_CARRY, -EPROTO,
	    "wire_hdr.flags: CARRY is for HELLO"),
	HDR("ping", flags, WIRE_F_PROOF, -EPROTO,
	    "wire_hdr.flags: PROOF is for HELLO"),
	HDR("ping", flags, WIRE_F_SEAL, -EPROTO,
	    "wire_hdr.flags: SEAL without PROOF"),
	HDR("hello reply", flags, WIRE_F_REPLY | WIRE_F_SEAL, -EPROTO,
	    "wire_hdr.flags: SEAL without PROOF"),
	BODY("hello refused, sealed", wire_seal, zero, 1,
	     "wire_seal: too short, or zero is not"),
	BODY("hello refused, sealed", wire_seal, mode, 3,
	     "wire_seal.mode: unknown, or none in a reply"),
	BODY("hello refused, sealed", wire_seal, mode, 0,
	     "wire_seal.mode: unknown, or none in a reply"),
	HDR("ping", flags, WIRE_F_TICKET, -EPROTO,
	    "wire_hdr.flags: TICKET without PROOF"),
	HDR("hello", flags, WIRE_F_TICKET, -EPROTO,
	    "wire_hdr.flags: TICKET without PROOF"),
	HDR("hello reply", flags, WIRE_F_REPLY | WIRE_F_TICKET, -EPROTO,
	    "wire_hdr.flags: unknown bits"),
	HDR("ping reply", flags, WIRE_F_REPLY | WIRE_F_PROOF, -EPROTO,
	    "wire_hdr.flags: PROOF is for HELLO"),
	HDR("hello", flags, WIRE_F_PROOF, -EPROTO,
	    "length: shorter than wire_proof"),
	HDR("hello, proved", flags, 0, -EPROTO,
	    "length: bytes after the message"),
	HDR("hello refused, proved", flags, WIRE_F_REPLY, -EPROTO,
	    "length: bytes after the message"),
	HDR("hello refused, leader", status, 13, -EPROTO,
	    "length: bytes after the message"),
	HDR("hello refused, proved", status, WIRE_ENOTLEADER, -EPROTO,
	    "length: shorter than wire_proof"),
	BODY("hello refused, leader", wire_leader, index, WIRE_MGR_MAX,
	     "wire_leader.index: too large"),
	BODY("hello refused, leader", wire_leader, index, WIRE_LEADER_NONE,
	     "wire_leader.uri_len: the address of no leader"),
	BODY("hello refused, leader", wire_leader, uri_len,
	     WIRE_LEADER_URI_MAX + 1, "wire_leader.uri_len"),
	HDR("ping", flags, WIRE_F_JOB, -EPROTO,
	    "wire_hdr.flags: JOB is for HELLO"),
	HDR("hello reply", flags, WIRE_F_REPLY | WIRE_F_JOB, -EPROTO,
	    "wire_hdr.flags: unknown bits"),
	HDR("hello", flags, WIRE_F_JOB, -EPROTO,
	    "wire_job: too short, or zero is not"),
	HDR("hello, job", flags, 0, -EPROTO, "length: bytes after the message"),
	JOB(0, 4, 0, "wire_job.len: zero, or too large"),
	JOB(0, 4, WIRE_JOB_MAX + 1, "wire_job.len: zero, or too large"),
	JOB(0, 4, 9, "wire_job.len: zero, or too large"),
	JOB(0, 4, UINT32_MAX, "wire_job.len: zero, or too large"),
	JOB(4, 4, 1, "wire_job: too short, or zero is not"),
	JOB(8, 1, 0x1b, "wire_job: unprintable characters"),
	JOB(9, 1, '\n', "wire_job: unprintable characters"),
	JOB(10, 1, 0, "wire_job: unprintable characters"),
	JOB(11, 1, 0x7f, "wire_job: unprintable characters"),
	JOB(12, 1, 0xff, "wire_job: unprintable characters"),
	JOB(13, 1, 'x', "padding: not zero"),
	BODY("metrics", wire_metrics, groups, 0x10,
	     "wire_metrics.groups: unknown bits"),
	BODY("metrics", wire_metrics, n, WIRE_METRIC_FILES + 1,
	     "wire_metrics.n"),
	BODY("metrics reply", wire_metrics_rep, zero, 1,
	     "wire_metrics_rep.zero: reserved, not zero"),
	ROW(0, kind, WIRE_MK_END, "wire_metric.kind: too large"),
	ROW(0, labels, WIRE_METRIC_LABELS + 1, "wire_metric.labels: too large"),
	ROW(0, buckets, WIRE_METRIC_BUCKETS + 1,
	    "wire_metric.buckets: too large"),
	ROW(0, text_len, WIRE_METRIC_TEXT + 1,
	    "wire_metric.text_len: too large"),
	ROW(0, labels, 0, "wire_metric.text_len: more after the last string"),
	ROW(0, labels, 2, "wire_metric.text_len: a string has no end"),
	ROW(0, text_len, 12, "wire_metric.text_len: a string has no end"),
	ROW(104, buckets, 1, "wire_metric.buckets: of what has no times"),
	ROW(104, errors, 1, "wire_metric: numbers of what has only one"),
	ROW(104, bytes_in, 1, "wire_metric: numbers of what has only one"),
	ROW(104, bytes_out, 1, "wire_metric: numbers of what has only one"),
	ROW(104, ns, 1, "wire_metric: numbers of what has only one"),
	ROW(104, most, 1, "wire_metric: numbers of what has only one"),
	ROW(104, text_len, 17, "wire_metric: cut off"),
	METRIC(56 + 8, 8, 0, "wire_metric_bucket.n: zero"),
	METRIC(72, 8, 0, "wire_metric_bucket.from: not in order"),
	METRIC(88, 1, 'W', "wire_metric: a name is not of a-z and _"),
	METRIC(88, 1, 0, "wire_metric: a name is not of a-z and _"),
	METRIC(93, 1, '=', "wire_metric: a name is not of a-z and _"),
	METRIC(91, 1, 'x', "wire_metric.text_len: a string has no end"),
	METRIC(90, 2, 0x1b00, "wire_metric: a control character in the help"),
	METRIC(102, 1, 1, "wire_metric: padding is not zero"),
	BODY("hello refused, proved", wire_proof, zero, 1,
	     "wire_proof.zero: reserved, not zero"),
	BODY("hello reply, apart", wire_hello_rep, flags, 0x10,
	     "wire_hello_rep.flags: unknown bits"),
	HDR("hello reply, apart", flags, WIRE_F_REPLY, -EPROTO,
	    "length: bytes after the message"),
	{ "hello reply, apart",
	  sizeof(struct wire_hdr) + sizeof(struct wire_hello_rep) +
		  offsetof(struct wire_apart, zero),
	  4, 1, -EPROTO, "wire_apart.zero: reserved, not zero" },
	HDR("hello reply", flags, WIRE_F_REPLY | WIRE_F_CARRY, -EPROTO,
	    "wire_hdr.flags: unknown bits"),
	HDR("ping", flags, WIRE_F_PLACE, -EPROTO,
	    "wire_hdr.flags: no such place"),
	HDR("write inline", flags, WIRE_F_PLACE, -EPROTO,
	    "wire_hdr.flags: no such place"),
	HDR("ping reply", flags, WIRE_F_REPLY | WIRE_F_PLACE, -EPROTO,
	    "wire_hdr.flags: unknown bits"),
	HDR("ping", flags, WIRE_F_DATA, -EPROTO,
	    "wire_hdr.flags: no such data"),
	HDR("read", flags, WIRE_F_DATA, -EPROTO,
	    "wire_hdr.flags: no such data"),
	HDR("write inline", flags, WIRE_F_DATA, -EPROTO,
	    "wire_hdr.flags: no such data"),
	HDR("ping reply", flags, WIRE_F_REPLY | WIRE_F_DATA, -EPROTO,
	    "wire_hdr.flags: unknown bits"),
	HDR("ping", flags, 3, -EPROTO, "wire_hdr.flags: unknown bits"),
	HDR("ping", flags, WIRE_F_REPLY, -EPROTO,
	    "length: shorter than the body"),
	HDR("ping", session, 0, -EPROTO, "wire_hdr.session: zero"),
	HDR("ping", credits, 1, -EPROTO,
	    "wire_hdr.credits, status: not zero in such a request"),
	HDR("ping", status, 1, -EPROTO,
	    "wire_hdr.credits, status: not zero in such a request"),
	HDR("remove", credits, WIRE_COPYSET_MIN, -EPROTO,
	    "wire_hdr.credits, status: not zero in such a request"),
	HDR("resize", status, 1, -EPROTO,
	    "wire_hdr.credits: not the id of a copyset"),
	HDR("resize, copyset", credits, WIRE_COPYSET_MIN - 1, -EPROTO,
	    "wire_hdr.credits: not the id of a copyset"),
	HDR("resize, copyset", status, 0, -EPROTO,
	    "wire_hdr.status: a copyset without its version"),
	HDR("bye reply", status, 4097, -EPROTO, "wire_hdr.status: unknown"),
	HDR("bye reply", status, WIRE_REDIRECT, -EPROTO,
	    "wire_hdr.status: no path to redirect"),
	HDR("unlink reply", status, WIRE_REDIRECT, -EPROTO,
	    "length: shorter than the body"),
	HDR("getattr reply", status, 5, -EPROTO,
	    "length: bytes after the message"),

	BODY("hello", wire_hello, ngroups, WIRE_GROUPS_MAX + 1,
	     "wire_hello.ngroups"),
	BODY("hello", wire_hello, name_len, WIRE_NAME_MAX + 1,
	     "wire_hello.name_len"),
	BODY("groups", wire_groups, list, 0, "wire_groups.list: zero"),
	BODY("groups", wire_groups, total, WIRE_GROUPS_ALL + 1,
	     "wire_groups.total: too large"),
	BODY("groups", wire_groups, total, 66,
	     "wire_groups.n: zero, or beyond total"),
	BODY("groups", wire_groups, first, 65,
	     "wire_groups.n: zero, or beyond total"),
	BODY("groups", wire_groups, first, UINT32_MAX,
	     "wire_groups.n: zero, or beyond total"),
	BODY("groups", wire_groups, n, WIRE_GROUPS_PART + 1, "wire_groups.n"),
	BODY("groups", wire_groups, zero, 1,
	     "wire_groups.zero: reserved, not zero"),
	BODY("hello reply", wire_hello_rep, flags, 0x10,
	     "wire_hello_rep.flags: unknown bits"),
	BODY("fast reply", wire_fast_rep, zero, 1,
	     "wire_fast_rep.zero: reserved, not zero"),
	BODY("carry reply", wire_carry_rep, zero, 1,
	     "wire_carry_rep.zero: reserved, not zero"),
	BODY("carry reply", wire_carry_rep, ticket, WIRE_CARRY_MAX,
	     "wire_carry_rep.ticket: too large"),
	BODY("carry reply", wire_carry_rep, len, 0, "wire_carry_rep.len: zero"),
	BODY("carry reply", wire_carry_rep, len, 16,
	     "wire_carry_rep: the end is above 2^64 - 1"),
	BODY("carry reply", wire_carry_rep, mem_off, INT64_MAX - 14,
	     "wire_carry_rep.mem_off: the end is above 2^63 - 1"),
	BODY("ping reply", wire_ping_rep, zero, 1,
	     "wire_ping_rep.zero: reserved, not zero"),
	BODY("mount reply", wire_mount_rep, root, 0,
	     "wire_mount_rep.root: zero"),
	BODY("mount reply", wire_mount_rep, niods, 0,
	     "wire_mount_rep.niods: not the number of uris"),
	BODY("mount reply", wire_mount_rep, niods, 3,
	     "wire_mount_rep.niods: not the number of uris"),
	BODY("mount reply", wire_mount_rep, niods, WIRE_IOD_MAX + 1,
	     "wire_mount_rep.niods: too large"),
	{ "mount reply", sizeof(struct wire_hdr) + 32 + 19, 1, 'x', -EPROTO,
	  "wire_mount_rep: uris malformed" },
	{ "mount reply", sizeof(struct wire_hdr) + 32, 1, 0, -EPROTO,
	  "wire_mount_rep: uris malformed" },
	{ "mount reply", sizeof(struct wire_hdr) + 32 + 9, 1, 'x', -EPROTO,
	  "wire_mount_rep.niods: not the number of uris" },
	BODY("getattr", wire_path, flags, 4, "wire_path.flags: unknown bits"),
	BODY("getattr", wire_path, path_len, WIRE_PATH_MAX + 1,
	     "wire_path.path_len"),
	BODY("getattr reply", wire_attr_rep, attr.size, 1ull << 63,
	     "wire_attr_rep.attr.size: above 2^63 - 1"),
	BODY("getattr reply", wire_attr_rep, attr.flags, 64,
	     "wire_attr_rep.attr.flags: unknown bits"),
	BODY("getattr reply", wire_attr_rep, attr.zero, 1,
	     "wire_attr_rep.attr.zero: reserved, not zero"),
	BODY("getattr reply", wire_attr_rep, attr.dist.ring, WIRE_RINGS_MAX,
	     "wire_attr_rep.attr.dist.ring: too large"),
	BODY("readlink reply", wire_path_rep, which, 2,
	     "wire_path_rep.which: too large"),
	BODY("readlink reply", wire_path_rep, which, 1,
	     "wire_path_rep.which: there is only one path"),
	BODY("getattr redirect", wire_path_rep, which, 1,
	     "wire_path_rep.which: there is only one path"),
	BODY("open", wire_open, flags, 0x200, "wire_open.flags: unknown bits"),
	BODY("open", wire_open, mode, 010000, "wire_open.mode: unknown bits"),
	BODY("open", wire_open, dist.ring, 1,
	     "wire_open.dist.ring: reserved, not zero"),
	BODY("open", wire_open, zero, 1, "wire_open.zero: reserved, not zero"),
	BODY("open reply", wire_open_rep, attr.zero, 1,
	     "wire_open_rep.attr.zero: reserved, not zero"),
	BODY("release", wire_release, end, UINT64_MAX,
	     "wire_release.end: above 2^63 - 1"),
	BODY("release", wire_release, flags, 32,
	     "wire_release.flags: unknown bits"),
	BODY("release", wire_release, zero, 1,
	     "wire_release.zero: reserved, not zero"),
	BODY("setattr", wire_setattr, valid, 0x100,
	     "wire_setattr.valid: unknown bits"),
	BODY("setattr", wire_setattr, mode, 0100644,
	     "wire_setattr.mode: unknown bits"),
	BODY("setattr", wire_setattr, flags, 2,
	     "wire_setattr.flags: unknown bits"),
	BODY("mkdir", wire_mkdir, mode, 040755,
	     "wire_mkdir.mode: unknown bits"),
	BODY("rename", wire_two, path1_len, WIRE_PATH_MAX + 1,
	     "wire_two.path1_len"),
	BODY("rename", wire_two, path2_len, WIRE_PATH_MAX + 1,
	     "wire_two.path2_len"),
	BODY("rename2", wire_rename, flags, 3, "wire_rename.flags: both"),
	BODY("rename2", wire_rename, flags, 4,
	     "wire_rename.flags: unknown bits"),
	BODY("rename2", wire_rename, zero, 1,
	     "wire_rename.zero: reserved, not zero"),
	BODY("rename2", wire_rename, path2_len, WIRE_PATH_MAX + 1,
	     "wire_rename.path2_len"),
	BODY("mknod", wire_mknod, mode, 0100644,
	     "wire_mknod.mode: no special file"),
	BODY("mknod", wire_mknod, mode, 040755,
	     "wire_mknod.mode: no special file"),
	BODY("mknod", wire_mknod, mode, 0x2000000,
	     "wire_mknod.mode: unknown bits"),
	BODY("mkfifo", wire_mknod, minor, 1,
	     "wire_mknod: a number of no device"),
	BODY("setxattr", wire_setxattr, flags, 4,
	     "wire_setxattr.flags: unknown bits"),
	BODY("getxattr reply", wire_xattr_rep, zero, 1,
	     "wire_xattr_rep.zero: reserved, not zero"),
	BODY("readdir", wire_readdir, mem.len, 0, "wire_mem.len: zero"),
	BODY("readdir", wire_readdir, mem.addr, UINT64_MAX - 4095,
	     "wire_mem: the end is above 2^64 - 1"),
	BODY("readdir reply", wire_readdir_rep, eof, 2,
	     "wire_readdir_rep.eof: too large"),
	BODY("readdir reply", wire_readdir_rep, zero, 1,
	     "wire_readdir_rep.zero: reserved, not zero"),
	BODY("truncate", wire_truncate, size, 1ull << 63,
	     "wire_truncate.size: above 2^63 - 1"),
	BODY("truncate", wire_truncate, zero, 1,
	     "wire_truncate.zero: reserved, not zero"),
	BODY("access", wire_access, mask, 8, "wire_access.mask: unknown bits"),
	BODY("grant", wire_grant, handle, 0, "wire_grant.handle: zero"),
	BODY("grant", wire_grant, open, 0, "wire_grant.open: zero"),
	BODY("grant", wire_grant, flags, 4, "wire_grant.flags: unknown bits"),
	BODY("grant", wire_grant, zero, 1,
	     "wire_grant.zero: reserved, not zero"),
	BODY("redeem", wire_redeem, flags, 4,
	     "wire_redeem.flags: unknown bits"),
	BODY("redeem", wire_redeem, zero, 1,
	     "wire_redeem.zero: reserved, not zero"),
	BODY("adopt", wire_adopt, session, 0, "wire_adopt.session: zero"),
	BODY("adopt", wire_adopt, handle, 0, "wire_adopt.handle: zero"),
	BODY("adopt", wire_adopt, flags, 2, "wire_adopt.flags: unknown bits"),
	BODY("adopt", wire_adopt, zero, 1,
	     "wire_adopt.zero: reserved, not zero"),
	BODY("adopt reply", wire_adopt_rep, flags, 4,
	     "wire_adopt_rep.flags: unknown bits"),
	BODY("adopt reply", wire_adopt_rep, zero, 1,
	     "wire_adopt_rep.zero: reserved, not zero"),
	BODY("adopted", wire_adopted, session, 0, "wire_adopted.session: zero"),
	BODY("append", wire_append, len, 1ull << 63,
	     "wire_append.len: above 2^63 - 1"),
	BODY("append reply", wire_append_rep, offset, 1ull << 63,
	     "wire_append_rep.offset: above 2^63 - 1"),
	BODY("lock", wire_lock, start, INT64_MAX,
	     "wire_lock.end: not above start"),
	BODY("lock", wire_lock, end, 1ull << 63,
	     "wire_lock.end: above 2^63 - 1"),
	BODY("lock", wire_lock, type, 3, "wire_lock.type: too large"),
	BODY("lock", wire_lock, flags, 16, "wire_lock.flags: unknown bits"),
	BODY("lock", wire_lock, flags, 8 | 1,
	     "wire_lock.flags: CANCEL with others"),
	BODY("lock reply", wire_lock_rep, type, 3,
	     "wire_lock_rep.type: too large"),
	BODY("lock reply", wire_lock_rep, zero, 1,
	     "wire_lock_rep.zero: reserved, not zero"),

	BODY("read", wire_io, flags, 2, "wire_io.flags: unknown bits"),
	BODY("read", wire_io, data_len, 1, "wire_io.data_len: too large"),
	BODY("read", wire_io, total, 20,
	     "wire_io.total: not the sum of regions"),
	BODY("read", wire_io, total, 1ull << 63,
	     "wire_io.total: above 2^63 - 1"),
	BODY("read", wire_io, nreg, WIRE_REGION_MAX + 1, "wire_io.nreg"),
	BODY("read", wire_io, nmem, WIRE_MEM_MAX + 1, "wire_io.nmem"),
	BODY("read inline", wire_io, total, WIRE_INLINE_MAX + 1,
	     "wire_io.total: too large for an inline reply"),
	BODY("write", wire_io, data_len, 21, "wire_io.data_len"),
	BODY("write inline", wire_io, total, 22,
	     "wire_io.data_len: not the total, or not 0 with mem"),
	BODY("write inline", wire_io, data_len, WIRE_INLINE_MAX + 1,
	     "wire_io.data_len"),
	TAIL("read", wire_io, 0, wire_region, len, 0, "wire_region.len: zero"),
	TAIL("read", wire_io, 0, wire_region, len, 9,
	     "wire_io.total: not the sum of regions"),
	TAIL("read", wire_io, 1, wire_region, off, INT64_MAX - 10,
	     "wire_region: the end is above 2^63 - 1"),
	TAIL("read", wire_io, 1, wire_region, off, UINT64_MAX,
	     "wire_region: the end is above 2^63 - 1"),
	TAIL("write", wire_io, 1, wire_region, len, UINT64_MAX - 65536,
	     "wire_region: the end is above 2^63 - 1"),
	TAIL("read", wire_io, 2, wire_mem, len, 0, "wire_mem.len: zero"),
	TAIL("read", wire_io, 2, wire_mem, len, 6,
	     "wire_io.total: not the sum of mem"),
	TAIL("write", wire_io, 3, wire_mem, addr, UINT64_MAX - 14,
	     "wire_mem: the end is above 2^64 - 1"),
	BODY("read inline reply", wire_io_rep, done, 20,
	     "wire_io_rep.data_len: neither 0 nor done"),
	BODY("read reply", wire_io_rep, size, 1ull << 63,
	     "wire_io_rep.size: above 2^63 - 1"),
	BODY("read reply", wire_io_rep, zero, 1,
	     "wire_io_rep.zero: reserved, not zero"),
	BODY("write reply", wire_io_rep, data_len, 1,
	     "wire_io_rep.data_len: too large"),
	BODY("write reply", wire_io_rep, done, 1ull << 63,
	     "wire_io_rep.done: above 2^63 - 1"),
	BODY("read list", wire_list, io.flags, 2,
	     "wire_list.io.flags: unknown bits"),
	BODY("read list", wire_list, io.data_len, 1,
	     "wire_list.io.data_len: too large"),
	BODY("read list", wire_list, io.total, 0, "wire_list.io.total: zero"),
	BODY("read list", wire_list, io.total, 20,
	     "wire_io.total: not the sum of mem"),
	BODY("read list", wire_list, io.nreg, WIRE_VEC_MAX + 1,
	     "wire_list.io.nreg"),
	BODY("read list", wire_list, skip, 1ull << 63,
	     "wire_list.skip: above 2^63 - 1"),
	BODY("read list", wire_list, dist.ring, 1,
	     "wire_list.dist.ring: reserved, not zero"),
	BODY("read list", wire_list, dist.pcount, 0,
	     "wire_list.dist.pcount: cannot be"),
	BODY("read list", wire_list, dist.pcount, WIRE_IOD_MAX + 1,
	     "wire_list.dist.pcount: cannot be"),
	BODY("read list", wire_list, dist.base, 2,
	     "wire_list.dist.base: not below pcount"),
	BODY("read list", wire_list, dist.ssize, WIRE_SSIZE_MIN - 1,
	     "wire_list.dist.ssize: cannot be"),
	BODY("read list", wire_list, dist.ssize, WIRE_SSIZE_MAX + 1,
	     "wire_list.dist.ssize: cannot be"),
	BODY("read list inline", wire_list, io.total, WIRE_INLINE_MAX + 1,
	     "wire_list.io.total: too large for an inline reply"),
	BODY("write list inline", wire_list, io.total, 22,
	     "wire_list.io.data_len: not the total, or not 0 with mem"),
	TAIL("read list", wire_list, 0, wire_vec, len, 0, "wire_vec.len: zero"),
	TAIL("read list", wire_list, 1, wire_vec, count, 0,
	     "wire_vec.count: zero"),
	TAIL("read list", wire_list, 1, wire_vec, count2, 0,
	     "wire_vec.count: zero"),
	TAIL("read list", wire_list, 0, wire_vec, count, WIRE_PIECE_MAX + 1,
	     "wire_vec.count: too many pieces"),
	TAIL("read list", wire_list, 0, wire_vec, count2, UINT32_MAX,
	     "wire_vec.count: too many pieces"),
	TAIL("read list", wire_list, 1, wire_vec, count, WIRE_PIECE_MAX / 4,
	     "wire_vec.count: too many pieces"),
	TAIL("write list", wire_list, 0, wire_vec, off, INT64_MAX - 109,
	     "wire_vec: the end is above 2^63 - 1"),
	TAIL("write list", wire_list, 0, wire_vec, len, UINT64_MAX,
	     "wire_vec: the end is above 2^63 - 1"),
	TAIL("write list", wire_list, 1, wire_vec, stride, UINT64_MAX / 2,
	     "wire_vec: the end is above 2^63 - 1"),
	TAIL("write list", wire_list, 1, wire_vec, stride2, INT64_MAX / 3,
	     "wire_vec: the end is above 2^63 - 1"),
	BODY("resize", wire_resize, size, 1ull << 63,
	     "wire_resize.size: above 2^63 - 1"),
	BODY("resize", wire_resize, flags, 2,
	     "wire_resize.flags: unknown bits"),
	BODY("resize", wire_resize, zero, 1,
	     "wire_resize.zero: reserved, not zero"),
	BODY("sync", wire_objects, zero, 1,
	     "wire_objects.zero: reserved, not zero"),
	BODY("remove", wire_remove, n, WIRE_HANDLE_MAX + 1, "wire_remove.n"),
	BODY("remove, copysets", wire_remove, copysets, WIRE_HANDLE_MAX + 1,
	     "wire_remove.copysets"),
	BODY("remove, copysets", wire_remove, copysets, 4,
	     "wire_remove.copysets: not one of each object"),
	REMOVED(0, 1, "wire_remove: a copyset that is out of range"),
	REMOVED(1, WIRE_COPYSET_MIN - 1,
		"wire_remove: a copyset that is out of range"),
	REMOVED(2, WIRE_COPYSET_END,
		"wire_remove: a copyset that is out of range"),
	BODY("objects", wire_walk, keys, 1,
	     "wire_walk.keys: a copyset without KEYS"),
	BODY("objects", wire_walk, keys, WIRE_WALK_KEYS | 1,
	     "wire_walk.keys: a copyset that is out of range"),
	BODY("objects", wire_walk, keys, WIRE_WALK_KEYS | WIRE_COPYSET_END,
	     "wire_walk.keys: a copyset that is out of range"),
	BODY("getsize reply", wire_getsize_rep, places, 2,
	     "wire_getsize_rep.places"),
	TAIL("getsize reply", wire_getsize_rep, 2, wire_objsize, size,
	     1ull << 63, "wire_objsize.size: above 2^63 - 1"),
	SECOND("getsize reply, placed", wire_end_place, addr, 0,
	       "wire_end_place.addr: not that of a word"),
	SECOND("getsize reply, placed", wire_end_place, addr, 4,
	       "wire_end_place.addr: not that of a word"),
	SECOND("getsize reply, placed", wire_end_place, tag, 0,
	       "wire_end_place.tag: zero"),
	SECOND("getsize reply, placed", wire_end_place, zero, 1,
	       "wire_end_place.zero: reserved, not zero"),
	BODY("lease", wire_lease, clock, 0, "wire_lease.clock: zero"),
	BODY("challenge reply", wire_challenge_rep, fsid, 0,
	     "wire_challenge_rep.fsid: zero"),
	BODY("challenge reply", wire_challenge_rep, mode, 3,
	     "wire_challenge_rep.mode: too large"),
	BODY("challenge reply", wire_challenge_rep, flags, 16,
	     "wire_challenge_rep.flags: unknown bits"),
	BODY("challenge reply", wire_challenge_rep, zero, 1,
	     "wire_challenge_rep.zero: reserved, not zero"),
	BODY("auth", wire_auth, kind, 3, "wire_auth.kind: too large"),
	BODY("auth", wire_auth, len, WIRE_WORD_MAX + 1, "wire_auth.len"),
	BODY("auth reply", wire_auth_rep, life, 0, "wire_auth_rep.life: zero"),
	BODY("auth reply", wire_auth_rep, life, 1ull << 63,
	     "wire_auth_rep.life: above 2^63 - 1"),
	BODY("auth reply", wire_auth_rep, ticket_len, WIRE_TICKET_MAX + 1,
	     "wire_auth_rep.ticket_len"),
	BODY("auth reply", wire_auth_rep, word_len, WIRE_WORD_MAX + 1,
	     "wire_auth_rep.word_len"),
	BODY("fence", wire_fence, flags, 4, "wire_fence.flags: unknown bits"),
	BODY("order", wire_order, session, 0, "wire_order.session: zero"),
	BODY("order", wire_order, seq, 0, "wire_order.seq: zero"),
	BODY("order", wire_order, slot, 65536, "wire_order.slot: too large"),
	BODY("order", wire_order, total, 20,
	     "wire_order.total: too large, or less than io.total"),
	BODY("order", wire_order, total, 1ull << 63,
	     "wire_order.total: too large, or less than io.total"),
	BODY("order", wire_order, kind, WIRE_ORDER_END,
	     "wire_order.kind: too large"),
	BODY("order", wire_order, zero, 1,
	     "wire_order.zero: reserved, not zero"),
	BODY("order", wire_order, io.total, 20,
	     "wire_io.total: not the sum of regions"),
	BODY("order", wire_order, io.flags, WIRE_IO_SYNC,
	     "wire_order.io.flags: reserved, not zero"),
	BODY("order", wire_order, origin, WIRE_IOD_MAX,
	     "wire_order.origin, primary: too large"),
	BODY("order", wire_order, primary, WIRE_IOD_MAX,
	     "wire_order.origin, primary: too large"),
	BODY("order", wire_order, arg[0], 1,
	     "wire_order.arg: of no use, not zero"),
	BODY("order", wire_order, flags, WIRE_FA_ZERO,
	     "wire_order.flags: of no use, not zero"),
	BODY("order resize", wire_order, arg[0], 1ull << 63,
	     "wire_order.arg: a size above 2^63 - 1"),
	BODY("order resize", wire_order, total, 1,
	     "wire_order.io: of no use, not zero"),
	BODY("order space", wire_order, arg[1], 0, "wire_fallocate.len: zero"),
	BODY("order space", wire_order, arg[0], INT64_MAX,
	     "wire_fallocate: the end is above 2^63 - 1"),
	BODY("order space", wire_order, flags, WIRE_FA_PUNCH,
	     "wire_fallocate.flags: PUNCH with others"),
	BODY("order counter", wire_order, arg[1], WIRE_COUNTERS,
	     "wire_order.arg: no such counter"),
	HDR("order", credits, 0, -EPROTO,
	    "wire_hdr.credits: not the id of a copyset"),
	BODY("copysets", wire_copysets, from, WIRE_COPYSET_END + 1,
	     "wire_copysets.from: too large"),
	BODY("copysets", wire_copysets, zero, 1,
	     "wire_copysets.zero: reserved, not zero"),
	BODY("copysets reply", wire_copysets_rep, next, WIRE_COPYSET_END + 1,
	     "wire_copysets_rep.next: too large"),
	BODY("copysets reply", wire_copysets_rep, rings, WIRE_RINGS_MAX + 1,
	     "wire_copysets_rep.rings"),
	BODY("copysets reply", wire_copysets_rep, n, WIRE_COPYSETS_MAX + 1,
	     "wire_copysets_rep.n"),
	BODY("copysets reply", wire_copysets_rep, zero, 1,
	     "wire_copysets_rep.zero: reserved, not zero"),
	RING(0, n, 1025, "wire_ring.n: beyond the last copyset"),
	RING(0, first, 1, "wire_ring.first: a copyset of another ring"),
	RING(1, first, 1023, "wire_ring.first: a copyset of another ring"),
	RING(1, first, WIRE_COPYSET_END - 11,
	     "wire_ring.n: beyond the last copyset"),
	RING(1, first, UINT32_MAX, "wire_ring.n: beyond the last copyset"),
	RING(1, n, 0, "wire_ring.n: zero, or too large"),
	RING(1, n, WIRE_RING_MAX + 1, "wire_ring.n: zero, or too large"),
	RING(1, n, UINT32_MAX, "wire_ring.n: zero, or too large"),
	RING(1, id, WIRE_RINGS_MAX, "wire_ring.id: too large"),
	RING(1, copies, 0, "wire_ring.copies: zero, or too large"),
	RING(1, copies, 4, "wire_ring.copies: zero, or too large"),
	RING(0, id, 1, "wire_ring.first: a copyset of another ring"),
	RING(1, id, 0, "wire_ring.first: a copyset of another ring"),
	COPYSET(0, id, 1023, "wire_copyset.id: out of range"),
	COPYSET(1, id, WIRE_COPYSET_END, "wire_copyset.id: out of range"),
	COPYSET(1, id, 1024, "wire_copyset.id: out of order"),
	COPYSET(1, zero, 1, "wire_copyset.zero: reserved, not zero"),
	COPYSET(0, n, 0, "wire_copyset.n: zero, or too large"),
	COPYSET(0, n, 4, "wire_copyset.n: zero, or too large"),
	COPYSET(0, member[1].iod, 1,
		"wire_copyset.member: of no use, not zero"),
	COPYSET(0, member[2].state, 1,
		"wire_copyset.member: of no use, not zero"),
	COPYSET(1, member[2].iod, WIRE_IOD_MAX,
		"wire_copyset.member.iod: too large"),
	COPYSET(1, member[0].state, 3, "wire_copyset.member.state: too large"),
	COPYSET(1, version, 0, "wire_copyset.version: zero"),
	BODY("assign", wire_assign, zero, 1,
	     "wire_assign.zero: reserved, not zero"),
	BODY("assign", wire_assign, n, WIRE_COPYSETS_MAX + 1, "wire_assign.n"),
	ASSIGNED(0, id, 1023, "wire_copyset.id: out of range"),
	ASSIGNED(0, version, 0, "wire_copyset.version: zero"),
	ASSIGNED(1, id, 1024, "wire_copyset.id: out of order"),
	ASSIGNED(1, member[0].state, 3, "wire_copyset.member.state: too large"),
	BODY("assign", wire_assign, revision, 0, "wire_assign.revision: zero"),
	BODY("assign", wire_assign, flags, 2,
	     "wire_assign.flags: unknown bits"),
	BODY("assign", wire_assign, ended, WIRE_ENDED_MAX + 1,
	     "wire_assign.ended"),
	ENDED(process, 0, "wire_ended.process: zero"),
	ENDED(iod, WIRE_IOD_MAX, "wire_ended.iod: too large"),
	ENDED(zero, 1, "wire_ended.zero: reserved, not zero"),
	BODY("promise", wire_promise, process, 0, "wire_promise.process: zero"),
	BODY("promise", wire_promise, lease, 0, "wire_promise.lease: zero"),
	BODY("promise", wire_promise, lease, UINT64_MAX,
	     "wire_promise.lease: above 2^63 - 1"),
	BODY("promise", wire_promise, iod, WIRE_IOD_MAX,
	     "wire_promise.iod: too large"),
	BODY("promise", wire_promise, n, WIRE_PROMISES_MAX + 1,
	     "wire_promise.n"),
	PROMISED(0, copyset, 1023, "wire_promised.copyset: out of range"),
	PROMISED(1, copyset, WIRE_COPYSET_END,
		 "wire_promised.copyset: out of range"),
	PROMISED(1, copyset, 1024, "wire_promised.copyset: out of order"),
	PROMISED(0, version, 0, "wire_promised.version: zero"),
	PROMISED(1, flags, 2, "wire_promised.flags: unknown bits"),
	BODY("promise reply", wire_promise, process, 0,
	     "wire_promise.process: zero"),
	BODY("outcome", wire_outcome, seq, 0, "wire_outcome.seq: zero"),
	BODY("outcome", wire_outcome, origin, WIRE_IOD_MAX,
	     "wire_outcome.origin: too large"),
	BODY("outcome", wire_outcome, slot, UINT16_MAX + 1,
	     "wire_outcome.slot: too large"),
	BODY("outcome reply", wire_outcome_rep, state, WIRE_OC_END,
	     "wire_outcome_rep.state: too large"),
	BODY("outcome reply", wire_outcome_rep, zero, 1,
	     "wire_outcome_rep.zero: reserved, not zero"),
	BODY("sessions reply", wire_sessions_rep, n, WIRE_SESSIONS_MAX + 1,
	     "wire_sessions_rep.n"),
	BODY("sessions reply", wire_sessions_rep, more, 2,
	     "wire_sessions_rep.more: too large"),
	TAIL("sessions reply", wire_sessions_rep, 1, wire_session, id, 0,
	     "wire_session.id: zero"),
	TAIL("sessions reply", wire_sessions_rep, 1, wire_session, id, 7,
	     "wire_session.id: out of order"),
	TAIL("sessions reply", wire_sessions_rep, 1, wire_session, flags, 2,
	     "wire_session.flags: unknown bits"),
	TAIL("sessions reply", wire_sessions_rep, 1, wire_session, zero, 1,
	     "wire_session.zero: reserved, not zero"),
	TAIL("sessions reply", wire_sessions_rep, 1, wire_session, job[0], 7,
	     "wire_session: unprintable characters"),
	TAIL("sessions reply", wire_sessions_rep, 0, wire_session, peer[0], 0,
	     "wire_session: unprintable characters"),
	BODY("evict", wire_evict, by, WIRE_EV_END, "wire_evict.by: too large"),
	BODY("evict", wire_evict, session, 0,
	     "wire_evict.session: zero, or of no use"),
	BODY("evict", wire_evict, by, WIRE_EV_USER,
	     "wire_evict.session: zero, or of no use"),
	BODY("evict", wire_evict, uid, 1, "wire_evict.uid: of no use"),
	BODY("evict job", wire_evict, len, WIRE_EV_TEXT + 1, "wire_evict.len"),
	BODY("evict job", wire_evict, by, WIRE_EV_USER,
	     "wire_evict.len: no text, or of no use"),
	BODY("evict reply", wire_evict_rep, until_ns, UINT64_MAX,
	     "wire_evict_rep.until_ns: above 2^63 - 1"),
	BODY("evict reply", wire_evict_rep, niods, WIRE_IOD_MAX + 1,
	     "wire_evict_rep.niods"),
	BODY("evict reply", wire_evict_rep, zero, 1,
	     "wire_evict_rep.zero: reserved, not zero"),
	BODY("fence", wire_fence, n, WIRE_FENCE_MAX + 1, "wire_fence.n"),
	BODY("lease", wire_lease, until, 0, "wire_lease.until: zero"),
	BODY("fallocate", wire_fallocate, len, 0, "wire_fallocate.len: zero"),
	BODY("fallocate", wire_fallocate, len, INT64_MAX - 4095,
	     "wire_fallocate: the end is above 2^63 - 1"),
	BODY("fallocate", wire_fallocate, off, UINT64_MAX,
	     "wire_fallocate: the end is above 2^63 - 1"),
	BODY("fallocate", wire_fallocate, flags, 8,
	     "wire_fallocate.flags: unknown bits"),
	BODY("fallocate", wire_fallocate, flags, WIRE_FA_PUNCH,
	     "wire_fallocate.flags: PUNCH with others"),
	BODY("fallocate", wire_fallocate, flags, 7,
	     "wire_fallocate.flags: PUNCH with others"),
	BODY("copy", wire_copy, len, 0, "wire_copy.len: zero"),
	BODY("copy", wire_copy, len, INT64_MAX - 4095,
	     "wire_copy: an end is above 2^63 - 1"),
	BODY("copy", wire_copy, src, INT64_MAX - 99,
	     "wire_copy: an end is above 2^63 - 1"),
	BODY("copy", wire_copy, flags, 2, "wire_copy.flags: unknown bits"),
	BODY("fallocate", wire_fallocate, zero, 1,
	     "wire_fallocate.zero: reserved, not zero"),
	BODY("seek", wire_seek, off, 1ull << 63,
	     "wire_seek.off: above 2^63 - 1"),
	BODY("seek", wire_seek, flags, 2, "wire_seek.flags: unknown bits"),
	BODY("seek", wire_seek, zero, 1, "wire_seek.zero: reserved, not zero"),
	BODY("seek reply", wire_seek_rep, off, 1ull << 63,
	     "wire_seek_rep.off: above 2^63 - 1"),
	BODY("place", wire_place, handle, 0, "wire_place.handle: zero"),
	BODY("place", wire_place, step, 0, "wire_place.step: zero"),
	BODY("place", wire_place, number, WIRE_COUNTERS,
	     "wire_place.number: too large"),
	BODY("place", wire_place, flags, 2, "wire_place.flags: unknown bits"),
	BODY("share reply", wire_share_rep, zero, 1,
	     "wire_share_rep.zero: reserved, not zero"),
	BODY("share reply", wire_share_rep, addr, 0,
	     "wire_share_rep.addr: zero"),
	BODY("share reply", wire_share_rep, addr, 12,
	     "wire_share_rep.addr: not that of a word"),
	BODY("share reply", wire_share_rep, places, WIRE_SHARE_MAX + 1,
	     "wire_share_rep.places: too large"),
	BODY("place reply", wire_place_rep, zero, 1,
	     "wire_place_rep.zero: reserved, not zero"),
	BODY("counter", wire_counter, handle, 0, "wire_counter.handle: zero"),
	BODY("counter", wire_counter, number, WIRE_COUNTERS,
	     "wire_counter.number: too large"),
	BODY("counter", wire_counter, flags, 2,
	     "wire_counter.flags: unknown bits"),
	BODY("borrow", wire_borrow, handle, 0, "wire_borrow.handle: zero"),
	BODY("borrow", wire_borrow, flags, 4,
	     "wire_borrow.flags: unknown bits"),
	BODY("borrow", wire_borrow, zero, 1,
	     "wire_borrow.zero: reserved, not zero"),
	BODY("borrow reply", wire_borrow_rep, index, 256,
	     "wire_borrow_rep.index: too large"),
	BODY("borrow reply", wire_borrow_rep, stripe, 1024,
	     "wire_borrow_rep.stripe: too large"),
	BODY("borrow reply", wire_borrow_rep, flags, 16,
	     "wire_borrow_rep.flags: unknown bits"),
	BODY("borrow reply", wire_borrow_rep, zero, 1,
	     "wire_borrow_rep.zero: reserved, not zero"),
	BODY("raft", wire_raft, group, 0, "wire_raft.group: zero"),
	BODY("raft", wire_raft, from, 0, "wire_raft.from: zero"),
	BODY("raft", wire_raft, to, 0, "wire_raft.to: zero"),
	BODY("raft", wire_raft, len, 0, "wire_raft.len: zero"),
	BODY("raft", wire_raft, len, WIRE_RAFT_MAX + 1,
	     "wire_raft.len: too large"),
	BODY("raft", wire_raft, len, 20,
	     "wire_raft.data_len: not len, or not 0 with mem"),
	BODY("raft", wire_raft, zero, 1, "wire_raft.zero: reserved, not zero"),
	BODY("raft", wire_raft, nmem, WIRE_RAFT_MEM + 1, "wire_raft.nmem"),
	BODY("raft", wire_raft, data_len, WIRE_RAFT_INLINE + 1,
	     "wire_raft.data_len"),
	BODY("raft, in memory", wire_raft, len, 22,
	     "wire_io.total: not the sum of mem"),
	BODY("raft reply with a message", wire_raft_rep, data_len,
	     WIRE_RAFT_INLINE + 1, "wire_raft_rep.data_len"),
	BODY("raft reply with a message", wire_raft_rep, zero, 1,
	     "wire_raft_rep.zero: reserved, not zero"),
	BODY("fetch", wire_fetch, group, 0, "wire_fetch.group: zero"),
	BODY("fetch", wire_fetch, member, 0, "wire_fetch.member: zero"),
	BODY("fetch", wire_fetch, offset, UINT64_MAX,
	     "wire_fetch.offset: above 2^63 - 1"),
	BODY("fetch", wire_fetch, len, 0, "wire_fetch.len: zero"),
	BODY("fetch", wire_fetch, len, WIRE_FETCH_MAX + 1,
	     "wire_fetch.len: too large"),
	BODY("fetch", wire_fetch, len, 22, "wire_io.total: not the sum of mem"),
	BODY("fetch", wire_fetch, nmem, WIRE_FETCH_MEM + 1, "wire_fetch.nmem"),
	BODY("fetch reply", wire_fetch_rep, len, WIRE_FETCH_MAX + 1,
	     "wire_fetch_rep.len: too large"),
	BODY("fetch reply", wire_fetch_rep, end, 2,
	     "wire_fetch_rep.end: too large"),
	BODY("managers", wire_managers, cmd, WIRE_MA_END,
	     "wire_managers.cmd: too large"),
	BODY("managers", wire_managers, id, 1,
	     "wire_managers.id: zero, or of no use"),
	BODY("managers", wire_managers, cmd, WIRE_MA_REMOVE,
	     "wire_managers.id: zero, or of no use"),
	BODY("managers join", wire_managers, id, 0,
	     "wire_managers.id: zero, or of no use"),
	BODY("managers join", wire_managers, cmd, WIRE_MA_TRANSFER,
	     "wire_managers.uri_len: no address, or of no use"),
	BODY("managers join", wire_managers, uri_len, WIRE_LEADER_URI_MAX + 1,
	     "wire_managers.uri_len"),
	BODY("managers reply", wire_managers_rep, role, WIRE_MR_END,
	     "wire_managers_rep.role: too large"),
	BODY("managers reply", wire_managers_rep, flags, 8,
	     "wire_managers_rep.flags: unknown bits"),
	BODY("managers reply", wire_managers_rep, n, WIRE_MEMBERS_MAX + 1,
	     "wire_managers_rep.n"),
	BODY("managers reply", wire_managers_rep, zero, 1,
	     "wire_managers_rep.zero: reserved, not zero"),
	TAIL("managers reply", wire_managers_rep, 1, wire_member, id, 0,
	     "wire_member.id: zero"),
	TAIL("managers reply", wire_managers_rep, 1, wire_member, id, 7,
	     "wire_member.id: twice"),
	TAIL("managers reply", wire_managers_rep, 1, wire_member, flags, 8,
	     "wire_member.flags: unknown bits"),
	TAIL("managers reply", wire_managers_rep, 1, wire_member, zero, 1,
	     "wire_member.zero: reserved, not zero"),
	TAIL("managers reply", wire_managers_rep, 0, wire_member, uri[0], 7,
	     "wire_member.uri: unprintable characters"),
	BODY("claim", wire_claim, term, 0, "wire_claim.term: zero"),
	BODY("claim", wire_claim, owner, 0, "wire_claim.owner: zero"),
	BODY("claim", wire_claim, flags, 4, "wire_claim.flags: unknown bits"),
	BODY("claim", wire_claim, zero, 1,
	     "wire_claim.zero: reserved, not zero"),
	BODY("claim reply", wire_claim_rep, verdict, 3,
	     "wire_claim_rep.verdict: too large"),
	BODY("claim reply", wire_claim_rep, zero, 1,
	     "wire_claim_rep.zero: reserved, not zero"),
};

static void poke(size_t off, unsigned int width, uint64_t val)
{
	val = htole64(val);
	memcpy(m.bytes + off, &val, width);
}

START_TEST(bad_fields)
{
	const struct bad *b = &bad[_i];
	const char *why;
	size_t len;
	int rc;

	build(b->sample, &len);
	poke(b->off, b->width, b->val);
	rc = parse(len, &why);
	ck_assert_msg(rc == b->rc && !strcmp(why, b->why),
		      "%s: got %d '%s', wanted %d '%s'", b->sample, rc, why,
		      b->rc, b->why);
}
END_TEST

/* Two valid regions, whose sum is beyond 2^63 - 1. */
START_TEST(sum_of_regions)
{
	const size_t reg = sizeof(m.hdr) + sizeof(struct wire_io);
	const char *why;
	size_t len;

	build("read", &len);
	poke(reg + 8, 8, INT64_MAX);
	poke(reg + 16, 8, 0);
	poke(reg + 24, 8, INT64_MAX);
	ck_assert_int_eq(parse(len, &why), -EPROTO);
	ck_assert_str_eq(why, "wire_region: the sum is above 2^63 - 1");
}
END_TEST

START_TEST(no_list_without_vectors)
{
	const char *why;
	struct wire_list list = { .io = { .handle = 1, .total = htole64(1) },
				  .dist = { 0, htole32(1), htole32(65536),
					    0 } };
	struct wire_out out;
	int len;

	wire_begin(&out, &m, sizeof(m));
	wire_put(&out, &list, sizeof(list));
	m.hdr.session = 1;
	len = wire_end(&out, WIRE_READ_LIST, 0, 0);
	ck_assert_int_gt(len, 0);
	ck_assert_int_eq(parse((size_t)len, &why), -EPROTO);
	ck_assert_str_eq(why, "wire_list.io.nreg: zero");
}
END_TEST

/* Bytes between the pieces are ignored if there is only one piece, or one row. */
START_TEST(lone_vectors_have_no_stride)
{
	const size_t vec = sizeof(m.hdr) + sizeof(struct wire_list);
	const char *why;
	size_t len;

	build("read list", &len);
	poke(vec + 16, 8, UINT64_MAX);
	poke(vec + 24, 8, UINT64_MAX);
	poke(vec + 32, 4, 1);
	ck_assert_int_eq(parse(len, &why), 0);
}
END_TEST

START_TEST(no_io_of_nothing)
{
	struct wire_io io = { .handle = 1 };
	struct wire_out out;
	const char *why;
	int len;

	wire_begin(&out, &m, sizeof(m));
	wire_put(&out, &io, sizeof(io));
	m.hdr.session = 1;
	len = wire_end(&out, WIRE_READ, 0, 0);
	ck_assert_int_gt(len, 0);
	ck_assert_int_eq(parse((size_t)len, &why), -EPROTO);
	ck_assert_str_eq(why, "wire_io.total: zero");
}
END_TEST

/*
 * The largest count of each tail item is accepted, and one more is rejected.  fix() adapts the rest
 * of the message to a new count.  `item` is the place of the first tail item.
 */
struct limit {
	const char *sample;
	unsigned int tail;
	uint32_t max;
	size_t elem;
	const char *why;
	void (*fix)(void *body, uint8_t *item, uint32_t count);
};

static void fix_uris(void *body, uint8_t *item, uint32_t count)
{
	struct wire_mount_rep *rep = body;

	for (uint32_t i = 15; i < count; i += 16)
		item[i] = 0;
	rep->niods = htole32(count / 16);
}

static void fix_regions(void *body, uint8_t *item, uint32_t count)
{
	struct wire_io *io = body;
	struct wire_region *reg = (void *)item;

	for (uint32_t i = 0; i < count; i++)
		reg[i] = (struct wire_region){ htole64(i), htole64(1) };
	io->total = htole64(count);
}

static void fix_mem(void *body, uint8_t *item, uint32_t count)
{
	struct wire_io *io = body;
	struct wire_region *reg = (void *)item;
	struct wire_mem *mem = (void *)(reg + 2);

	for (uint32_t i = 0; i < count; i++)
		mem[i] = (struct wire_mem){ 0, htole32(1), 0 };
	reg[0].len = htole64(count - le64toh(reg[1].len));
	io->total = htole64(count);
}

static void fix_data(void *body, uint8_t *item, uint32_t count)
{
	struct wire_io *io = body;
	struct wire_region *reg = (void *)item;

	reg[0].len = htole64(count - le64toh(reg[1].len));
	io->total = htole64(count);
}

static void fix_vecs(void *body, uint8_t *item, uint32_t count)
{
	struct wire_vec *vec = (void *)item;

	for (uint32_t i = 0; i < count; i++)
		vec[i] = (struct wire_vec){ .len = 1, .count = 1, .count2 = 1 };
}

static void fix_list_mem(void *body, uint8_t *item, uint32_t count)
{
	struct wire_mem *mem = (void *)(item + 2 * sizeof(struct wire_vec));
	struct wire_list *list = body;

	for (uint32_t i = 0; i < count; i++)
		mem[i] = (struct wire_mem){ 0, htole32(1), 0 };
	list->io.total = htole64(count);
}

static void fix_list_data(void *body, uint8_t *item, uint32_t count)
{
	struct wire_list *list = body;

	list->io.total = htole64(count);
}

static void fix_done(void *body, uint8_t *item, uint32_t count)
{
	struct wire_io_rep *rep = body;

	rep->done = htole64(count);
}

static const struct limit limits[] = {
	{ "hello", 0, 64, 4, "wire_hello.ngroups" },
	{ "hello", 1, 255, 1, "wire_hello.name_len" },
	{ "ping reply", 0, 255, 1, "wire_ping_rep.version_len" },
	{ "mount reply", 0, 16384 - 32, 1, "wire_mount_rep.uris_len",
	  fix_uris },
	{ "getattr", 0, 4095, 1, "wire_path.path_len" },
	{ "getattr redirect", 0, 4095, 1, "wire_path_rep.path_len" },
	{ "open", 0, 4095, 1, "wire_open.path_len" },
	{ "setattr", 0, 4095, 1, "wire_setattr.path_len" },
	{ "mkdir", 0, 4095, 1, "wire_mkdir.path_len" },
	{ "rename", 0, 4095, 1, "wire_two.path1_len" },
	{ "rename", 1, 4095, 1, "wire_two.path2_len" },
	{ "rename2", 0, 4095, 1, "wire_rename.path1_len" },
	{ "rename2", 1, 4095, 1, "wire_rename.path2_len" },
	{ "mknod", 0, 4095, 1, "wire_mknod.path_len" },
	{ "setxattr", 0, 4095, 1, "wire_setxattr.path_len" },
	{ "setxattr", 1, 255, 1, "wire_setxattr.name_len" },
	{ "setxattr", 2, 4096, 1, "wire_setxattr.value_len" },
	{ "getxattr", 0, 4095, 1, "wire_getxattr.path_len" },
	{ "getxattr", 1, 255, 1, "wire_getxattr.name_len" },
	{ "listxattr reply", 0, 12288, 1, "wire_xattr_rep.len" },
	{ "truncate", 0, 4095, 1, "wire_truncate.path_len" },
	{ "access", 0, 4095, 1, "wire_access.path_len" },
	{ "read inline", 0, 64, 16, "wire_io.nreg", fix_regions },
	{ "read", 1, 256, 16, "wire_io.nmem", fix_mem },
	{ "write", 1, 256, 16, "wire_io.nmem", fix_mem },
	{ "write inline", 2, 65536, 1, "wire_io.data_len", fix_data },
	{ "read inline reply", 0, 65536, 1, "wire_io_rep.data_len", fix_done },
	{ "read list inline", 0, 256, 40, "wire_list.io.nreg", fix_vecs },
	{ "read list", 1, 256, 16, "wire_list.io.nmem", fix_list_mem },
	{ "write list", 1, 256, 16, "wire_list.io.nmem", fix_list_mem },
	{ "write list inline", 2, 65536, 1, "wire_list.io.data_len",
	  fix_list_data },
	{ "sync", 0, 128, 8, "wire_objects.n" },
	{ "objects reply", 0, 256, 8, "wire_walk_rep.n" },
	{ "getsize reply", 0, 128, 24, "wire_getsize_rep.n" },
};

static size_t build_counted(const struct limit *l, uint32_t count, void *buf,
			    size_t cap)
{
	const struct wire_sample *s = wire_sample_find(l->sample);
	struct wire_out out;
	uint8_t *body, *tail[WIRE_TAIL_MAX];
	le32 n = htole32(count);
	int len;

	wire_begin(&out, buf, cap);
	body = wire_put(&out, s->body, s->body_len);
	memcpy(body + s->tail[l->tail].count_off, &n, sizeof(n));
	for (unsigned int i = 0; i < s->ntail; i++) {
		if (i != l->tail) {
			tail[i] = wire_put(&out, s->tail[i].ptr,
					   s->tail[i].len);
			continue;
		}
		tail[i] = wire_put(&out, NULL, count * l->elem);
		memset(tail[i], 'x', count * l->elem);
	}
	if (l->fix)
		l->fix(body, tail[0], count);
	((struct wire_hdr *)buf)->session = 1;
	((struct wire_hdr *)buf)->status = htole32(s->status);
	len = wire_end(&out, s->op, s->flags, 0);
	ck_assert_int_gt(len, 0);
	return (size_t)len;
}

START_TEST(largest_counts)
{
	static uint64_t buf[16384];
	const struct limit *l = &limits[_i];
	const char *why = "(no reason)";
	struct wire_msg msg;
	size_t len;

	len = build_counted(l, l->max, buf, sizeof(buf));
	ck_assert_msg(wire_parse(buf, len, &msg, &why) == 0, "%s: %s",
		      l->sample, why);
	ck_assert_uint_eq(msg.tail[l->tail].len, l->max * l->elem);
	len = build_counted(l, l->max + 1, buf, sizeof(buf));
	ck_assert_int_eq(wire_parse(buf, len, &msg, &why), -EPROTO);
	ck_assert_str_eq(why, l->why);
}
END_TEST

static Suite *wire_fields_suite(void)
{
	Suite *suite = suite_create("wire_fields");
	TCase *tc = tcase_create("wire_fields");

	tcase_add_loop_test(tc, bad_fields, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_loop_test(tc, largest_counts, 0,
			    sizeof(limits) / sizeof(limits[0]));
	tcase_add_test(tc, sum_of_regions);
	tcase_add_test(tc, no_io_of_nothing);
	tcase_add_test(tc, no_list_without_vectors);
	tcase_add_test(tc, lone_vectors_have_no_stride);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return run_suite(wire_fields_suite());
}
