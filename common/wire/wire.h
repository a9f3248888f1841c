/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire.h - what goes over a connection.
 *
 * Every message is one transport Send: a struct wire_hdr, the fixed body of
 * its operation, then the tail items that the body's length fields announce
 * (strings, arrays, inline data), each padded with zeros to 8 bytes; inline
 * data comes last and may lack its padding.  All integers are little-endian
 * and fixed-width; structures hold no implicit padding and are decoded in
 * place from the receive buffer after wire_parse() has checked every length
 * against a table.  A reply with a status has no body, but for WIRE_REDIRECT:
 * struct wire_path_rep.  A reply that is not said to be otherwise is empty.
 *
 * Bulk payload never travels in a message: requests carry struct wire_mem
 * segments and the server moves the bytes with RDMA Read and Write
 * (PVFS over InfiniBand, ICPP 2003, section 3.2.3, server-based RDMA).
 */
#ifndef WIRE_H
#define WIRE_H

/* Tables, their comments in columns: laid out by hand. */
/* clang-format off */

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_MAGIC      0x42495650u	/* "PVIB" in memory order */
#define WIRE_VERSION    2u		/* the oldest one spoken here; what is sent
					 * says it, as its own ends compare it */
#define WIRE_VERSION_NEWEST 3u		/* ends of both agree on it: WIRE_FT_V3 */

#define WIRE_PATH_MAX   4095u		/* bytes in a path, no NUL */
#define WIRE_NAME_MAX   255u		/* bytes in one component */
#define WIRE_GROUPS_MAX 64u		/* supplementary groups that a message itself has */
#define WIRE_GROUPS_ALL 65536u		/* ... that a list has: NGROUPS_MAX of Linux */
#define WIRE_GROUPS_PART 2048u		/* ... that one GROUPS has */
#define WIRE_REGION_MAX 64u		/* file regions of one request */
#define WIRE_MEM_MAX    256u		/* memory segments of one request */
#define WIRE_HANDLE_MAX 128u		/* handles of one GETSIZE */
#define WIRE_VEC_MAX    256u		/* vectors of one list request */
#define WIRE_PIECE_MAX  65536u		/* pieces that they describe */
#define WIRE_IOD_MAX    1024u		/* iods of one file system */
#define WIRE_SSIZE_MIN  64u		/* bytes a stripe, at least */
#define WIRE_SSIZE_MAX  (1u << 30)	/* ... at most */
#define WIRE_XATTR_MAX	4096u		/* bytes in the value of an attribute */
#define WIRE_XATTRS_MAX 48u		/* extended attributes of an object */
#define WIRE_XATTR_LIST_MAX (WIRE_XATTRS_MAX * (WIRE_NAME_MAX + 1))
#define WIRE_URI_MAX    255u		/* bytes in a server address */
#define WIRE_INLINE_MAX 65536u		/* inline data of one message */
#define WIRE_BODY_MAX   16384u		/* body and tail without inline data */
#define WIRE_TAIL_MAX   4u		/* tail items of one message */
#define WIRE_TICKET_MAX 376u		/* bytes of a ticket: ticket.h */
#define WIRE_CAP_LEN    88u		/* bytes of a capability: capability.h */
#define WIRE_CAPS_MAX   32u		/* of one message */
#define WIRE_WORD_MAX   4096u		/* bytes that prove who sends them */

typedef uint16_t le16;			/* stored little-endian: le16toh() */
typedef uint32_t le32;
typedef uint64_t le64;

/* Operations.  The numbers are the protocol: never reuse one. */
enum wire_op {
	WIRE_HELLO	= 1,	/* first request of every connection */
	WIRE_PING	= 2,	/* any server: version, uptime, counters */
	WIRE_STATFS	= 3,	/* any server: its own store */
	WIRE_BYE	= 4,	/* the session ends cleanly; no body */
	WIRE_FAST	= 5,	/* any server: Fast RDMA buffers; no body */
	WIRE_CARRY	= 6,	/* replies alone: see wire_carry_rep */
	WIRE_METRICS	= 12,	/* any server: what it has counted; 7 to 11 were parts of it */

	/* pvfs-mgr */
	WIRE_MOUNT	= 16,	/* file system: id, root, iods, defaults */
	WIRE_GETATTR	= 17,
	WIRE_OPEN	= 18,
	WIRE_RELEASE	= 19,
	WIRE_SETATTR	= 20,
	WIRE_MKDIR	= 21,
	WIRE_RMDIR	= 22,
	WIRE_UNLINK	= 23,
	WIRE_RENAME	= 24,
	WIRE_SYMLINK	= 25,
	WIRE_READLINK	= 26,
	WIRE_LINK	= 27,
	WIRE_READDIR	= 28,
	WIRE_TRUNCATE	= 29,
	WIRE_ACCESS	= 30,
	WIRE_APPEND	= 31,
	WIRE_LOCK	= 32,
	WIRE_RENAME2	= 33,	/* RENAME with flags */
	WIRE_MKNOD	= 34,	/* FIFOs, sockets, devices */
	WIRE_SETXATTR	= 35,
	WIRE_GETXATTR	= 36,
	WIRE_LISTXATTR	= 37,	/* struct wire_path */
	WIRE_REMOVEXATTR = 38,	/* struct wire_getxattr */
	WIRE_GRANT	= 39,	/* an open file, for another session */
	WIRE_REDEEM	= 40,	/* ... which has it open, too, from now on */
	WIRE_READDIRPLUS = 42,	/* READDIR with attributes */
	WIRE_LOCK_ANY	= 43,	/* waits for several LOCKs, takes one */
	WIRE_LINK2	= 44,	/* LINK or SYMLINK, answered with attributes */
	WIRE_UNLINK2	= 45,	/* UNLINK, answered with the directory's attributes */
	WIRE_CHALLENGE	= 47,	/* before AUTH: what it has to be about */
	WIRE_AUTH	= 48,	/* who the client is, and proves to be */
	WIRE_ADOPT	= 83,	/* what another session has of a file */
	WIRE_ADOPTED	= 84,	/* ... that was all: it ends */
	WIRE_DECLARE	= 49,	/* what the session holds */
	WIRE_RENEW	= 52,	/* capabilities for those that end; no body */
	WIRE_SESSIONS	= 53,	/* of clients: for administrators */
	WIRE_EVICT	= 54,	/* ... who end some of them */
	WIRE_GROUPS	= 55,	/* a list of groups that a later request names */

	/* pvfs-iod */
	WIRE_READ	= 64,
	WIRE_WRITE	= 65,
	WIRE_RESIZE	= 66,	/* local truncate of one object */
	WIRE_SYNC	= 67,
	WIRE_GETSIZE	= 68,	/* local sizes of up to 128 objects */
	WIRE_REMOVE	= 69,
	WIRE_FENCE	= 70,	/* mgr only: refuse sessions from now on */
	WIRE_READ_LIST	= 71,	/* READ and WRITE of many pieces of a file */
	WIRE_WRITE_LIST	= 72,
	WIRE_OBJECTS	= 73,	/* mgr only: which objects there are */
	WIRE_CLAIM	= 74,	/* mgr only: whose store this is */
	WIRE_DISK	= 75,	/* which disk the store is on; no body */
	WIRE_LEASE	= 76,	/* mgr only: until when clients may change */
	WIRE_FALLOCATE	= 77,	/* space of one object, or none; reply: empty */
	WIRE_SEEK	= 78,	/* where data or a hole of one object begins */
	WIRE_COPY	= 80,	/* bytes from another object, of any iod; reply:
				 * empty */
	WIRE_BORROW	= 85,	/* an object for the client's own access: lent.h */
	WIRE_COUNTER	= 86,	/* fetch-and-add on a counter of a file */
	WIRE_PLACE	= 87,	/* where a counter lies, for RDMA atomics */
	WIRE_SHARE	= 88,	/* where blocks that are read often lie: block.h */
};

#define WIRE_OP_END	96u	/* above all of them */

/* File data goes to the client; to the server. */
static inline bool wire_op_reads(unsigned int op)
{
	return op == WIRE_READ || op == WIRE_READ_LIST;
}
static inline bool wire_op_writes(unsigned int op)
{
	return op == WIRE_WRITE || op == WIRE_WRITE_LIST;
}
/* What a client changes of an object. */
static inline bool wire_op_changes(unsigned int op)
{
	return wire_op_writes(op) || op == WIRE_FALLOCATE || op == WIRE_COPY ||
	       op == WIRE_COUNTER;
}

/* Bits of wire_hdr.flags. */
#define WIRE_F_REPLY	0x0001u
#define WIRE_F_REPLAY	0x0002u	/* sent again after a broken connection */
#define WIRE_F_DATA	0x0004u	/* WRITE, WRITE_LIST: what mem names follows the
				 * message, whose length does not count it */
#define WIRE_F_PLACE	0x0008u	/* READ, READ_LIST: mem is one place of the
				 * client's, and the reply may be written there
				 * behind the data: wire_imm() */

#define WIRE_F_CARRY	0x0010u	/* HELLO: this client may be sent CARRY */
#define WIRE_F_UNSURE	0x0020u	/* BYE: another server may still carry out
				 * what it did not answer */
#define WIRE_F_ANEW	0x0040u	/* with REPLAY: the server that it was sent to
				 * first has forgotten the session since, or
				 * was another process; it may have done it */
#define WIRE_F_AS	0x0080u	/* requests that name a path: a struct wire_as
				 * ends the message */
#define WIRE_F_WHOLE	0x0100u	/* READ, READ_LIST with mem: where all that is
				 * asked for is written there, and the object goes
				 * on behind it, wire_imm_whole() with the last of
				 * the data may be the reply */
#define WIRE_F_PROOF	0x0200u	/* HELLO and its reply, whatever its status: a
				 * struct wire_proof ends the message */
#define WIRE_F_APART	0x0400u	/* HELLO: this client wants bulk data over an
				 * endpoint of its own; its reply, status 0: it
				 * may, a struct wire_apart follows the body */
#define WIRE_F_TICKET	0x0800u	/* HELLO with PROOF: a struct wire_shown before it;
				 * the proof is made with the ticket's secret */
#define WIRE_F_SEAL	0x1000u	/* HELLO and its reply with PROOF: a struct wire_seal
				 * before that, and before the ticket */
#define WIRE_F_JOB	0x2000u	/* HELLO: a struct wire_job is right behind the name */
#define WIRE_F_CAPS	0x4000u	/* requests that need a capability, replies that bring
				 * one: a struct wire_caps ends the message */
#define WIRE_F_WAITS	0x8000u	/* requests, but HELLO: this one may wait: WIRE_FT_WAITS */

/*
 * The immediate of a reply that was written by RDMA Write: its slot, and how many
 * bytes of data are before it in the place.  At most 64 KiB.
 */
#define WIRE_IMM_SLOT	0xffu
static inline uint32_t wire_imm(uint32_t slot, uint32_t at)
{
	return at << 8 | slot;
}

/*
 * The immediate that is a reply: status 0, all is there.  Its slot and the lower bits
 * of its seq.
 */
#define WIRE_IMM_WHOLE	0x80000000u
static inline uint32_t wire_imm_whole(uint32_t slot, uint64_t seq)
{
	return WIRE_IMM_WHOLE | (uint32_t)(seq & 0x7fffffu) << 8 | slot;
}

/*
 * The immediate that answers a CARRY: with its ticket, the part was moved, or the
 * client does not move it (WIRE_IMM_DECLINED).
 */
#define WIRE_IMM_CARRIED  0x80000000u
#define WIRE_IMM_DECLINED 0x40000000u
#define WIRE_IMM_TICKET	  0x3fffffffu

/* Status beyond errno values (Linux generic numbers). */
#define WIRE_REDIRECT	4096u	/* path left the file system: see wire_path_rep */

struct wire_hdr {
	le32 magic;		/* WIRE_MAGIC */
	le16 version;		/* WIRE_VERSION, whatever was agreed on; up to
				 * _NEWEST is taken */
	le16 op;		/* enum wire_op */
	le32 len;		/* whole message with this header, bytes */
	le16 slot;		/* session slot, below the granted credits */
	le16 flags;		/* WIRE_F_* */
	le64 session;		/* client-chosen random id, never 0 */
	le64 seq;		/* per slot, grows by one with each new call */
	le64 clock;		/* CLOCK_BOOTTIME of the server, ns.  Request: from
				 * when on it is not to be carried out; 0 in HELLO
				 * and BYE.  Reply: when it was sent */
	le32 credits;		/* reply: slots the client may use from now on;
				 * 0 in a request */
	le32 status;		/* reply: 0, errno or WIRE_REDIRECT; 0 in a
				 * request */
};

/*
 * Connection private data: what both ends must know before the first message
 * (rdma_cm carries at most 56 bytes).  Credits are the number of receive
 * buffers the server posts for this connection, or, where clients share them, of
 * requests that it takes from one client at a time.
 */
enum wire_role { WIRE_ROLE_CLIENT = 1, WIRE_ROLE_MGR = 2, WIRE_ROLE_IOD = 3 };

struct wire_connect {		/* connect request, private data */
	le32 magic;
	le16 version;
	le16 role;		/* who connects */
	le64 fsid;		/* 0: any (asking a mgr for its file system) */
	le64 session;
	le32 epoch;		/* grows with each reconnect of the session */
	le32 reply_max;		/* largest message the connector can receive */
};

/* Refusals of a server that is full, of a connect and of HELLO; the client tries again. */
#define WIRE_ENOFILES	63	/* ENOSR: few descriptors are left (LimitNOFILE=) */
#define WIRE_ENOSEATS	87	/* EUSERS: max_sessions, or host_sessions */

struct wire_accept {		/* accept or reject, private data */
	le32 magic;
	le16 version;
	le16 status;		/* 0, or errno: the reason of a reject */
	le64 fsid;
	le64 boot;		/* random, new at every start of the server; its upper
				 * half may mean more: WIRE_FT_LIFE */
	le32 credits;		/* slots granted */
	le32 request_max;	/* largest message the server can receive */
};

/*
 * What may stand behind wire_connect and wire_accept; who does not know it does not
 * look there, and zeros there (rdma_cm pads) say nothing.  A feature is used if
 * both ends have named it; those that an end does not know do not count.
 */
#define WIRE_FT_PROOF	0x1u	/* HELLO and its reply prove who sends them */
#define WIRE_FT_LACKS	0x2u	/* attributes may have WIRE_A_NOACL, _NOXATTR */
#define WIRE_FT_SOLE	0x4u	/* attributes may have WIRE_A_SOLE */
#define WIRE_FT_APART	0x8u	/* alone, a JOIN: this connect is for the bulk data of the
				 * connection that its session and epoch name; nonce
				 * is the token that HELLO's reply gave there */
#define WIRE_FT_JOB	0x10u	/* HELLO may say of which job the client is */
#define WIRE_FT_ENDS	0x20u	/* GETSIZE of one object may be answered with where
				 * the size is to be read (ends.h) */
#define WIRE_FT_SHARE	0x40u	/* it has blocks to be read: SHARE */
#define WIRE_FT_SEAL	0x80u	/* with PROOF: HELLO may have, and a server that says
				 * it wants, a struct wire_seal; alone, of a client
				 * without a ticket yet: it can seal */
#define WIRE_FT_CAPS	0x100u	/* clients: know capabilities; the manager: hands them
				 * out; an iod: wants them */
#define WIRE_FT_V3	0x200u	/* version 3: HELLO may have WIRE_F_APART, LEASE has a clock
				 * and since, there are DECLARE, UNLINK2 and METRICS.  Every
				 * end of that version names it */
#define WIRE_FT_ASIDE	0x2000u	/* clients: look at the word again behind a write to what
				 * is lent; iods: set it aside (lent.h) */
#define WIRE_FT_EVICT	0x8000u	/* there are SESSIONS and EVICT; FENCE may have
				 * WIRE_FN_EVICT; clients: know -EKEYREVOKED of a session that
				 * was evicted */
#define WIRE_FT_HERE	0x10000u /* with SEAL, of a client without a ticket: the answer to AUTH
				 * may seal the connection: WIRE_CH_HERE */
#define WIRE_FT_LIFE	0x20000u /* an iod's: the upper half of boot is not random but stays for
				 * as long as it keeps what is written and not flushed: never 0 */
#define WIRE_FT_GROUPS	0x40000u /* the manager: there are GROUPS and lists; clients: know
				 * -WIRE_ENOGROUPS */
#define WIRE_FT_LOCAL	0x800000u /* a server's: it listens for clients of its host through
				 * shared memory, too; clients: use that when they can */
#define WIRE_FT_TERM	0x1000000u /* an iod's: CLAIM may be answered with the term that
				 * it keeps */
#define WIRE_FT_WAITS	0x80000u /* a request without WIRE_F_WAITS that has waited for another server, a
				  * disk or a lease for RPC_WAIT_BRIEF_MS is not carried out but
				  * answered EINPROGRESS; the client sends it again with the flag */
#define WIRE_FT_TOOL	0x100000u /* clients: an administrator's tool, which may use what a full
				 * server keeps for such (WIRE_H_NOFILES, _NOSEATS), if it
				 * proves to be root's or the server's own user's */
#define WIRE_FT_ROOM	0x200000u /* clients: know -WIRE_ENOFILES and -WIRE_ENOSEATS, where others
				 * are refused with EAGAIN */
#define WIRE_NONCE_LEN	12u
struct wire_hail {
	le32 features;		/* WIRE_FT_* */
	uint8_t nonce[WIRE_NONCE_LEN];	/* of this connection alone */
};

static inline uint32_t wire_boot_life(uint64_t boot, uint32_t features)
{
	return features & WIRE_FT_LIFE ? (uint32_t)(boot >> 32) : 0;
}

/* Shared pieces. */
struct wire_dist {		/* simple stripe (pvfs_filestat, PVFS 1.5) */
	le32 base;		/* index of the first iod */
	le32 pcount;		/* number of iods */
	le32 ssize;		/* bytes a stripe */
	le32 zero;
};

#define WIRE_A_SIZE	0x1u	/* wire_attr.flags: size is known and right;
				 * else ask the iods (WIRE_GETSIZE) */
#define WIRE_A_MSET	0x2u	/* mtime was set explicitly, at ctime or before;
				 * only a later write replaces it */

#define WIRE_A_HOLES	0x4u	/* what it takes is not what its size says: the
				 * iods know (WIRE_GETSIZE) */

#define WIRE_A_NOACL	0x8u	/* there is no access control list, of either kind; */
#define WIRE_A_NOXATTR	0x10u	/* ... and no extended attribute at all.  Both only
				 * to who named WIRE_FT_LACKS */
#define WIRE_A_SOLE	0x20u	/* without _SIZE: it is open for writing once, by
				 * the session that asks: it ends where size says,
				 * or behind that where that one wrote.  Only to
				 * who named WIRE_FT_SOLE */

struct wire_attr {
	le64 handle;
	le64 size;		/* bytes; see WIRE_A_SIZE */
	le64 atime, mtime, ctime;	/* ns since the epoch, signed */
	le32 mode;		/* type and permission bits */
	le32 nlink;
	le32 uid, gid;
	le32 flags;		/* WIRE_A_* */
	le32 zero;
	struct wire_dist dist;	/* regular files; devices: major number in
				 * base, minor in pcount */
};

struct wire_region {		/* piece of an object, iod-local offsets */
	le64 off;
	le64 len;
};

struct wire_mem {		/* piece of the client's registered memory */
	le64 addr;
	le32 len;
	le32 rkey;
};

/*
 * WIRE_F_AS: who asks, if it is not the one that the session said it is: a program
 * that serves all users of a host (pvfs-fuse).  Only sessions of uid 0 may.
 */
struct wire_as {		/* then groups[ngroups] */
	le32 uid, gid;
	le32 ngroups;		/* at most WIRE_GROUPS_MAX */
	le32 zero;
};

/*
 * More than WIRE_GROUPS_MAX groups are a list with a number, and the number stands where
 * the groups would: WIRE_GROUPS_LISTED, which is the number of no group, then the number's
 * lower and upper half.  It is so in wire_as, HELLO and tickets, to servers that named
 * WIRE_FT_GROUPS; only the manager looks at it.
 *
 * GROUPS tells the manager a list, in parts, in their order; a part that it has is answered
 * 0 and changes nothing.  The list is in ascending order, counts for this session alone, and
 * a number never names two.  Only sessions that may use WIRE_F_AS may send it, and one that
 * nothing proves, of its own HELLO's list.  -EAGAIN: the parts before it are missing.
 *
 * -WIRE_ENOGROUPS: the list that the request needs is not there, or not any more.
 * Send it, or, with a ticket, AUTH, and then the request again.
 */
#define WIRE_GROUPS_LISTED UINT32_MAX
#define WIRE_ENOGROUPS	57	/* EBADSLT, which no call of a file system fails with */
struct wire_groups {		/* tail: gid[n] */
	le64 list;
	le32 total;		/* of the list: at most WIRE_GROUPS_ALL */
	le32 first;		/* which one gid[0] is */
	le32 n;
	le32 zero;
};

/* Of groups in host order: do they name a list?  And which. */
static inline bool wire_groups_listed(const uint32_t *groups, uint32_t n)
{
	return n == 3 && groups[0] == WIRE_GROUPS_LISTED;
}

static inline uint64_t wire_groups_list(const uint32_t *groups)
{
	return groups[1] | (uint64_t)groups[2] << 32;
}

/* The other way round.  Returns how many groups has then. */
static inline uint32_t wire_groups_name(uint32_t *groups, uint64_t list)
{
	groups[0] = WIRE_GROUPS_LISTED;
	groups[1] = (uint32_t)list;
	groups[2] = (uint32_t)(list >> 32);
	return 3;
}

/* HELLO: who this session is.  Tail: groups[ngroups], name. */
struct wire_hello {
	le32 uid, gid;
	le32 ngroups;
	le32 name_len;		/* "host:pid:program", for logs */
};
/*
 * WIRE_F_JOB: what the client calls the job that it is part of, for METRICS.  Then
 * job[len], padded: characters of ASCII that print.  Nobody proves it.
 */
#define WIRE_JOB_MAX	64u
struct wire_job {
	le32 len;		/* 1 to WIRE_JOB_MAX */
	le32 zero;
};
/*
 * WIRE_F_PROOF: who sends this has the key.  The code covers all of the message that is
 * before it, and what both ends know of the connection (handshake.h).
 */
struct wire_proof {
	le32 key;		/* its name: keyring.h */
	le32 zero;
	uint8_t mac[32];
};

/*
 * WIRE_F_APART: what a JOIN shows.  Good once, and until the first request.  Then
 * what the server reads and writes of the client's memory goes over that endpoint, and
 * behind what is written there the reply; all else over the first.
 */
struct wire_apart {
	uint8_t token[WIRE_NONCE_LEN];
	le32 zero;
};

/*
 * WIRE_F_SEAL: all that follows HELLO's reply, status 0, on this connection is sealed
 * (tp_seal.h).  In HELLO mode is what the caller asks for at least, in the reply what it
 * is; key is the public half of a pair (X25519) for this connection alone.
 */
#define WIRE_KEY_LEN	32u
struct wire_seal {
	le32 mode;		/* enum seal_mode; in the reply not SEAL_NONE */
	le32 zero;
	uint8_t key[WIRE_KEY_LEN];
};

/* WIRE_F_TICKET: what AUTH was answered with.  Then ticket[len], padded. */
struct wire_shown {
	le32 len;		/* 1 to WIRE_TICKET_MAX */
	le32 zero;
};

/*
 * WIRE_F_CAPS.  In the answer to OPEN and REDEEM the one for what was opened, if both
 * have named WIRE_FT_CAPS.  With RENEW those that end, and in its answer others for
 * them, in the same order; zeros: for that one there is none any more.  To an iod what the request needs (wire_needs()), and it was
 * not shown over this connection.  Then cap[n], WIRE_CAP_LEN bytes each.
 *
 * ENOKEY: it does not know, or not any more, that the session may do this: show it.
 * EKEYREVOKED: what was shown does not count any more: RENEW.  EKEYREJECTED: it is false,
 * or another session's.
 */
struct wire_caps {
	le32 n;			/* 1 to WIRE_CAPS_MAX */
	le32 life;		/* of those in a reply, seconds; else 0 */
};

#define WIRE_H_RESUMED	0x1u	/* the server still knew this session */
#define WIRE_H_CARRY	0x2u	/* it may send CARRY on this connection */
#define WIRE_H_NOFILES	0x4u	/* to who named WIRE_FT_TOOL: it is in the reserve, others are
				 * refused with -WIRE_ENOFILES; or with ... */
#define WIRE_H_NOSEATS	0x8u	/* -WIRE_ENOSEATS */
struct wire_hello_rep {
	le64 boot;
	le32 credits;
	le32 flags;		/* WIRE_H_* */
};

/*
 * CHALLENGE: both ends tell a public key (X25519) and a nonce that they made for this
 * connection.  AUTH must come by the same one.
 */
#define WIRE_CH_KERNEL	0x1u	/* the kernel has said who you are: AUTH of kind sys
				 * is enough */
#define WIRE_CH_SEAL	0x2u	/* behind AUTH come again, with the ticket: nothing
				 * else is done over a connection that is not sealed */
#define WIRE_CH_HERE	0x4u	/* to who named WIRE_FT_HERE, with WIRE_CH_SEAL: behind the
				 * answer to AUTH, status 0, this connection is sealed;
				 * who does not take that comes again */
#define WIRE_CH_ENCRYPT	0x8u	/* ... with SEAL_ENCRYPT, else SEAL_AUTH */
struct wire_challenge {
	uint8_t key[WIRE_KEY_LEN];
	uint8_t nonce[WIRE_KEY_LEN];
};
struct wire_challenge_rep {
	le64 fsid;
	le32 mode;		/* enum auth_mode: what clients have to prove */
	le32 flags;		/* WIRE_CH_* */
	uint8_t key[WIRE_KEY_LEN];
	uint8_t nonce[WIRE_KEY_LEN];
	le32 uid;		/* with WIRE_CH_HERE: that the manager runs as */
	le32 zero;
};
#define WIRE_CHALLENGE_REP_V1 80u /* bytes of it without WIRE_CH_HERE */

/*
 * AUTH: word is what proves who sends it: a MUNGE credential, or a wire_proof by the
 * shared key, about what both ends said in CHALLENGE (pact.h); of kind sys: empty.
 * Tail: word[len].  The reply has such a word of the manager's, that is about the
 * ticket, too.  The ticket's secret comes in pieces that only who has the client's
 * private key can put together.  Tail of the reply: ticket, word.
 *
 * With WIRE_CH_HERE a MUNGE credential is about a secret, too, behind those 32 bytes, and
 * for the eyes of uid alone; the manager's word is a code by that secret (WIRE_KEY_LEN).
 */
struct wire_auth {
	le32 kind;		/* enum auth_mode */
	le32 len;
};
struct wire_auth_rep {
	le64 life;		/* ns from now on that the ticket holds */
	le32 uid, gid;		/* who you are */
	le32 ticket_len;
	le32 word_len;
	uint8_t secret[WIRE_KEY_LEN];
};

/* PING.  Tail of the reply: version. */
struct wire_ping_rep {
	le64 boot;
	le64 uptime_ns;
	le64 requests;		/* served since the start */
	le64 sessions;
	le32 version_len;
	le32 zero;
};

/*
 * METRICS: what a server has counted since it started, and what it has inside now, as rows that
 * say what they are: a client shows a row of a later release, too.  A row has a name, what it
 * means, labels and numbers; names end in their unit, times are ns.  The reply has as many rows as it
 * has room for; from is 0 at first, then what the last reply said.
 *
 * USERS: who is no administrator is shown his own rows.  FILES: administrators alone have rows,
 * since a handle passes over the directories.  With handles: these files alone, with their names.
 */
#define WIRE_MG_OPS	0x1u	/* requests by operation */
#define WIRE_MG_USERS	0x2u	/* ... by user and job */
#define WIRE_MG_FILES	0x4u	/* ... by file: the hottest, on the first page alone */
#define WIRE_MG_INSIDE	0x8u	/* times by way, flushes, queues, buffers, caches */
#define WIRE_METRIC_FILES 64u	/* handles of a request */
#define WIRE_METRIC_NAME 96u	/* bytes of a file's name: the end of the path by which it was
				 * opened last */
#define WIRE_METRIC_LABELS 4u
#define WIRE_METRIC_TEXT 512u	/* bytes, with each NUL */
#define WIRE_METRIC_BUCKETS 128u
struct wire_metrics {		/* tail: handle[n] */
	le64 from;
	le32 groups;		/* WIRE_MG_* */
	le32 n;
};
enum wire_metric_kind {
	WIRE_MK_NOW,		/* n is what it is now, the other numbers are 0 */
	WIRE_MK_TOTAL,		/* n was counted, likewise */
	WIRE_MK_TIMES,		/* something that happened n times: all numbers count */
	WIRE_MK_END
};
struct wire_metric_bucket {
	le64 from;		/* ns: as long or longer, below from of the next one */
	le64 n;			/* not 0 */
};
/*
 * A row: this, then bucket[buckets] of WIRE_MK_TIMES, in order; then text[text_len], strings with their
 * NUL: name, help, key and value of each label.  Names and keys are of a-z and _.
 */
struct wire_metric {
	le16 kind;		/* enum wire_metric_kind */
	le16 labels;
	le16 buckets;
	le16 text_len;
	le64 n;
	le64 errors;
	le64 bytes_in;		/* data of requests */
	le64 bytes_out;		/* bodies and data of replies */
	le64 ns;		/* from arrival to reply, the sum, */
	le64 most;		/* ... and the longest */
};
struct wire_metrics_rep {	/* tail: rows, len bytes */
	le64 next;		/* where to go on from; 0: that was all */
	le32 len;
	le32 zero;
};

/*
 * SESSIONS: those of clients with numbers above after, in the order of these, as many as the
 * reply has room for.  Administrators alone are told, others get -EPERM.
 */
#define WIRE_SESSIONS_MAX 48u	/* in one reply */
#define WIRE_PEER_MAX	64u
#define WIRE_SE_AWAY	0x1u	/* it has no connection */
struct wire_sessions {
	le64 after;
};
struct wire_session {
	le64 id;
	le64 age_ns;		/* as far as this life of the manager knows */
	le32 uid;
	le32 gid;
	le32 opens;		/* files that the manager knows it has open: for
				 * writing, or held */
	le32 locks;
	le32 flags;		/* WIRE_SE_* */
	le32 zero;
	/* each then zeros */
	uint8_t job[WIRE_JOB_MAX];
	uint8_t name[WIRE_PEER_MAX]; /* as in HELLO, the beginning of it */
	uint8_t peer[WIRE_PEER_MAX]; /* where it connected from last */
};
struct wire_sessions_rep {	/* tail: session[n] */
	le32 n;
	le32 more;		/* 1: there are sessions behind the last one */
};

/*
 * EVICT: ends the sessions that are meant, but for the one that asks, and is answered when
 * nothing of them counts any more: at all iods, and what they had of files and locks.  Not
 * longer than wait_ms: then left of them are not over yet, or these iods have not said
 * that they know; a capability counts there for until_ns at most, 0: until they know.
 * Administrators alone may.
 */
enum wire_evict_by {
	WIRE_EV_SESSION,	/* the number; -ESRCH: there is none such */
	WIRE_EV_USER,
	WIRE_EV_JOB,		/* text */
	WIRE_EV_HOST,		/* text: networks.h, or "local" */
	WIRE_EV_END
};
#define WIRE_EV_TEXT	256u
struct wire_evict {		/* tail: text[len] */
	le64 session;
	le32 by;		/* enum wire_evict_by */
	le32 uid;
	le32 wait_ms;
	le32 len;
};
struct wire_evict_rep {		/* tail: iod[niods], le32 each */
	le64 until_ns;
	le32 n;			/* sessions */
	le32 left;
	le32 niods;
	le32 zero;
};

/*
 * FAST: buffers of the server for this connection.  A request that fits one,
 * with WIRE_F_DATA and its data, may be written there by RDMA Write with
 * immediate, the buffer's number, instead of being sent; the buffer is the
 * client's again when the reply is there (ICPP 2003, section 4.1.2).
 */
struct wire_fast_rep {
	le64 addr;		/* of the first; the others follow it */
	le32 rkey;
	le32 size;		/* bytes of each */
	le32 count;
	le32 zero;
};

/*
 * CARRY: the server asks the client to move a part of the payload of a READ or
 * WRITE (also of lists) itself, into or out of memory that is lent for this (adaptive
 * rendezvous of PVFS2 over Quadrics, ICS 2005, section 5.1).  It comes as a reply
 * to that request, with its slot, session and seq, before the reply proper.  The
 * client answers each with RDMA Write with immediate, WIRE_IMM_CARRIED and
 * the ticket: that of the data, or an empty one behind its RDMA Read.  A ticket is
 * not used again before.
 */
#define WIRE_CARRY_MAX	4u	/* tickets of a connection */
struct wire_carry_rep {
	le64 addr;		/* of the server's memory */
	le64 mem_off;		/* the part: [mem_off, mem_off + len) of what */
	le32 len;		/* the request's mem names */
	le32 rkey;
	le32 ticket;		/* below WIRE_CARRY_MAX */
	le32 zero;
};

struct wire_statfs_rep {
	le64 bsize;
	le64 blocks, bfree, bavail;
	le64 files, ffree;
};

/* MOUNT.  Tail of the reply: the iods' URIs, NUL after each. */
struct wire_mount_rep {
	le64 fsid;
	le64 root;		/* handle of the root directory */
	le32 niods;
	le32 ssize;		/* default stripe size, bytes */
	le32 pcount;		/* default number of iods, 0 = all */
	le32 uris_len;
};
#define WIRE_URIS_MAX (WIRE_BODY_MAX - sizeof(struct wire_mount_rep))

/*
 * Requests of the name space name an object by a path below a directory
 * handle (0: the root) or, with an empty path, by the handle itself.
 */
#define WIRE_P_NOFOLLOW	0x1u	/* do not follow a symlink in the last place */
#define WIRE_P_EVER	0x2u	/* GETATTR: ENXIO of a handle that was never
				 * given out */

struct wire_path {		/* GETATTR, READLINK, UNLINK, RMDIR; tail: path */
	le64 dir;
	le32 flags;		/* WIRE_P_* */
	le32 path_len;
};
struct wire_attr_rep {
	struct wire_attr attr;
};
struct wire_path_rep {		/* READLINK, and any WIRE_REDIRECT; tail: path */
	le32 path_len;
	le32 which;		/* redirect of wire_two: 0 path1 left, 1 path2 */
};

#define WIRE_O_READ	0x01u
#define WIRE_O_WRITE	0x02u
#define WIRE_O_CREAT	0x04u
#define WIRE_O_EXCL	0x08u
#define WIRE_O_TRUNC	0x10u
#define WIRE_O_APPEND	0x20u
#define WIRE_O_NOFOLLOW	0x40u
#define WIRE_O_DIRECTORY 0x80u
#define WIRE_O_HOLD	0x100u	/* of who only reads: an open id as well, and the
				 * file lives until it is released, whatever
				 * becomes of its names */

/*
 * The mode of what is made, and beside it the umask: this does not count where the
 * directory has a default access control list.
 */
#define WIRE_MODE(mode, umask) ((uint32_t)(mode) | (uint32_t)(umask) << 16)
#define WIRE_MODE_UMASK(mode) ((mode) >> 16)
#define WIRE_MODE_BITS(mode) ((mode) & 0xffffu)

struct wire_open {		/* tail: path */
	le64 dir;
	le32 flags;		/* WIRE_O_* */
	le32 mode;		/* WIRE_MODE(): permission bits (07777), umask */
	struct wire_dist dist;	/* for a new file; 0xffffffff: default */
	le32 path_len;
	le32 zero;
};
struct wire_open_rep {
	struct wire_attr attr;
	le64 open;		/* id for RELEASE; 0: none needed (read only, and
				 * not held) */
};

#define WIRE_R_WROTE	0x1u	/* data was written through this open */
#define WIRE_R_MTIME	0x2u	/* ... after the last explicit utimens */
#define WIRE_R_READ	0x8u	/* data was read through this open: atime follows
				 * as with relatime of mount(8).  mtime says when
				 * if nothing was written */
#define WIRE_R_SPACE	0x10u	/* its space was changed without its data, or
				 * what was written may have left a hole: see
				 * WIRE_A_HOLES */
#define WIRE_R_DOUBT	0x4u	/* a write failed: only the iods know how far it
				 * came */

struct wire_release {
	le64 handle;
	le64 open;
	le64 end;		/* highest file offset written, exclusive */
	le64 mtime;		/* of the last write, or read, ns; one ahead of the
				 * manager's clock counts as now */
	le32 flags;		/* WIRE_R_* */
	le32 zero;
};

/*
 * GRANT: who has a file open gives a token for it, which REDEEM by whatever session
 * takes, once, for an open file of its own, as OPEN would, but without a look at
 * the mode.  A token is forgotten after WIRE_TOKEN_S seconds, and when the open file
 * of which it was made is closed.
 */
#define WIRE_TOKEN_LEN	16u
#define WIRE_TOKEN_S	10u
struct wire_grant {
	le64 handle;
	le64 open;		/* of the session that asks */
	le32 flags;		/* WIRE_O_READ, WIRE_O_WRITE */
	le32 zero;
};
struct wire_grant_rep {
	uint8_t token[WIRE_TOKEN_LEN];
};
struct wire_redeem {		/* reply: wire_open_rep */
	uint8_t token[WIRE_TOKEN_LEN];
	le32 flags;		/* WIRE_O_READ, WIRE_O_WRITE, WIRE_O_APPEND */
	le32 zero;
};

/*
 * ADOPT: a program that runs on as another one has a new session; what the one before
 * has of a file becomes this one's: an open, and locks.  Both are of one user.
 */
#define WIRE_AD_PROCESS	0x1u	/* the locks of owner 0, too */
struct wire_adopt {
	le64 session;		/* the one before */
	le64 handle;
	le64 open;		/* 0: none */
	le64 owner;		/* of locks; 0: none */
	le32 flags;		/* WIRE_AD_* */
	le32 zero;
};
#define WIRE_AD_OPEN	0x1u	/* the open is this session's now */
#define WIRE_AD_MORE	0x2u	/* there are more locks: ask again */
struct wire_adopt_rep {
	le32 flags;
	le32 zero;
};
/*
 * ADOPTED: the session before ends, with all that it still has.  Answered when no
 * server can carry out anything of it any more.
 */
struct wire_adopted {
	le64 session;
};

/*
 * DECLARE: a session holds these (WIRE_O_HOLD), says so to each process of the manager
 * that it meets, and from the first answer on need not be asked: the manager keeps what is
 * merely held in memory, and until all such sessions that it had have declared, or
 * ended, it removes no file for good.  boot: as HELLO was answered; of another one it
 * is answered and ignored.  Tail: struct wire_hold[n].
 */
#define WIRE_DC_ALL	0x1u	/* with what was declared before, this is all */
#define WIRE_HOLD_MAX	512u
struct wire_declare {
	le64 boot;
	le32 flags;		/* WIRE_DC_* */
	le32 n;
};
struct wire_hold {
	le64 handle;
	le64 open;		/* its id */
};

#define WIRE_S_MODE	0x01u
#define WIRE_S_UID	0x02u
#define WIRE_S_GID	0x04u
#define WIRE_S_ATIME	0x08u
#define WIRE_S_MTIME	0x10u
#define WIRE_S_ATIME_NOW 0x20u
#define WIRE_S_MTIME_NOW 0x40u
#define WIRE_S_KILL	0x80u	/* what the file lends of rights ends, as by a
				 * write: set-id bits, capabilities; alone: atime
				 * is an open id, which may write, or 0 */

struct wire_setattr {		/* tail: path; reply: wire_attr_rep */
	le64 dir;
	le64 atime, mtime;
	le32 valid;		/* WIRE_S_* */
	le32 mode, uid, gid;	/* mode: permission bits (07777); an id of
				 * UINT32_MAX stays, as chown(2) has it */
	le32 flags;		/* WIRE_P_* */
	le32 path_len;
};

struct wire_mkdir {		/* tail: path; reply: wire_attr_rep */
	le64 dir;
	le32 mode;		/* WIRE_MODE(): permission bits (07777), umask */
	le32 path_len;
};

struct wire_two {		/* RENAME, LINK: from, to; SYMLINK: target, path */
	le64 dir1, dir2;	/* SYMLINK: dir1 unused, 0 */
	le32 path1_len, path2_len;
};

#define WIRE_LN_SYMBOLIC 0x1u	/* the first path is a text, and dir1 is 0 */

struct wire_link2 {		/* tail: from or text, to; reply: wire_attr_rep */
	le64 dir1, dir2;
	le32 path1_len, path2_len;
	le32 flags;		/* WIRE_LN_* */
	le32 zero;
};

#define WIRE_RN_NOREPLACE 0x1u	/* EEXIST if the second path is there */
#define WIRE_RN_EXCHANGE  0x2u	/* both are, and take each other's place */

struct wire_rename {		/* tail: from, to */
	le64 dir1, dir2;
	le32 path1_len, path2_len;
	le32 flags;		/* WIRE_RN_*, one of them at most */
	le32 zero;
};

struct wire_mknod {		/* tail: path; reply: wire_attr_rep */
	le64 dir;
	le32 mode;		/* WIRE_MODE(): type and permission bits: not a
				 * regular file, directory or symlink */
	le32 path_len;
	le32 major, minor;	/* devices; else 0 */
};

#define WIRE_X_CREATE	0x1u	/* EEXIST if it is there */
#define WIRE_X_REPLACE	0x2u	/* ENODATA if it is not */

struct wire_setxattr {		/* tail: path, name, value */
	le64 dir;
	le32 flags;		/* WIRE_X_* */
	le32 path_len;
	le32 name_len;
	le32 value_len;
};
struct wire_getxattr {		/* tail: path, name */
	le64 dir;
	le32 path_len;
	le32 name_len;
};
struct wire_xattr_rep {		/* GETXATTR: the value; LISTXATTR: names, NUL after
				 * each.  Tail: bytes[len] */
	le32 len;
	le32 zero;
};

/*
 * READDIR: entries come back by RDMA Write into mem, at most mem.len bytes,
 * as struct wire_dirent records.  cookie 0 starts; the next cookie is that
 * of the last entry.  Cookies stay valid over any change of the directory.
 */
struct wire_readdir {
	le64 dir;
	le64 cookie;
	struct wire_mem mem;
};
struct wire_readdir_rep {
	le32 bytes;		/* written to mem */
	le32 count;		/* entries */
	le32 eof;		/* 1: no more entries */
	le32 zero;
};
struct wire_dirent {		/* then name, NUL, padding to 8 bytes */
	le64 handle;
	le64 cookie;
	le16 reclen;		/* bytes to the next record */
	le16 name_len;
	le32 mode;		/* type bits only */
};

/*
 * READDIRPLUS: as READDIR, in records of struct wire_direntplus, with the
 * attributes as they were when it was answered.  attr.handle is 0, and all else
 * there: of "." and "..", of a file of which only the iods know size or space, and if the
 * session's user may not search the directory.
 */
struct wire_direntplus {	/* then name, NUL, padding to 8 bytes */
	struct wire_dirent ent;
	struct wire_attr attr;
};

struct wire_truncate {		/* tail: path; reply: empty */
	le64 dir;
	le64 size;
	le64 open;		/* open id: skip the permission check; or 0 */
	le32 path_len;
	le32 zero;
};

struct wire_access {		/* tail: path; reply: empty */
	le64 dir;
	le32 mask;		/* R_OK | W_OK | X_OK */
	le32 path_len;
};

struct wire_append {		/* reserves [offset, offset + len) */
	le64 handle;
	le64 open;
	le64 len;		/* 0: none, but what was opened for appending will
				 * write elsewhere, too */
};
struct wire_append_rep {
	le64 offset;
};

/*
 * LOCK: an advisory lock on bytes [start, end) of a file, or its release.  end
 * INT64_MAX means for ever.  Locks of one owner (a number that the session
 * chooses) replace each other; those of two owners in one space stand in each
 * other's way unless both are shared.  They end with the session at the
 * latest.  A request that waits is answered EAGAIN after WIRE_LOCK_WAIT_MS,
 * or half of its time-out if that is less, and is to be repeated.  Owner 0 is the process itself: a wait among those
 * that would never end is answered EDEADLK.
 */
#define WIRE_LOCK_WAIT_MS 5000u
#define WIRE_L_UNLOCK	0u
#define WIRE_L_SHARED	1u
#define WIRE_L_EXCLUSIVE 2u
#define WIRE_L_WAIT	0x1u	/* until it is free */
#define WIRE_L_TEST	0x2u	/* say what is in the way, take nothing */
#define WIRE_L_WHOLE	0x4u	/* flock(2): a space of its own */
#define WIRE_L_CANCEL	0x8u	/* type UNLOCK: nothing is let go, but the session's
				 * waits for just these bytes, by this owner,
				 * end with EINTR */

struct wire_lock {
	le64 handle;
	le64 owner;
	le64 start;
	le64 end;
	le32 type;		/* WIRE_L_UNLOCK, ... */
	le32 flags;		/* WIRE_L_WAIT, ... */
};
struct wire_lock_rep {		/* TEST: one that is in the way */
	le64 start;
	le64 end;
	le32 type;		/* WIRE_L_UNLOCK: nothing is */
	le32 zero;
};

/*
 * LOCK_ANY: waits until one of these can be taken, and takes the first that can:
 * so a client with many that wait has one slot less for that, and not as many.
 * Of each lock type and WIRE_L_WHOLE count; no owner is 0.  Answered EAGAIN after
 * wait_ms, or as a LOCK that waits if that is earlier; EINTR if one of them is
 * cancelled.  Any other error may be that of one of them: ask for each.
 * Tail: struct wire_lock[n].
 */
#define WIRE_LOCK_ANY_MAX 128u
struct wire_lock_any {
	le32 n;			/* at least 1 */
	le32 wait_ms;
};
struct wire_lock_any_rep {
	le32 which;		/* from 0 on */
	le32 zero;
};

/*
 * READ and WRITE: file regions and client memory are two lists with one
 * total.  WRITE carries its data inline when nmem is 0; READ answers inline
 * when nmem is 0.  The total is never 0 and no piece of the lists is empty.
 * Tail: regions[nreg], mem[nmem], data[data_len] (READ: data_len is 0).
 */
#define WIRE_IO_SYNC	0x1u	/* on stable storage before the reply */

struct wire_io {
	le64 handle;
	le64 total;		/* bytes; the sum of both lists */
	le32 flags;		/* WIRE_IO_* */
	le32 nreg;
	le32 nmem;
	le32 data_len;		/* inline bytes (WRITE only) */
};
struct wire_io_rep {		/* READ inline: tail data[data_len] */
	le64 done;		/* bytes (READ inline: data_len); a READ that
				 * meets the end of the object counts up to the
				 * last byte before it, in the order of the
				 * regions; the rest of the client's memory is
				 * left alone.  What lies beyond the end in a
				 * region before that byte arrives as zeros. */
	le64 size;		/* of the object: after the WRITE, or when the
				 * READ began */
	le32 data_len;
	le32 zero;
};

/*
 * READ_LIST and WRITE_LIST: as READ and WRITE, but the pieces are those of the
 * file, and the iod takes its share of each.  A regular pattern is one
 * struct wire_vec however many pieces it has:
 *
 *   off     len    stride
 *   |------>[==]---[==]---[==]                        count 3
 *           |---- stride2 ---->[==]---[==]---[==]     count2 2
 *
 * The iod walks the pieces in this order, passes over the first skip bytes of
 * its share and moves the io.total bytes behind them.  (The list I/O of PVFS
 * 1.5; regular descriptions after Ching et al., Cluster 2003.)
 * Tail: vecs[io.nreg], mem[io.nmem], data[io.data_len].
 */
struct wire_vec {
	le64 off;		/* file offset of the first piece */
	le64 len;		/* bytes of a piece */
	le64 stride;		/* from piece to piece; any if count is 1 */
	le64 stride2;		/* from row to row; any if count2 is 1 */
	le32 count;		/* pieces in a row, at least 1 */
	le32 count2;		/* rows, at least 1 */
};
struct wire_list {		/* reply: wire_io_rep */
	struct wire_io io;	/* nreg: of vecs */
	le64 skip;		/* bytes of the iod's share */
	struct wire_dist dist;	/* of the file; base: which server of the
				 * file the iod is, 0 to pcount - 1 */
};

#define WIRE_RZ_AGAIN	0x1u	/* the manager asks again after its restart, and
				 * does not know whether it was done */

struct wire_resize {
	le64 handle;
	le64 size;		/* local bytes */
	le64 id;		/* of the truncation: it is done once; 0: none */
	le64 span;		/* ns from its birth to wire_hdr.clock */
	le32 flags;		/* WIRE_RZ_* */
	le32 zero;
};

/*
 * FALLOCATE: fallocate(2) of a range of one object.  Without a flag the range has
 * its space then, and the object reaches to its end.
 */
#define WIRE_FA_KEEP	0x1u	/* the object's size stays */
#define WIRE_FA_PUNCH	0x2u	/* with KEEP: zeros without space */
#define WIRE_FA_ZERO	0x4u	/* zeros, and space */

struct wire_fallocate {
	le64 handle;
	le64 off;		/* local bytes */
	le64 len;		/* not 0 */
	le32 flags;		/* WIRE_FA_* */
	le32 zero;
};

/*
 * COPY: copy_file_range(2) of one object's share.  The iod takes the bytes from its own
 * store, or from another iod by READ.  What the source has no bytes of arrives as zeros.
 * EHOSTUNREACH: that iod did not answer; the client can move them itself.
 */
struct wire_copy {
	le64 handle;		/* that is written */
	le64 from;		/* that is read */
	le64 off, src;		/* local bytes of the two */
	le64 len;		/* not 0 */
	le32 iod;		/* that has what is read: of the file system */
	le32 flags;		/* WIRE_IO_SYNC */
};

#define WIRE_SK_HOLE	0x1u	/* the next hole, not data */

struct wire_seek {
	le64 handle;
	le64 off;		/* local bytes; from there on */
	le32 flags;		/* WIRE_SK_* */
	le32 zero;
};
struct wire_seek_rep {
	le64 off;		/* INT64_MAX: there is no data.  A hole is there at
				 * the latest from the object's end on */
};

/*
 * BORROW: over a transport that passes descriptors, the object's comes with the reply.
 * In front of it, if they are asked for, the pages by which an iod takes back what it
 * lent: gate, terms, marks (lent.h).  It is given back in the marks.  With
 * WIRE_B_NO_OBJECT, which there never is, it only asks whether objects are lent at all,
 * and needs no capability.
 */
#define WIRE_B_NO_OBJECT UINT64_MAX
#define WIRE_B_WRITE	0x1u	/* request: for writing, too; reply: it is */
#define WIRE_B_PAGES	0x2u	/* request: with the pages */
#define WIRE_B_WAITS	0x4u	/* reply: its bytes may be on a disk: read with
				 * RWF_NOWAIT, and what is not there by READ */
#define WIRE_B_NONE	0x8u	/* reply: there is no such object, ask later; with
				 * WIRE_B_WRITE: others are lent for writing, too */
#define WIRE_B_CLOCK	0x10u	/* reply, to who named WIRE_FT_ASIDE: see yourself
				 * whether the gate's clock is yours */
struct wire_borrow {
	le64 handle;
	le32 flags;
	le32 zero;
};
struct wire_borrow_rep {
	le64 number;		/* of this loan, never again; 0: WIRE_B_NONE */
	le64 inode;		/* of the descriptor */
	le32 index;		/* in terms and marks */
	le32 stripe;		/* in the gate */
	le32 flags;
	le32 zero;
};

/*
 * COUNTER: adds to a counter of a file, or sets it, and answers what it was.  Counters
 * are 0 at first, and last as long as the object.  One that wraps is not changed:
 * EOVERFLOW.  ECONNABORTED: it was sent to another process before, which may have done it.
 */
#define WIRE_COUNTERS	8u	/* of a file */
#define WIRE_CT_SET	0x1u	/* value takes its place */
struct wire_counter {
	le64 handle;
	le64 value;		/* signed: what is added; 0: it is only read */
	le32 number;		/* below WIRE_COUNTERS */
	le32 flags;		/* WIRE_CT_* */
};
struct wire_counter_rep {
	le64 old;		/* signed */
};

/*
 * PLACE: where a counter lies in the iod's registered memory, for RDMA fetch-and-adds of
 * the client's.  The place is good for the connection that the reply came over.  A value
 * that is not below the ceiling counts only when the ceiling was raised above it.
 * EAGAIN: by COUNTER, for now; EOPNOTSUPP: always.  ECONNABORTED: what upto came from was
 * another process of the iod.
 */
#define WIRE_PL_RAISE	0x1u	/* the ceiling to upto or above */
#define WIRE_PL_STEP	(UINT64_C(1) << 40)
struct wire_place {
	le64 handle;
	le64 upto;		/* signed; what the client got, and what it added */
	le64 step;		/* what it adds, 1 to WIRE_PL_STEP */
	le64 life;		/* of the reply by which it did, with RAISE */
	le32 number;		/* below WIRE_COUNTERS */
	le32 flags;		/* WIRE_PL_* */
};
struct wire_place_rep {
	le64 addr;		/* 0: it lies nowhere any more, use COUNTER */
	le64 ceiling;		/* signed */
	le64 life;		/* of the iod's process */
	le32 rkey;
	le32 zero;
};

/*
 * SHARE: a table of struct wire_block, for RDMA Reads over the connection that the reply
 * came over.  No body.  EOPNOTSUPP: there is none.
 */
struct wire_share_rep {
	le64 addr;		/* a multiple of 8, not 0 */
	le64 places;		/* 1 to WIRE_SHARE_MAX */
	le32 rkey;
	le32 zero;
};
#define WIRE_SHARE_MAX	(UINT64_C(1) << 32)

struct wire_objects {		/* SYNC, REMOVE, GETSIZE; tail: handles[n] */
	le32 n;
	le32 zero;
};
struct wire_objsize {
	le64 size;		/* 0 when the object does not exist */
	le64 blocks;		/* 512-byte blocks allocated */
	le64 mtime;		/* ns; 0 when the object does not exist */
};
/*
 * Where the answer is kept up to date, for RDMA Reads over the connection that the reply
 * came over: a struct wire_end, as long as it has this tag.
 */
struct wire_end_place {
	le64 addr;		/* a multiple of 8, not 0 */
	le64 tag;		/* not 0 */
	le32 rkey;
	le32 zero;
};
struct wire_getsize_rep {	/* tail: objsize[n], end_place[places] */
	le32 n;
	le32 places;		/* 1: of the one object, to who named WIRE_FT_ENDS */
};

/* FENCE: these sessions have ended.  Tail: sessions[n], none of them 0. */
#define WIRE_FENCE_MAX	128u	/* sessions of one FENCE */
#define WIRE_FN_MEMORY	0x1u	/* nothing is kept of it on the disk: the manager says it
				 * again to each life of the iod, while it matters */
#define WIRE_FN_EVICT	0x2u	/* what was lent to one of them is set aside by a copy, whoever
				 * is inside: to who named WIRE_FT_EVICT */
struct wire_fence {
	le32 n;			/* at least 1 */
	le32 flags;		/* WIRE_FN_* */
};

/*
 * LEASE: from then on, on its own CLOCK_BOOTTIME, the iod carries out no change of a
 * client, unless it has a later one.  With the first one of its life it serves:
 * it has been claimed, and has all fences that it owed.
 */
#define WIRE_LEASE_V2	8u	/* bytes of it without WIRE_FT_V3: until alone */
struct wire_lease {
	le64 until;		/* ns */
	le64 clock;		/* CLOCK_BOOTTIME of the manager, ns, when it sent it:
				 * by that the iod knows how old tickets are */
	le64 since;		/* the first manager's term that had this clock: its
				 * host was not started anew since; at most its own */
};

/*
 * OBJECTS: a walk over all objects of an iod.  place and after are 0 at first,
 * then what the last reply said; place WIRE_PLACE_END: there are no more.
 * An object that is there all the time is named once.
 */
#define WIRE_PLACE_END	UINT32_MAX
struct wire_walk {
	le64 after;
	le32 place;
	le32 zero;
};
struct wire_walk_rep {		/* tail: handles[n] */
	le64 after;
	le32 place;
	le32 n;
};

/*
 * CLAIM: the manager says what it knows of the iod's store, before it asks for
 * anything else; an iod whose store is new serves nobody until then.
 */
#define WIRE_C_FRESH	0x1u	/* the manager's data base is new: no iod may
				 * have held anything */
#define WIRE_C_ASK	0x2u	/* only asks: the iod keeps nothing of it */
enum wire_verdict {
	WIRE_OURS	= 0,
	WIRE_REPLACED	= 1,	/* not the store that the manager knows */
	WIRE_FOREIGN	= 2,	/* it belongs to another manager's data base */
};
struct wire_claim {
	le64 owner;		/* the manager's data base */
	le64 store;		/* the store that was here; 0: not known */
	le64 term;		/* of the manager: orders of lower ones are
				 * refused from now on */
	le32 flags;		/* WIRE_C_* */
	le32 zero;
};
#define WIRE_CLAIM_REP_SHORT 16u /* bytes of it, to who did not name WIRE_FT_TERM */
struct wire_claim_rep {
	le64 store;		/* the one that is here */
	le32 verdict;		/* enum wire_verdict */
	le32 zero;
	le64 term;		/* the highest that has claimed it; 0: none */
};

/*
 * DISK: iods with the same number share the space that each reports in STATFS.
 */
struct wire_disk_rep {
	le64 disk;		/* 0: not known; else of a file system on a host */
};

_Static_assert(sizeof(struct wire_hdr) == 48, "wire_hdr");
_Static_assert(sizeof(struct wire_connect) == 32, "wire_connect");
_Static_assert(sizeof(struct wire_accept) == 32, "wire_accept");
_Static_assert(sizeof(struct wire_hail) == 16, "wire_hail");
_Static_assert(sizeof(struct wire_proof) == 40, "wire_proof");
_Static_assert(sizeof(struct wire_apart) == 16, "wire_apart");
_Static_assert(sizeof(struct wire_seal) == 40, "wire_seal");
_Static_assert(sizeof(struct wire_dist) == 16, "wire_dist");
_Static_assert(sizeof(struct wire_attr) == 80, "wire_attr");
_Static_assert(sizeof(struct wire_region) == 16, "wire_region");
_Static_assert(sizeof(struct wire_mem) == 16, "wire_mem");
_Static_assert(sizeof(struct wire_hello) == 16, "wire_hello");
_Static_assert(sizeof(struct wire_as) == 16, "wire_as");
_Static_assert(sizeof(struct wire_ping_rep) == 40, "wire_ping_rep");
_Static_assert(sizeof(struct wire_metrics) == 16, "wire_metrics");
_Static_assert(sizeof(struct wire_metric) == 56, "wire_metric");
_Static_assert(sizeof(struct wire_metric_bucket) == 16, "wire_metric_bucket");
_Static_assert(sizeof(struct wire_metrics_rep) == 16, "wire_metrics_rep");
_Static_assert(sizeof(struct wire_job) == 8, "wire_job");
_Static_assert(sizeof(struct wire_sessions) == 8, "wire_sessions");
_Static_assert(sizeof(struct wire_session) == 232, "wire_session");
_Static_assert(sizeof(struct wire_sessions_rep) == 8, "wire_sessions_rep");
_Static_assert(sizeof(struct wire_evict) == 24, "wire_evict");
_Static_assert(sizeof(struct wire_evict_rep) == 24, "wire_evict_rep");
_Static_assert(sizeof(struct wire_mount_rep) == 32, "wire_mount_rep");
_Static_assert(sizeof(struct wire_fast_rep) == 24, "wire_fast_rep");
_Static_assert(sizeof(struct wire_carry_rep) == 32, "wire_carry_rep");
_Static_assert(sizeof(struct wire_open) == 40, "wire_open");
_Static_assert(sizeof(struct wire_open_rep) == 88, "wire_open_rep");
_Static_assert(sizeof(struct wire_release) == 40, "wire_release");
_Static_assert(sizeof(struct wire_grant) == 24, "wire_grant");
_Static_assert(sizeof(struct wire_grant_rep) == 16, "wire_grant_rep");
_Static_assert(sizeof(struct wire_redeem) == 24, "wire_redeem");
_Static_assert(sizeof(struct wire_adopt) == 40, "wire_adopt");
_Static_assert(sizeof(struct wire_adopt_rep) == 8, "wire_adopt_rep");
_Static_assert(sizeof(struct wire_adopted) == 8, "wire_adopted");
_Static_assert(sizeof(struct wire_declare) == 16, "wire_declare");
_Static_assert(sizeof(struct wire_groups) == 24, "wire_groups");
_Static_assert(sizeof(struct wire_hold) == 16, "wire_hold");
_Static_assert(sizeof(struct wire_setattr) == 48, "wire_setattr");
_Static_assert(sizeof(struct wire_link2) == 32, "wire_link2");
_Static_assert(sizeof(struct wire_rename) == 32, "wire_rename");
_Static_assert(sizeof(struct wire_mknod) == 24, "wire_mknod");
_Static_assert(sizeof(struct wire_setxattr) == 24, "wire_setxattr");
_Static_assert(sizeof(struct wire_getxattr) == 16, "wire_getxattr");
_Static_assert(sizeof(struct wire_readdir) == 32, "wire_readdir");
_Static_assert(sizeof(struct wire_dirent) == 24, "wire_dirent");
_Static_assert(sizeof(struct wire_direntplus) == 104, "wire_direntplus");
_Static_assert(sizeof(struct wire_truncate) == 32, "wire_truncate");
_Static_assert(sizeof(struct wire_lock) == 40, "wire_lock");
_Static_assert(sizeof(struct wire_io) == 32, "wire_io");
_Static_assert(sizeof(struct wire_io_rep) == 24, "wire_io_rep");
_Static_assert(sizeof(struct wire_vec) == 40, "wire_vec");
_Static_assert(sizeof(struct wire_list) == 56, "wire_list");
_Static_assert(sizeof(struct wire_fallocate) == 32, "wire_fallocate");
_Static_assert(sizeof(struct wire_copy) == 48, "wire_copy");
_Static_assert(sizeof(struct wire_seek) == 24, "wire_seek");
_Static_assert(sizeof(struct wire_counter) == 24, "wire_counter");
_Static_assert(sizeof(struct wire_walk) == 16, "wire_walk");
_Static_assert(sizeof(struct wire_walk_rep) == 16, "wire_walk_rep");
_Static_assert(sizeof(struct wire_fence) == 8, "wire_fence");
_Static_assert(sizeof(struct wire_lease) == 24, "wire_lease");
_Static_assert(sizeof(struct wire_shown) == 8, "wire_shown");
_Static_assert(sizeof(struct wire_caps) == 8, "wire_caps");
_Static_assert(sizeof(struct wire_challenge) == 64, "wire_challenge");
_Static_assert(sizeof(struct wire_challenge_rep) == 88, "wire_challenge_rep");
_Static_assert(sizeof(struct wire_auth) == 8, "wire_auth");
_Static_assert(sizeof(struct wire_auth_rep) == 56, "wire_auth_rep");
_Static_assert(sizeof(struct wire_claim) == 32, "wire_claim");
_Static_assert(sizeof(struct wire_claim_rep) == 24, "wire_claim_rep");
_Static_assert(sizeof(struct wire_disk_rep) == 8, "wire_disk_rep");

/* Length of a tail item of len bytes with its padding. */
static inline size_t wire_pad(size_t len)
{
	return (len + 7) & ~(size_t)7;
}

/*
 * A checked message.  body and tail point into the caller's buffer and live
 * as long as it does.  tail[i] is the i-th tail item of the operation in the
 * order its structure names them; .len is in bytes, without padding.
 */
struct wire_msg {
	const struct wire_hdr *hdr;
	const void *body;
	size_t body_len;		/* the fixed part */
	struct wire_tail {
		const void *ptr;
		size_t len;
	} tail[WIRE_TAIL_MAX];
	const struct wire_as *as;	/* NULL: it came without */
	const le32 *groups;		/* as->ngroups */
	const struct wire_apart *apart;	/* NULL: it came without */
	const char *job;		/* likewise, without an end, */
	size_t job_len;
	const struct wire_seal *seal;	/* likewise */
	const void *ticket;		/* likewise, */
	size_t ticket_len;
	const struct wire_proof *proof;	/* likewise */
	const struct wire_caps *caps;	/* likewise; the first cap is behind it */
};

/*
 * Checks a received message of len bytes at buf (8-byte aligned) before
 * anything in it is used: magic, version, length, operation, direction,
 * counts against their limits, the tail against the length, strings free of
 * NUL, sums of region and memory lists equal to the total and free of
 * overflow, reserved fields zero.
 *
 * Returns 0 and fills *msg, or -EPROTONOSUPPORT (another protocol version),
 * -ENOSYS (unknown operation; msg->hdr is set), -EPROTO (malformed).  *why, if
 * not NULL, then names the field in a constant string.
 */
int wire_parse(const void *buf, size_t len, struct wire_msg *msg,
	       const char **why);

/* Bytes that follow a checked request: what mem names with WIRE_F_DATA, or 0. */
uint64_t wire_data_len(const struct wire_msg *msg);

/*
 * A record of READDIR or READDIRPLUS, of which left bytes are there; fixed: bytes
 * before the name.  True: it ends there, and so does its name, which is one.
 */
bool wire_dirent_ok(const struct wire_dirent *d, size_t left, size_t fixed);

/*
 * A row of METRICS, of which left bytes are there: its length with the padding.  0: it is none, *why
 * says why.
 */
size_t wire_metric_len(const struct wire_metric *m, size_t left,
		       const char **why);
/* Of a checked row. */
static inline const struct wire_metric_bucket *
wire_metric_buckets(const struct wire_metric *m)
{
	return (const struct wire_metric_bucket *)(m + 1);
}
static inline const char *wire_metric_text(const struct wire_metric *m)
{
	return (const char *)(wire_metric_buckets(m) + le16toh(m->buckets));
}

/* The first len bytes of job are those of a struct wire_job. */
bool wire_job_ok(const void *job, size_t len);

/*
 * What a checked request to an iod needs capabilities for: at most WIRE_NEEDS_MAX; 0,
 * none.  body: behind the header.
 */
#define WIRE_NEED_READ	0x1u	/* as CAPABILITY_* */
#define WIRE_NEED_WRITE	0x2u
#define WIRE_NEEDS_MAX	2u
struct wire_need {
	uint64_t handle;
	unsigned int rights;	/* WIRE_NEED_*; of several any one will do */
};
unsigned int wire_needs(unsigned int op, const void *body,
			struct wire_need need[WIRE_NEEDS_MAX]);

/*
 * Whether a request is one that waits for somebody else: for a lock, or for a disk or
 * another server.  A LOCK_ANY does not count: a session has one.  What others meet now and
 * then only the server knows: WIRE_FT_WAITS.  body: behind the header.
 */
enum wire_wait { WIRE_WAIT_NOT, WIRE_WAIT_LOCK, WIRE_WAIT_STORE, WIRE_WAITS };
enum wire_wait wire_waits(unsigned int op, const void *body);

/* The operation's name ("GETATTR"), or "op?". */
const char *wire_op_name(unsigned int op);

/*
 * Checks private data of a connect request or answer; as wire_parse().  buf
 * may be unaligned; bytes behind the structure are ignored (rdma_cm pads).
 */
int wire_check_connect(const void *buf, size_t len, const char **why);
int wire_check_accept(const void *buf, size_t len, const char **why);
/* What stands behind the first `behind` bytes; all zero if that is nothing. */
void wire_take_hail(const void *buf, size_t len, size_t behind,
		    struct wire_hail *hail);

/*
 * Builds a message in a buffer of cap bytes.  wire_begin() leaves room for
 * the header; the fixed body and the tail items are appended in order;
 * wire_end() fills the header's magic, version, op, len and flags and
 * returns the length.  An overflow is remembered and wire_end() answers
 * -EMSGSIZE.  extra is the length of inline data that the caller gathers
 * behind the buffer by itself (without padding).
 *
 * wire_put() copies the item and pads it; item NULL: the bytes are zeroed for
 * the caller to fill.  It returns where they stand (buf must be aligned to 8,
 * so that structures can be written in place), or NULL on overflow.
 */
struct wire_out {
	uint8_t *buf;
	size_t cap, len;
	int err;
};
void wire_begin(struct wire_out *out, void *buf, size_t cap);
void *wire_put(struct wire_out *out, const void *item, size_t len);
/* How many items of that many bytes each, most at most, there is room for behind a body of
 * head bytes that is still to be put. */
unsigned int wire_room(const struct wire_out *out, size_t head, size_t item,
		       unsigned int most);
int wire_end(struct wire_out *out, unsigned int op, unsigned int flags,
	     size_t extra);

#endif
