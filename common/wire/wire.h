/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire.h - the messages of a connection.
 *
 * Each message is one transport Send: a struct wire_hdr, the fixed body of its operation, and the
 * tail items that the length fields of the body announce (strings, arrays, inline data).  Each
 * tail item is padded with zeros to 8 bytes.  Inline data comes last and may lack its padding.
 * All integers are little-endian with fixed widths.  Structures have no implicit padding.  They
 * are decoded in place in the receive buffer, after wire_parse() has checked every length against
 * a table.  A reply with a status has no body, except WIRE_REDIRECT, which has a struct
 * wire_path_rep, and WIRE_ENOTLEADER (HELLO).  A reply is empty unless described otherwise.
 *
 * Bulk payload is never in a message.  Requests contain struct wire_mem segments, and the server
 * moves the bytes with RDMA Read and Write (PVFS over InfiniBand, ICPP 2003, section 3.2.3,
 * server-based RDMA).
 */
#ifndef WIRE_H
#define WIRE_H

/* Tables with their comments in columns: laid out by hand. */
/* clang-format off */

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_MAGIC      0x42495650u	/* "PVIB" in memory order */
#define WIRE_VERSION    2u		/* The oldest version that this release speaks.  Messages
					 * always contain it, because an end of that version
					 * compares it with its own. */
#define WIRE_VERSION_NEWEST 3u		/* used if both ends agree: WIRE_FT_V3 */

#define WIRE_PATH_MAX   4095u		/* bytes in a path, no NUL */
#define WIRE_NAME_MAX   255u		/* bytes in one component */
#define WIRE_GROUPS_MAX 64u		/* supplementary groups within a message */
#define WIRE_GROUPS_ALL 65536u		/* ... of a list: NGROUPS_MAX of Linux */
#define WIRE_GROUPS_PART 2048u		/* ... in one GROUPS */
#define WIRE_REGION_MAX 64u		/* file regions of one request */
#define WIRE_MEM_MAX    256u		/* memory segments of one request */
#define WIRE_HANDLE_MAX 128u		/* handles of one GETSIZE */
#define WIRE_VEC_MAX    256u		/* vectors of one list request */
#define WIRE_PIECE_MAX  65536u		/* pieces that they describe together */
#define WIRE_IOD_MAX    1024u		/* iods of one file system */
#define WIRE_MGR_MAX    5u		/* managers of one file system */
#define WIRE_SSIZE_MIN  64u		/* minimum bytes of a stripe */
#define WIRE_SSIZE_MAX  (1u << 30)	/* ... maximum */
#define WIRE_XATTR_MAX	4096u		/* bytes in the value of an attribute */
#define WIRE_XATTRS_MAX 48u		/* extended attributes of an object */
#define WIRE_XATTR_LIST_MAX (WIRE_XATTRS_MAX * (WIRE_NAME_MAX + 1))
#define WIRE_URI_MAX    255u		/* bytes in a server address */
#define WIRE_INLINE_MAX 65536u		/* inline data of one message */
#define WIRE_BODY_MAX   16384u		/* body and tail without inline data */
#define WIRE_TAIL_MAX   4u		/* tail items of one message */
#define WIRE_TICKET_MAX 376u		/* bytes of a ticket: ticket.h */
#define WIRE_CAP_LEN    88u		/* bytes of a capability: capability.h */
#define WIRE_CAPS_MAX   32u		/* capabilities of one message */
#define WIRE_WORD_MAX   4096u		/* bytes of the proof in AUTH */

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
	WIRE_CARRY	= 6,	/* only as a reply: see wire_carry_rep */
	WIRE_METRICS	= 12,	/* any server: its counts.  It replaces the numbers 7 to 11. */

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
	WIRE_GRANT	= 39,	/* makes a token for an open file */
	WIRE_REDEEM	= 40,	/* ... with which another session opens it, too */
	WIRE_READDIRPLUS = 42,	/* READDIR with attributes */
	WIRE_LOCK_ANY	= 43,	/* waits for several locks, takes one */
	WIRE_LINK2	= 44,	/* LINK or SYMLINK, with attributes in the reply */
	WIRE_UNLINK2	= 45,	/* UNLINK, with the directory's attributes in the reply */
	WIRE_CHALLENGE	= 47,	/* before AUTH: key and nonce for the proof */
	WIRE_AUTH	= 48,	/* proves who the client is */
	WIRE_ADOPT	= 83,	/* takes over an open and locks of another session */
	WIRE_ADOPTED	= 84,	/* ... which has no more, and ends */
	WIRE_DECLARE	= 49,	/* the files that the session holds */
	WIRE_RENEW	= 52,	/* new capabilities for expiring ones; no body */
	WIRE_SESSIONS	= 53,	/* lists sessions of clients, for administrators */
	WIRE_EVICT	= 54,	/* ends some of them, for administrators */
	WIRE_GROUPS	= 55,	/* a list of groups, which later requests name */
	WIRE_RAFT	= 56,	/* managers of a group only: a message between members */
	WIRE_MANAGERS	= 57,	/* the group of managers: its state, and changes of it */
	WIRE_FETCH	= 58,	/* managers of a group only: a part of a copy of the database */
	WIRE_COPYSETS	= 59,	/* which iods store the same objects */

	/* pvfs-iod */
	WIRE_READ	= 64,
	WIRE_WRITE	= 65,
	WIRE_RESIZE	= 66,	/* local truncate of one object */
	WIRE_SYNC	= 67,
	WIRE_GETSIZE	= 68,	/* local sizes of up to 128 objects */
	WIRE_REMOVE	= 69,
	WIRE_FENCE	= 70,	/* mgr only: refuse these sessions from now on */
	WIRE_READ_LIST	= 71,	/* READ and WRITE of many pieces of a file */
	WIRE_WRITE_LIST	= 72,
	WIRE_OBJECTS	= 73,	/* mgr only: list the objects */
	WIRE_CLAIM	= 74,	/* mgr only: the owner of this store */
	WIRE_DISK	= 75,	/* the disk of the store; no body */
	WIRE_LEASE	= 76,	/* mgr only: the time until which clients may change data */
	WIRE_FALLOCATE	= 77,	/* allocates or frees space of one object; reply: empty */
	WIRE_SEEK	= 78,	/* finds the next data or hole of one object */
	WIRE_COPY	= 80,	/* copies bytes from another object, of any iod; reply: empty */
	WIRE_BORROW	= 85,	/* lends an object for direct access by the client: loan_pages.h */
	WIRE_COUNTER	= 86,	/* fetch-and-add on a counter of a file */
	WIRE_PLACE	= 87,	/* the address of a counter, for RDMA atomics */
	WIRE_SHARE	= 88,	/* the address of blocks that are read often: block.h */
	WIRE_ORDER	= 89,	/* iod only: a change of an object of a copyset; reply: empty */
	WIRE_PROMISE	= 90,	/* iod only: the sender wants to serve copysets */
	WIRE_ASSIGN	= 91,	/* mgr only: the copysets of this iod */
	WIRE_OUTCOME	= 95,	/* whether a change that another iod got has been made */
};

#define WIRE_OP_END	96u	/* greater than all of them */

/* Whether the data of the file moves to the client (reads), or to the server (writes). */
static inline bool wire_op_reads(unsigned int op)
{
	return op == WIRE_READ || op == WIRE_READ_LIST;
}
static inline bool wire_op_writes(unsigned int op)
{
	return op == WIRE_WRITE || op == WIRE_WRITE_LIST || op == WIRE_ORDER;
}
/* Whether a client, or a primary for a client, changes an object with this operation. */
static inline bool wire_op_changes(unsigned int op)
{
	return wire_op_writes(op) || op == WIRE_FALLOCATE || op == WIRE_COPY ||
	       op == WIRE_COUNTER;
}

/* Bits of wire_hdr.flags. */
#define WIRE_F_REPLY	0x0001u
#define WIRE_F_REPLAY	0x0002u	/* sent again after a broken connection */
#define WIRE_F_DATA	0x0004u	/* WRITE, WRITE_LIST, ORDER: the bytes that mem names follow the message.
				 * Its length does not include them. */
#define WIRE_F_PLACE	0x0008u	/* READ, READ_LIST: mem is one range in a Fast RDMA buffer of the
				 * client.  The server may write the reply there, after the data:
				 * wire_imm() */

#define WIRE_F_CARRY	0x0010u	/* HELLO: this client may be sent CARRY */
#define WIRE_F_UNSURE	0x0020u	/* BYE: another server may still execute a request that it did not
				 * answer */
#define WIRE_F_STATE_LOST	0x0040u	/* With REPLAY: the server that got the request first may have
				 * executed it and cannot tell: it was another process, or it has
				 * forgotten the session since. */
#define WIRE_F_AS	0x0080u	/* Requests that name a path: the message ends with a struct
				 * wire_as. */
#define WIRE_F_WHOLE	0x0100u	/* READ, READ_LIST with mem: if all requested bytes are written
				 * there, and the object continues after them, wire_imm_whole()
				 * with the last data may replace the reply. */
#define WIRE_F_PROOF	0x0200u	/* HELLO and its reply, with any status: the message ends with a
				 * struct wire_proof. */
#define WIRE_F_APART	0x0400u	/* HELLO: this client wants a separate endpoint for bulk data.
				 * Its reply, status 0: accepted; a struct wire_apart follows the
				 * body. */
#define WIRE_F_TICKET	0x0800u	/* HELLO with PROOF: a struct wire_shown precedes it.  The proof
				 * is made with the secret of the ticket. */
#define WIRE_F_SEAL	0x1000u	/* HELLO and its reply with PROOF: a struct wire_seal precedes the
				 * proof and the ticket. */
#define WIRE_F_JOB	0x2000u	/* HELLO: a struct wire_job follows the name directly. */
#define WIRE_F_CAPS	0x4000u	/* Requests that need a capability, replies that bring one: the
				 * message ends with a struct wire_caps. */
#define WIRE_F_WAITS	0x8000u	/* Requests except HELLO: this one may wait: WIRE_FT_WAITS. */

/*
 * The immediate of a reply that the server writes by RDMA Write, after the data of the request:
 * slot is that of the request, and at the number of data bytes before the reply, at most 64 KiB.
 */
#define WIRE_IMM_SLOT	0xffu
static inline uint32_t wire_imm(uint32_t slot, uint32_t at)
{
	return at << 8 | slot;
}

/*
 * The immediate that replaces the reply to a READ: status 0, and all requested bytes were written.
 * It contains the slot and the lower bits of the seq.
 */
#define WIRE_IMM_WHOLE	0x80000000u
static inline uint32_t wire_imm_whole(uint32_t slot, uint64_t seq)
{
	return WIRE_IMM_WHOLE | (uint32_t)(seq & 0x7fffffu) << 8 | slot;
}

/*
 * The immediate with which a client answers a CARRY.  It contains the ticket, and
 * WIRE_IMM_DECLINED if the client has not moved the data.
 */
#define WIRE_IMM_CARRIED  0x80000000u
#define WIRE_IMM_DECLINED 0x40000000u
#define WIRE_IMM_TICKET	  0x3fffffffu

/* Status beyond errno values (Linux generic numbers). */
#define WIRE_REDIRECT	4096u	/* path left the file system: see wire_path_rep */

struct wire_hdr {
	le32 magic;		/* WIRE_MAGIC */
	le16 version;		/* always WIRE_VERSION; up to _NEWEST is accepted */
	le16 op;		/* enum wire_op */
	le32 len;		/* whole message with this header, bytes */
	le16 slot;		/* slot of the session, below the granted credits */
	le16 flags;		/* WIRE_F_* */
	le64 session;		/* random id chosen by the client, never 0 */
	le64 seq;		/* per slot; grows by one with each new call.  HELLO: wire_meant(). */
	le64 clock;		/* CLOCK_BOOTTIME of the server, ns.  Request: do not execute it
				 * from this time on; 0 in HELLO and BYE.  Reply: when it was
				 * sent. */
	le32 credits;		/* Reply: slots the client may use from now on.  Request: id of
				 * struct copyset_ref. */
	le32 status;		/* Reply: 0, errno or WIRE_REDIRECT.  Request: version of struct
				 * copyset_ref. */
};

/*
 * The copyset, which is the group of iods, that stores the objects of a request, and the version of
 * the group's members that the client knows.  Both 0: the own group of the iod, which has no other
 * member.  Any other group has an id from WIRE_COPYSET_MIN on and a version above 0.  Only requests
 * with wire_op_has_copyset() name a copyset, and only if both ends named WIRE_FT_COPIES.
 */
#define WIRE_COPYSET_MIN WIRE_IOD_MAX
struct copyset_ref {
	uint32_t id, version;
};
/*
 * EREMCHG.  The iod does not serve the copyset in this version.  It has executed nothing of the
 * request, or only some parts of a WRITE, FALLOCATE or COPY.
 */
#define WIRE_ECOPYSET	78
static inline struct copyset_ref wire_copyset(const struct wire_hdr *request)
{
	return (struct copyset_ref){ le32toh(request->credits),
				     le32toh(request->status) };
}

/*
 * Private data of a connect, which both ends need before the first message; at most 56 bytes,
 * because rdma_cm carries no more.  credits is the number of receive buffers that the server
 * posts for this connection.  If its clients share receives, credits is the number of requests
 * that the server accepts from one client at a time.
 */
enum wire_role { WIRE_ROLE_CLIENT = 1, WIRE_ROLE_MGR = 2, WIRE_ROLE_IOD = 3 };

struct wire_connect {		/* private data of a connect request */
	le32 magic;
	le16 version;
	le16 role;		/* role of the connecting end */
	le64 fsid;		/* 0: any (to ask a manager for its file system) */
	le64 session;
	le32 epoch;		/* grows with each reconnect of the session */
	le32 reply_max;		/* largest message that the connecting end accepts */
};

/* Statuses of a full server, for a connect and HELLO.  The client retries. */
#define WIRE_ENOFILES	63	/* ENOSR: few descriptors are left (LimitNOFILE=) */
#define WIRE_ENOSEATS	87	/* EUSERS: max_sessions, or host_sessions */

struct wire_accept {		/* private data of an accept or reject */
	le32 magic;
	le16 version;
	le16 status;		/* 0, or errno: the reason for a reject */
	le64 fsid;
	le64 boot;		/* New and random at every start of the server.  The upper half
				 * may have another meaning: WIRE_FT_LIFE. */
	le32 credits;		/* slots granted */
	le32 request_max;	/* largest message that the server accepts */
};

/*
 * A struct wire_hail may follow wire_connect and wire_accept.  Earlier releases ignore it.  All
 * zeros count as no hail, because rdma_cm pads with zeros.  A feature is used if both ends name
 * it in their hails; an end ignores features that it does not know.
 */
#define WIRE_FT_PROOF	0x1u	/* HELLO and its reply prove their senders */
#define WIRE_FT_LACKS	0x2u	/* attributes may have WIRE_A_NOACL, _NOXATTR */
#define WIRE_FT_SOLE	0x4u	/* attributes may have WIRE_A_SOLE */
#define WIRE_FT_APART	0x8u	/* As the only feature: this connect is a JOIN.  It makes the
				 * endpoint for the bulk data of the connection with the same
				 * session and epoch.  nonce is the token from the reply to HELLO
				 * there. */
#define WIRE_FT_JOB	0x10u	/* HELLO may name the job of the client */
#define WIRE_FT_ENDS	0x20u	/* GETSIZE of one object may be answered with an address from
				 * which the size can be read (ends.h) */
#define WIRE_FT_SHARE	0x40u	/* An iod: SHARE returns the address of shared blocks */
#define WIRE_FT_SEAL	0x80u	/* With PROOF: HELLO may have a struct wire_seal, and must if the
				 * server requires it.  A client without a ticket names SEAL
				 * without PROOF to say that it can seal. */
#define WIRE_FT_CAPS	0x100u	/* A client with this bit knows capabilities, the manager issues
				 * them, and an iod requires them. */
#define WIRE_FT_V3	0x200u	/* Version 3: HELLO may have WIRE_F_APART, LEASE has a clock and
				 * since, and DECLARE, UNLINK2 and METRICS exist.  Every end of
				 * version 3 names this feature. */
#define WIRE_FT_ASIDE	0x2000u	/* Loans (loan_pages.h).  Clients: check after a direct write
				 * whether a copy has replaced the object.  Iods: may replace it
				 * by a copy. */
#define WIRE_FT_EVICT	0x8000u	/* SESSIONS and EVICT exist, and FENCE may have WIRE_FN_EVICT.
				 * Clients: know -EKEYREVOKED as the status of an evicted
				 * session. */
#define WIRE_FT_SEAL_IN_PLACE	0x10000u /* With SEAL, from a client without a ticket: after the
					  * answer to AUTH, this connection may be sealed
					  * (WIRE_CH_SEAL_IN_PLACE). */
#define WIRE_FT_LIFE	0x20000u /* An iod: the upper half of boot is not random and never 0.  It
				  * stays the same as long as data that was written and not
				  * flushed is still in the kernel of the iod's host. */
#define WIRE_FT_GROUPS	0x40000u /* The manager accepts GROUPS and lists of groups.  A client
				  * with this bit knows -WIRE_ENOGROUPS. */
#define WIRE_FT_LOCAL	0x800000u /* A server also listens for clients on its host over shared
				   * memory.  Such a client then uses local if it can. */
#define WIRE_FT_TERM	0x1000000u /* An iod may answer CLAIM with the highest term that it has
				    * stored. */
#define WIRE_FT_WAITS	0x80000u /* A request without WIRE_F_WAITS may wait for another server, a
				  * disk or a lease for at most RPC_WAIT_BRIEF_MS.  Then it is not
				  * executed, and the answer is EINPROGRESS.  The client sends it
				  * again with the flag. */
#define WIRE_FT_TOOL	0x100000u /* Clients: a tool of an administrator.  It may use the reserve
				   * of a full server (WIRE_H_NOFILES, _NOSEATS) if it proves to
				   * be root, or the user of the server process. */
#define WIRE_FT_ROOM	0x200000u /* Clients: know -WIRE_ENOFILES and -WIRE_ENOSEATS.  Other
				   * clients get EAGAIN instead. */
#define WIRE_FT_LEADER	0x2000000u /* Clients: know -WIRE_ENOTLEADER.  Other clients get EAGAIN
				    * instead. */
#define WIRE_FT_RECORDED 0x4000000u /* A client: the manager has acknowledged that its database
				     * has a record of this session.  If a manager has no such
				     * record, its database has lost changes, so it ends the
				     * session. */
#define WIRE_FT_COPIES	0x8000000u /* Requests may name a copyset (struct copyset_ref), and
				    * attributes a ring (wire_dist.ring).  Clients and iods name
				    * this feature.  Managers name it only in calls to iods. */
#define WIRE_FT_RAFT	0x10000000u /* Managers: RAFT may have more than WIRE_RAFT_INLINE_V2 bytes
				     * of inline data, and its reply a struct wire_raft_rep. */
#define WIRE_NONCE_LEN	12u
struct wire_hail {
	le32 features;		/* WIRE_FT_* */
	uint8_t nonce[WIRE_NONCE_LEN];	/* for this connection only */
};

static inline uint32_t wire_boot_life(uint64_t boot, uint32_t features)
{
	return features & WIRE_FT_LIFE ? (uint32_t)(boot >> 32) : 0;
}

/* Parts that several messages share. */
struct wire_dist {		/* simple stripe (pvfs_filestat, PVFS 1.5) */
	le32 base;		/* index of the first iod */
	le32 pcount;		/* number of iods */
	le32 ssize;		/* bytes of a stripe */
	le32 ring;		/* ring in which base counts; 0: the ring of single iods */
};

#define WIRE_A_SIZE	0x1u	/* The manager knows the size; otherwise ask the iods
				 * (WIRE_GETSIZE). */
#define WIRE_A_MSET	0x2u	/* mtime was set explicitly, not later than ctime.  Only a later
				 * write replaces it. */

#define WIRE_A_HOLES	0x4u	/* the space in use does not follow from the size; ask the iods
				 * (WIRE_GETSIZE) */

#define WIRE_A_NOACL	0x8u	/* there is no access control list of either kind; */
#define WIRE_A_NOXATTR	0x10u	/* ... and no extended attribute at all.  Both only to a client
				 * that named WIRE_FT_LACKS. */
#define WIRE_A_SOLE	0x20u	/* Without _SIZE: the file is open for writing once, by the
				 * session that asks.  The file ends at size, or at the end of
				 * that session's own writes if this is higher.  Only to a client
				 * that named WIRE_FT_SOLE. */

struct wire_attr {
	le64 handle;
	le64 size;		/* bytes; see WIRE_A_SIZE */
	le64 atime, mtime, ctime;	/* ns since the epoch, signed */
	le32 mode;		/* type and permission bits */
	le32 nlink;
	le32 uid, gid;
	le32 flags;		/* WIRE_A_* */
	le32 zero;
	struct wire_dist dist;	/* regular files; devices: major number in base, minor in pcount */
};

struct wire_region {		/* piece of an object, with offsets local to the iod */
	le64 off;
	le64 len;
};

struct wire_mem {		/* piece of registered memory of the client */
	le64 addr;
	le32 len;
	le32 rkey;
};

/*
 * WIRE_F_AS: the user for whom the client sends the request, if this is not the user of the
 * session.  A program that serves all users of a host (pvfs-fuse) needs this.  Only sessions of uid
 * 0 may use it.
 */
struct wire_as {		/* then groups[ngroups] */
	le32 uid, gid;
	le32 ngroups;		/* at most WIRE_GROUPS_MAX */
	le32 zero;
};

/*
 * A user with more than WIRE_GROUPS_MAX groups has a numbered list of groups.  In wire_as, HELLO
 * and tickets, three elements replace the groups: WIRE_GROUPS_LISTED, which is not a valid group,
 * and the lower and upper half of the number.  The server must have named WIRE_FT_GROUPS.  Only
 * the manager reads the list.
 *
 * GROUPS sends a list to the manager, in parts from first to last.  If the manager already has a
 * part, it answers 0.  -EAGAIN: an earlier part is missing.  The groups of a list are in ascending
 * order.  A list is valid for this session only, and a number never names two lists.  Sessions that
 * may use WIRE_F_AS may send any list.  A session whose user is not proved may only send the list
 * that its HELLO names.
 *
 * -WIRE_ENOGROUPS: the manager does not have the list that the request names.  The client sends
 * the list or, if it has a ticket, AUTH, and then the request again.
 */
#define WIRE_GROUPS_LISTED UINT32_MAX
#define WIRE_ENOGROUPS	57	/* EBADSLT, which no file system call returns */
struct wire_groups {		/* tail: gid[n] */
	le64 list;
	le32 total;		/* size of the list: at most WIRE_GROUPS_ALL */
	le32 first;		/* position of gid[0] in the list */
	le32 n;
	le32 zero;
};

/* For groups in host order: return whether they name a list, and the number of that list. */
static inline bool wire_groups_listed(const uint32_t *groups, uint32_t n)
{
	return n == 3 && groups[0] == WIRE_GROUPS_LISTED;
}

static inline uint64_t wire_groups_list(const uint32_t *groups)
{
	return groups[1] | (uint64_t)groups[2] << 32;
}

/* Writes the name of the list to groups, in host order.  Returns the number of its elements, 3. */
static inline uint32_t wire_groups_name(uint32_t *groups, uint64_t list)
{
	groups[0] = WIRE_GROUPS_LISTED;
	groups[1] = (uint32_t)list;
	groups[2] = (uint32_t)(list >> 32);
	return 3;
}

/*
 * wire_hdr.seq of a HELLO names the iod to which the client wants to connect; 0: not stated, or
 * not an iod.  Any other iod rejects the session with -ENXIO, and its reply names itself in seq.
 * Earlier releases send 0 and ignore seq.
 */
static inline uint64_t wire_meant(uint32_t index)
{
	return (uint64_t)index + 1;
}

/* HELLO: the identity of this session.  Tail: groups[ngroups], name. */
struct wire_hello {
	le32 uid, gid;
	le32 ngroups;
	le32 name_len;		/* "host:pid:program", for the server's log */
};
/*
 * WIRE_F_JOB: the job to which the client belongs, for METRICS.  job[len] follows, padded:
 * printable ASCII characters.  The server does not verify it.
 */
#define WIRE_JOB_MAX	64u
struct wire_job {
	le32 len;		/* 1 to WIRE_JOB_MAX */
	le32 zero;
};
/*
 * WIRE_F_PROOF: proves that the sender has the key.  mac is computed over the whole message before
 * it, and over the values of the connection that both ends know (handshake.h).
 */
struct wire_proof {
	le32 key;		/* name of the key: keyring.h */
	le32 zero;
	uint8_t mac[32];
};

/*
 * WIRE_F_APART: the token for a JOIN, which connects a second endpoint (WIRE_FT_APART).  The token
 * is valid once, and only until the first request.  After the JOIN, the server reads and writes
 * the client's memory over the second endpoint, and also sends the replies to such writes there.
 * All other messages use the first endpoint.
 */
struct wire_apart {
	uint8_t token[WIRE_NONCE_LEN];
	le32 zero;
};

/*
 * WIRE_F_SEAL: after the reply to HELLO with status 0, all messages on this connection are sealed
 * (tp_seal.h).  mode is in HELLO the minimum that the client requests, and in the reply the mode
 * that is used.  key is the sender's public key (X25519), of a key pair for this connection only.
 */
#define WIRE_KEY_LEN	32u
struct wire_seal {
	le32 mode;		/* enum seal_mode; not SEAL_NONE in the reply */
	le32 zero;
	uint8_t key[WIRE_KEY_LEN];
};

/* WIRE_F_TICKET: the ticket from the reply to AUTH.  Then ticket[len], padded. */
struct wire_shown {
	le32 len;		/* 1 to WIRE_TICKET_MAX */
	le32 zero;
};

/*
 * WIRE_F_CAPS: capabilities.  cap[n], of WIRE_CAP_LEN bytes each, follows this structure.
 * - The reply to OPEN and REDEEM contains the capability for the opened file, if both ends named
 *   WIRE_FT_CAPS.
 * - RENEW contains capabilities that expire soon.  Its reply contains new ones in the same order;
 *   zeros: the manager issues none for this file any more.
 * - A request to an iod contains the capabilities that it needs (wire_needs()), except those that
 *   the client has already sent on this connection.
 *
 * Errors of an iod: ENOKEY: the client must send the capability with the request.  EKEYREVOKED: a
 * capability that the client has sent is no longer valid; the client must RENEW it.  EKEYREJECTED:
 * the capability is false, or belongs to another session.
 */
struct wire_caps {
	le32 n;			/* 1 to WIRE_CAPS_MAX */
	le32 life;		/* lifetime of those in a reply, seconds; else 0 */
};

#define WIRE_H_RESUMED	0x1u	/* the server still knew this session */
#define WIRE_H_CARRY	0x2u	/* the server may send CARRY on this connection */
#define WIRE_H_NOFILES	0x4u	/* To a client that named WIRE_FT_TOOL: its session uses the
				 * reserve.  The server rejects others with -WIRE_ENOFILES. */
#define WIRE_H_NOSEATS	0x8u	/* ... with -WIRE_ENOSEATS */
struct wire_hello_rep {
	le64 boot;
	le32 credits;
	le32 flags;		/* WIRE_H_* */
};
/*
 * Status of HELLO: this manager is one of several, and does not lead.  The reply names the manager
 * that leads, if this one knows it.  Tail: uri.
 */
#define WIRE_ENOTLEADER	66	/* EREMOTE */
#define WIRE_LEADER_NONE	0xffffffffu /* it knows no leader */
#define WIRE_LEADER_URI_MAX	96u /* bytes of an address that is named here */
struct wire_leader {
	le32 index;		/* number of the leader, or WIRE_LEADER_NONE */
	le32 uri_len;		/* its address; 0: not named */
};

/*
 * CHALLENGE: both ends exchange a public key (X25519) and a nonce for this connection.  AUTH must
 * use the same connection.
 */
#define WIRE_CH_KERNEL	0x1u	/* the kernel reported your identity: AUTH of kind sys is enough */
#define WIRE_CH_SEAL	0x2u	/* After AUTH, connect again with the ticket.  Nothing else is
				 * allowed on an unsealed connection. */
#define WIRE_CH_SEAL_IN_PLACE	0x4u	/* To a client that named WIRE_FT_SEAL_IN_PLACE, with WIRE_CH_SEAL: after
				 * the answer to AUTH with status 0, this connection is sealed.  A
				 * client that does not accept that connects again. */
#define WIRE_CH_ENCRYPT	0x8u	/* ... with encryption (SEAL_ENCRYPT); without the flag,
				 * SEAL_AUTH */
struct wire_challenge {
	uint8_t key[WIRE_KEY_LEN];
	uint8_t nonce[WIRE_KEY_LEN];
};
struct wire_challenge_rep {
	le64 fsid;
	le32 mode;		/* enum auth_mode: the proof required of clients */
	le32 flags;		/* WIRE_CH_* */
	uint8_t key[WIRE_KEY_LEN];
	uint8_t nonce[WIRE_KEY_LEN];
	le32 uid;		/* with WIRE_CH_SEAL_IN_PLACE: the user of the manager process */
	le32 zero;
};
#define WIRE_CHALLENGE_REP_V1 80u /* its size without WIRE_CH_SEAL_IN_PLACE */

/*
 * AUTH: the client proves its identity with word, for the values that both ends sent in CHALLENGE
 * (auth_exchange.h).  word is a MUNGE credential, or a wire_proof with the shared key; for kind
 * AUTH_SYS it is empty.  Tail: word[len].
 *
 * The reply has the ticket and a word with which the manager proves its identity, and which also
 * covers the ticket.  Only the owner of the client's private key can compute the secret of the
 * ticket from what is sent.  Tail of the reply: ticket, word.
 *
 * With WIRE_CH_SEAL_IN_PLACE, the client's MUNGE credential contains 32 bytes for that exchange and
 * then a secret, which only the user uid of wire_challenge_rep can read.  The manager's word is
 * then a code of WIRE_KEY_LEN bytes that was computed with this secret.
 */
struct wire_auth {
	le32 kind;		/* enum auth_mode */
	le32 len;
};
struct wire_auth_rep {
	le64 life;		/* lifetime of the ticket from now, ns */
	le32 uid, gid;		/* your identity */
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
 * METRICS: reads the counts of a server since its start, and its present state.  Each row contains
 * its name, its meaning, labels and numbers, so that a client can also show the rows of a later
 * release.  Names end in their unit; times are ns.  A reply has as many rows as fit.  from is 0 in
 * the first request, and then next of the previous reply.
 *
 * USERS: a user who is not an administrator gets only his own rows.  FILES: only administrators get
 * these rows, because a handle bypasses the permissions of directories.  If the request has
 * handles, only the rows of these files, with their names.
 */
#define WIRE_MG_OPS	0x1u	/* requests by operation */
#define WIRE_MG_USERS	0x2u	/* ... by user and job */
#define WIRE_MG_FILES	0x4u	/* ... by file: the most used, only on the first page */
#define WIRE_MG_INSIDE	0x8u	/* times by way, flushes, queues, buffers, caches */
#define WIRE_METRIC_FILES 64u	/* handles in one request */
#define WIRE_METRIC_NAME 96u	/* bytes of a file's name: the end of the path of its last open */
#define WIRE_METRIC_LABELS 4u
#define WIRE_METRIC_TEXT 512u	/* bytes, with all NULs */
#define WIRE_METRIC_BUCKETS 128u
struct wire_metrics {		/* tail: handle[n] */
	le64 from;
	le32 groups;		/* WIRE_MG_* */
	le32 n;
};
enum wire_metric_kind {
	WIRE_MK_NOW,		/* n is the current value, the other numbers are 0 */
	WIRE_MK_TOTAL,		/* n is a count, the other numbers are 0 */
	WIRE_MK_TIMES,		/* events that happened n times: all numbers count */
	WIRE_MK_END
};
struct wire_metric_bucket {
	le64 from;		/* ns, where the bucket begins; it ends where the next one begins */
	le64 n;			/* number of events in it; not 0 */
};
/*
 * A row: this, then bucket[buckets] of WIRE_MK_TIMES in order, then text[text_len].  The text
 * contains strings with their NUL: name, help, key and value of each label.  Names and keys
 * consist of a-z and _.
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
	le64 ns;		/* from arrival to reply: the sum, */
	le64 most;		/* ... and the maximum */
};
struct wire_metrics_rep {	/* tail: rows, len bytes */
	le64 next;		/* `from` of the next request; 0: there are no more rows */
	le32 len;
	le32 zero;
};

/*
 * SESSIONS: lists the sessions of clients with an id above after, in ascending order, as many as
 * fit into the reply.  -EPERM: the user is not an administrator.
 */
#define WIRE_SESSIONS_MAX 48u	/* in one reply */
#define WIRE_PEER_MAX	64u
#define WIRE_SE_AWAY	0x1u	/* disconnected */
struct wire_sessions {
	le64 after;
};
struct wire_session {
	le64 id;
	le64 age_ns;		/* ns since the session opened at this process of the manager */
	le32 uid;
	le32 gid;
	le32 opens;		/* open files that the manager knows of: open for writing, or
				 * held */
	le32 locks;
	le32 flags;		/* WIRE_SE_* */
	le32 zero;
	/* each padded with zeros */
	uint8_t job[WIRE_JOB_MAX];
	uint8_t name[WIRE_PEER_MAX]; /* the start of the name in HELLO */
	uint8_t peer[WIRE_PEER_MAX]; /* address of its last connection */
};
struct wire_sessions_rep {	/* tail: session[n] */
	le32 n;
	le32 more;		/* 1: there are sessions after the last one */
};

/*
 * EVICT: ends the selected sessions, except the requesting one.  Only for administrators.  The
 * manager replies when all running iods have fenced these sessions, and their open files and locks
 * are removed; or after wait_ms.  In the latter case, left is the number of evicted sessions that
 * have not ended, and the tail lists the iods that have not confirmed.  At these iods, capabilities
 * of the sessions stay valid for at most until_ns; 0: until the iod confirms.
 */
enum wire_evict_by {
	WIRE_EV_SESSION,	/* by number; -ESRCH: there is none */
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
	le32 n;			/* number of sessions */
	le32 left;
	le32 niods;
	le32 zero;
};

/*
 * FAST: asks for the server's Fast RDMA buffers of this connection.  If a request with WIRE_F_DATA
 * fits into a buffer together with its data, the client may write both there by one RDMA Write
 * with immediate, instead of sending a message.  The immediate is the number of the buffer.  The
 * client may reuse the buffer after the reply (ICPP 2003, section 4.1.2).
 */
struct wire_fast_rep {
	le64 addr;		/* address of the first buffer; the others follow it */
	le32 rkey;
	le32 size;		/* bytes of each */
	le32 count;
	le32 zero;
};

/*
 * CARRY: the server asks the client to move a part of the payload of a READ, WRITE, READ_LIST or
 * WRITE_LIST itself, to or from memory of the server (adaptive rendezvous of PVFS2 over Quadrics,
 * ICS 2005, section 5.1).  The server sends CARRY before the final reply, as a reply with the same
 * slot, session and seq.  For a write, the client answers with an RDMA Write with immediate that
 * has the data.  For a read, it answers with an RDMA Read and then an empty RDMA Write with
 * immediate.  The immediate is WIRE_IMM_CARRIED and the ticket.  The server reuses a ticket only
 * after the answer.
 */
#define WIRE_CARRY_MAX	4u	/* maximum CARRYs of a connection without an answer */
struct wire_carry_rep {
	le64 addr;		/* of the server's memory */
	le64 mem_off;		/* where the part begins in the memory that the request names */
	le32 len;		/* bytes of the part */
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
 * COPYSETS: the rings, and the copysets that have changed after the revision `since` (copyset.h),
 * in ascending order of their ids.  0: all copysets.  The reply with their last part has next 0.
 * Otherwise the caller asks again with from = next.  Then it knows the rows of the revision in the
 * reply with the first part.  If that is `since`, the reply has neither rings nor copysets.  Ring 0
 * is among the rings; the copysets of ring 0 are not listed, because copyset i is iod i.
 */
#define WIRE_COPYSETS_MAX 256u	/* in one reply */
#define WIRE_RINGS_MAX	64u	/* ids are below */
#define WIRE_RING_MAX	16384u	/* copysets of a ring */
#define WIRE_COPYSET_END (1u << 24)
#define WIRE_COPIES_MAX	3u
struct wire_copysets {
	le64 since;
	le32 from;
	le32 zero;
};
struct wire_ring {
	le32 id;
	le32 copies;
	le32 first;		/* its copysets: from first to first + n - 1 */
	le32 n;
};
enum wire_copyset_state {
	WIRE_CS_SERVING,	/* it has all acknowledged data */
	WIRE_CS_SYNCING,	/* it gets all changes, and is compared with the primary */
	WIRE_CS_OFFLINE,	/* it gets no changes */
	WIRE_CS_END
};
struct wire_copyset {
	le32 id;
	le32 version;		/* grows with each change */
	le32 losses;		/* how often unflushed data may have been lost */
	le32 n;			/* members */
	struct {
		le16 iod;
		le16 state;	/* enum wire_copyset_state */
	} member[WIRE_COPIES_MAX]; /* the first SERVING one is the primary; the rest is zero */
	le32 zero;
};
struct wire_copysets_rep {	/* tail: ring[rings], copyset[n] */
	le64 revision;
	le32 next;
	le32 rings;
	le32 n;
	le32 zero;
};

/*
 * A request about names selects an object by a path that starts at the directory with the handle
 * dir (0: the root).  If the path is empty, the object is that with the handle dir itself.
 */
#define WIRE_P_NOFOLLOW	0x1u	/* do not follow a symlink in the last component */
#define WIRE_P_EVER	0x2u	/* GETATTR: ENXIO for a handle that was never assigned */

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
	le32 which;		/* redirect of wire_two: 0: path1 left, 1: path2 */
};

#define WIRE_O_READ	0x01u
#define WIRE_O_WRITE	0x02u
#define WIRE_O_CREAT	0x04u
#define WIRE_O_EXCL	0x08u
#define WIRE_O_TRUNC	0x10u
#define WIRE_O_APPEND	0x20u
#define WIRE_O_NOFOLLOW	0x40u
#define WIRE_O_DIRECTORY 0x80u
#define WIRE_O_HOLD	0x100u	/* Also for a reader: returns an open id, and the file exists
				 * until it is released, even without a name. */

/*
 * Combines the mode of a new object and the umask.  The manager ignores the umask if the directory
 * has a default access control list.
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
	le64 open;		/* id for RELEASE; 0: none needed (read only, and not held) */
};

#define WIRE_R_WROTE	0x1u	/* data was written through this open */
#define WIRE_R_MTIME	0x2u	/* ... after the last explicit utimens */
#define WIRE_R_READ	0x8u	/* data was read through this open: atime changes as with relatime
				 * of mount(8).  If nothing was written, mtime is the time of the
				 * read. */
#define WIRE_R_SPACE	0x10u	/* Space of the file was allocated or freed apart from its data,
				 * or a write may have left a hole: see WIRE_A_HOLES. */
#define WIRE_R_DOUBT	0x4u	/* a write failed: only the iods know how much was written */

struct wire_release {
	le64 handle;
	le64 open;
	le64 end;		/* highest file offset written, exclusive */
	le64 mtime;		/* ns, of the last write or read; a time in the manager's future
				 * counts as now */
	le32 flags;		/* WIRE_R_* */
	le32 zero;
};

/*
 * GRANT: returns a token for a file that the session has open.  Any session can then send REDEEM
 * with the token, once, and has the file open as after OPEN, but without a permission check.  A
 * token expires after WIRE_TOKEN_S seconds, and when the open file of GRANT is closed.
 */
#define WIRE_TOKEN_LEN	16u
#define WIRE_TOKEN_S	10u
struct wire_grant {
	le64 handle;
	le64 open;		/* open id in the requesting session */
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
 * ADOPT: after execve(2), a program has a new session.  The new session takes over an open file and
 * its locks from the previous session.  Both sessions must belong to the same user.
 */
#define WIRE_AD_PROCESS	0x1u	/* also the locks of owner 0 */
struct wire_adopt {
	le64 session;		/* the previous session */
	le64 handle;
	le64 open;		/* 0: none */
	le64 owner;		/* owner number of the locks; 0: none */
	le32 flags;		/* WIRE_AD_* */
	le32 zero;
};
#define WIRE_AD_OPEN	0x1u	/* the open belongs to this session now */
#define WIRE_AD_MORE	0x2u	/* there are more locks: send it again */
struct wire_adopt_rep {
	le32 flags;
	le32 zero;
};
/*
 * ADOPTED: ends the previous session and all that it still has.  The manager replies when no server
 * can execute a request of that session any more.
 */
struct wire_adopted {
	le64 session;
};

/*
 * DECLARE: a session sends the list of files that it holds (WIRE_O_HOLD) to each new process of the
 * manager.  After the first reply, the manager stores the holds of this session in memory, not in
 * its database.  So after a restart, the manager frees no removed file until all sessions that
 * declare have done so or have ended.  boot is the value from the reply to HELLO.  The manager
 * answers a DECLARE with another boot, but does not use it: it was made for an earlier process and
 * may be incomplete.  Tail: struct wire_hold[n].
 */
#define WIRE_DC_ALL	0x1u	/* with the earlier ones, this is complete */
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
#define WIRE_S_KILL	0x80u	/* Removes set-id bits and file capabilities, as a write does.
				 * If it is the only flag, atime is an open id with the right to
				 * write, or 0. */

struct wire_setattr {		/* tail: path; reply: wire_attr_rep */
	le64 dir;
	le64 atime, mtime;
	le32 valid;		/* WIRE_S_* */
	le32 mode, uid, gid;	/* mode: permission bits (07777); an id of UINT32_MAX does not
				 * change, as in chown(2) */
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

#define WIRE_RN_NOREPLACE 0x1u	/* EEXIST if the second path exists */
#define WIRE_RN_EXCHANGE  0x2u	/* both exist, and are exchanged */

struct wire_rename {		/* tail: from, to */
	le64 dir1, dir2;
	le32 path1_len, path2_len;
	le32 flags;		/* at most one of WIRE_RN_* */
	le32 zero;
};

struct wire_mknod {		/* tail: path; reply: wire_attr_rep */
	le64 dir;
	le32 mode;		/* WIRE_MODE(): type and permission bits; not a regular file,
				 * directory or symlink */
	le32 path_len;
	le32 major, minor;	/* devices; else 0 */
};

#define WIRE_X_CREATE	0x1u	/* EEXIST if it exists */
#define WIRE_X_REPLACE	0x2u	/* ENODATA if it does not exist */

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
struct wire_xattr_rep {		/* GETXATTR: the value; LISTXATTR: names, each with a NUL.  Tail:
				 * bytes[len] */
	le32 len;
	le32 zero;
};

/*
 * READDIR: the server writes struct wire_dirent records into mem by RDMA Write, at most mem.len
 * bytes.  cookie is 0 to begin, and then the cookie of the last entry of the previous reply.  A
 * cookie stays valid when the directory changes.
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
 * READDIRPLUS: READDIR with struct wire_direntplus records, which contain the attributes at the
 * time of the reply.  All of attr is 0 for "." and "..", for files of which only the iods know the
 * size or the space, and if the user may not search the directory.
 */
struct wire_direntplus {	/* then name, NUL, padding to 8 bytes */
	struct wire_dirent ent;
	struct wire_attr attr;
};

struct wire_truncate {		/* tail: path; reply: empty */
	le64 dir;
	le64 size;
	le64 open;		/* open id: skip the permission check; else 0 */
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
	le64 len;		/* 0: reserves nothing, and says that this open, which was for
				 * appending, will also write elsewhere */
};
struct wire_append_rep {
	le64 offset;
};

/*
 * LOCK: sets, tests or releases an advisory lock on the bytes [start, end) of a file; end
 * INT64_MAX: no end.  The session chooses a number for each owner.  A lock replaces overlapping
 * locks of the same owner.  It conflicts with an overlapping lock of another owner of the same kind
 * (WIRE_L_WHOLE or not) unless both are shared.  When a session ends, its locks are released.
 *
 * EAGAIN: there is a conflict; or, with WIRE_L_WAIT, WIRE_LOCK_WAIT_MS or half of the request's
 * time-out have passed, and the client sends the request again.  EDEADLK: the wait would be a
 * deadlock among processes (owner 0).
 */
#define WIRE_LOCK_WAIT_MS 5000u
#define WIRE_L_UNLOCK	0u
#define WIRE_L_SHARED	1u
#define WIRE_L_EXCLUSIVE 2u
#define WIRE_L_WAIT	0x1u	/* wait until it is free */
#define WIRE_L_TEST	0x2u	/* report a conflicting lock, take nothing */
#define WIRE_L_WHOLE	0x4u	/* flock(2): a separate space */
#define WIRE_L_CANCEL	0x8u	/* Type UNLOCK: releases nothing, but ends with EINTR the waits of
				 * the session for exactly these bytes by this owner. */

struct wire_lock {
	le64 handle;
	le64 owner;
	le64 start;
	le64 end;
	le32 type;		/* WIRE_L_UNLOCK, ... */
	le32 flags;		/* WIRE_L_WAIT, ... */
};
struct wire_lock_rep {		/* TEST: a conflicting lock */
	le64 start;
	le64 end;
	le32 type;		/* WIRE_L_UNLOCK: there is none */
	le32 zero;
};

/*
 * LOCK_ANY: waits until one of n locks can be taken, and takes the first such lock.  So a client
 * that waits for many locks needs only one slot.  Of the flags of each lock, only WIRE_L_WHOLE is
 * used, and no owner may be 0.  Tail: struct wire_lock[n].
 *
 * EAGAIN: wait_ms, or the limit of LOCK, has passed.  EINTR: one of the waits was cancelled.
 * Another error may concern only one of the locks, so the client then requests each with LOCK.
 */
#define WIRE_LOCK_ANY_MAX 128u
struct wire_lock_any {
	le32 n;			/* at least 1 */
	le32 wait_ms;
};
struct wire_lock_any_rep {
	le32 which;		/* counted from 0 */
	le32 zero;
};

/*
 * READ and WRITE: regions lists pieces of the object, and mem lists pieces of the client's memory.
 * Both lists have the same total of bytes, which is not 0, and no empty piece.  If nmem is 0, the
 * data is inline: in the WRITE, or in the reply to the READ.  Tail: regions[nreg], mem[nmem],
 * data[data_len] (READ: data_len is 0).
 */
#define WIRE_IO_SYNC	0x1u	/* on stable storage before the reply */

struct wire_io {
	le64 handle;
	le64 total;		/* bytes; the sum of each list */
	le32 flags;		/* WIRE_IO_* */
	le32 nreg;
	le32 nmem;
	le32 data_len;		/* inline bytes (WRITE only) */
};
struct wire_io_rep {		/* READ inline: tail data[data_len] */
	le64 done;		/* Bytes (READ inline: data_len).  A READ that reaches the end of
				 * the object counts up to the last byte before it, in the order
				 * of the regions.  The rest of the client's memory does not
				 * change.  Bytes after the end in a region before that byte
				 * arrive as zeros. */
	le64 size;		/* of the object: after the WRITE, or at the start of the READ */
	le32 data_len;
	le32 zero;
};

/*
 * READ_LIST and WRITE_LIST: READ and WRITE with pieces of the file instead of the object.  The iod
 * computes its share of each piece.  One struct wire_vec describes a regular pattern of pieces:
 *
 *   off     len    stride
 *   |------>[==]---[==]---[==]                        count 3
 *           |---- stride2 ---->[==]---[==]---[==]     count2 2
 *
 * The iod goes through the pieces in this order, skips the first skip bytes of its share, and
 * moves the io.total bytes after them.  (The list I/O of PVFS 1.5; regular descriptions after
 * Ching et al., Cluster 2003.) Tail: vecs[io.nreg], mem[io.nmem], data[io.data_len].
 */
struct wire_vec {
	le64 off;		/* file offset of the first piece */
	le64 len;		/* bytes of a piece */
	le64 stride;		/* distance of pieces; any if count is 1 */
	le64 stride2;		/* distance of rows; any if count2 is 1 */
	le32 count;		/* pieces in a row, at least 1 */
	le32 count2;		/* rows, at least 1 */
};
struct wire_list {		/* reply: wire_io_rep */
	struct wire_io io;	/* nreg: number of vecs */
	le64 skip;		/* bytes of the iod's share to skip */
	struct wire_dist dist;	/* of the file; base: the number of this iod within the file, 0 to
				 * pcount - 1 */
};

#define WIRE_RZ_AGAIN	0x1u	/* the manager repeats it after its restart, and does not know
				 * whether it was executed */

struct wire_resize {
	le64 handle;
	le64 size;		/* local bytes */
	le64 id;		/* of the truncation, which the iod executes once; 0: none */
	le64 span;		/* ns between the order of the truncation and its deadline
				 * (wire_hdr.clock); UINT64_MAX: unknown.  From it, a restarted
				 * iod sees whether an earlier process may have executed it. */
	le32 flags;		/* WIRE_RZ_* */
	le32 zero;
};

/*
 * FALLOCATE: fallocate(2) of a range of one object.  Without a flag, allocates space for the range,
 * and extends the object to its end if necessary.
 */
#define WIRE_FA_KEEP	0x1u	/* the size of the object does not change */
#define WIRE_FA_PUNCH	0x2u	/* with KEEP: zeros, space is freed */
#define WIRE_FA_ZERO	0x4u	/* zeros, with space */

struct wire_fallocate {
	le64 handle;
	le64 off;		/* local bytes */
	le64 len;		/* not 0 */
	le32 flags;		/* WIRE_FA_* */
	le32 zero;
};

/*
 * COPY: the iod copies len bytes from the object from to the object handle.  The source is in its
 * own store, or at another iod, from which it gets the bytes by READ.  Bytes beyond the end of the
 * source become zeros.  EHOSTUNREACH: the other iod does not answer; the client can move the bytes
 * itself.
 */
struct wire_copy {
	le64 handle;		/* to be written */
	le64 from;		/* to be read */
	le64 off, src;		/* local offsets of the two */
	le64 len;		/* not 0 */
	le32 iod;		/* copyset that has the source; below WIRE_COPYSET_MIN: this iod */
	le32 flags;		/* WIRE_IO_SYNC */
};

#define WIRE_SK_HOLE	0x1u	/* find the next hole, not data */

struct wire_seek {
	le64 handle;
	le64 off;		/* local offset to start from */
	le32 flags;		/* WIRE_SK_* */
	le32 zero;
};
struct wire_seek_rep {
	le64 off;		/* INT64_MAX: there is no data.  There is a hole at the object's
				 * end at the latest. */
};

/*
 * BORROW: the iod lends the object to a client on its host: it sends the descriptor of the object
 * with the reply.  If the client requests them (WIRE_B_PAGES), it sends before it the descriptors
 * of the pages gate, terms and marks (loan_pages.h).  The iod withdraws a loan through the terms,
 * and the client returns it through the marks.  The handle WIRE_B_NO_OBJECT never exists.  With it,
 * the client only asks whether the iod lends objects; this needs no capability.
 */
#define WIRE_B_NO_OBJECT UINT64_MAX
#define WIRE_B_WRITE	0x1u	/* Request: lend it for writing, too.  Reply: it was lent so. */
#define WIRE_B_PAGES	0x2u	/* request: send the pages */
#define WIRE_B_WAITS	0x4u	/* Reply: its bytes may be on a disk only.  Read with RWF_NOWAIT,
				 * and the rest by READ. */
#define WIRE_B_NONE	0x8u	/* Reply: there is no such object now, ask later.  With
				 * WIRE_B_WRITE: other objects are lent for writing, too. */
#define WIRE_B_CLOCK	0x10u	/* Reply, to a client that named WIRE_FT_ASIDE: check whether the
				 * gate's clock is your clock. */
struct wire_borrow {
	le64 handle;
	le32 flags;
	le32 zero;
};
struct wire_borrow_rep {
	le64 number;		/* number of this loan, never used again; 0: WIRE_B_NONE */
	le64 inode;		/* inode of the descriptor */
	le32 index;		/* index into terms and marks */
	le32 stripe;		/* index into the stripes of the gate */
	le32 flags;
	le32 zero;
};

/*
 * COUNTER: adds to a counter of a file, or sets it, and returns its old value.  A counter is 0 at
 * first, and is removed with the object.  EOVERFLOW: the sum does not fit; the counter is
 * unchanged. ECONNABORTED: the request was first sent to an earlier process of the iod, which may
 * have executed it.
 */
#define WIRE_COUNTERS	8u	/* per file */
#define WIRE_CT_SET	0x1u	/* set the counter to value */
struct wire_counter {
	le64 handle;
	le64 value;		/* signed; the value to add; 0: only read */
	le32 number;		/* below WIRE_COUNTERS */
	le32 flags;		/* WIRE_CT_* */
};
struct wire_counter_rep {
	le64 old;		/* signed */
};

/*
 * PLACE: returns the address of a counter in registered memory of the iod, to which the client adds
 * by RDMA atomics.  The address is valid on the connection of the reply only.  The iod has stored
 * durably that values below ceiling may be in use.  If an atomic returns a value that is not below
 * it, the client must raise the ceiling with PLACE before it uses the value.  EAGAIN: the client
 * uses COUNTER this time; EOPNOTSUPP: always.  ECONNABORTED: upto is a value from an earlier
 * process of the iod.
 */
#define WIRE_PL_RAISE	0x1u	/* raise the ceiling to upto or higher */
#define WIRE_PL_STEP	(UINT64_C(1) << 40)
struct wire_place {
	le64 handle;
	le64 upto;		/* signed; the value that the atomic returned plus its addend */
	le64 step;		/* the addend of the client's atomics, 1 to WIRE_PL_STEP */
	le64 life;		/* with RAISE: life of the reply whose address was used */
	le32 number;		/* below WIRE_COUNTERS */
	le32 flags;		/* WIRE_PL_* */
};
struct wire_place_rep {
	le64 addr;		/* 0: it has no address any more, use COUNTER */
	le64 ceiling;		/* signed */
	le64 life;		/* identifies the process of the iod */
	le32 rkey;
	le32 zero;
};

/*
 * SHARE: returns the address of the iod's table of struct wire_block, which the client may read by
 * RDMA on the connection of the reply.  No body.  EOPNOTSUPP: the iod has no such table.
 */
struct wire_share_rep {
	le64 addr;		/* a multiple of 8, not 0 */
	le64 places;		/* number of blocks, 1 to WIRE_SHARE_MAX */
	le32 rkey;
	le32 zero;
};
#define WIRE_SHARE_MAX	(UINT64_C(1) << 32)

struct wire_objects {		/* SYNC, GETSIZE; tail: handles[n] */
	le32 n;
	le32 zero;
};
struct wire_remove {		/* tail: handles[n], le32 copyset[copysets] */
	le32 n;
	le32 copysets;		/* 0: all objects belong to the own copyset of the iod.  Otherwise n.
				 * Copyset 0 is the own one.  Not 0 only to an iod that named
				 * WIRE_FT_COPIES. */
};
struct wire_objsize {
	le64 size;		/* 0 if the object does not exist */
	le64 blocks;		/* 512-byte blocks allocated */
	le64 mtime;		/* ns; 0 if the object does not exist */
};
/*
 * The address of a struct wire_end in which the iod keeps the present size of the object, for RDMA
 * Reads on the connection of the reply.  It belongs to the object as long as it contains this tag.
 */
struct wire_end_place {
	le64 addr;		/* a multiple of 8, not 0 */
	le64 tag;		/* not 0 */
	le32 rkey;
	le32 zero;
};
struct wire_getsize_rep {	/* tail: objsize[n], end_place[places] */
	le32 n;
	le32 places;		/* 1: for the only object, to a client that named WIRE_FT_ENDS */
};

/* FENCE: these sessions have ended.  Tail: sessions[n], none of them 0. */
#define WIRE_FENCE_MAX	128u	/* sessions in one FENCE */
#define WIRE_FN_MEMORY	0x1u	/* The iod does not store the fence on its disk.  The manager sends
				 * it again to each new process of the iod, as long as needed. */
#define WIRE_FN_EVICT	0x2u	/* The iod replaces the objects that it lent to these sessions by
				 * copies, even during a write.  Only to an iod that named
				 * WIRE_FT_EVICT. */
struct wire_fence {
	le32 n;			/* at least 1 */
	le32 flags;		/* WIRE_FN_* */
};

/*
 * ORDER: the primary of a copyset has another member make a change that it is about to make itself.
 * The header names the copyset and the version.  A WRITE is described by io, as in the operation
 * WRITE; for the other kinds, io has the handle and zeros.  The member answers when the change is
 * made: docs/copies.md.  Tail: as in WRITE.
 *
 * EAGAIN: the member does not know this version yet; repeat it.  WIRE_ECOPYSET: a later version is
 * in force there.  ESTALE: the session is fenced.  ECONNABORTED: an earlier process of the member
 * got the order.  Of these, nothing was done.  After any other error, a part may be done.
 */
#define WIRE_ORDER_REGIONS 512u
enum wire_order_kind {
	WIRE_ORDER_WRITE,	/* arg: 0, 0 */
	WIRE_ORDER_RESIZE,	/* size; id of the truncation as in wire_resize */
	WIRE_ORDER_SPACE,	/* offset and length, as in wire_fallocate */
	WIRE_ORDER_COUNTER,	/* value from which a new primary continues; number of the counter */
	WIRE_ORDER_END
};
struct wire_order {
	struct wire_io io;
	le64 number;		/* grows with each order of a primary for the copyset */
	le64 below;		/* all orders with lower numbers are complete at all members */
	/* the request of which this is a part: its session, and its slot at the iod that got it */
	le64 session;
	le64 seq;
	le64 total;		/* WRITE: bytes of all its orders to one member; others: 0 */
	le64 arg[2];
	le32 slot;
	le32 origin;		/* iod that got the request */
	le32 primary;		/* iod that sends the order */
	le32 kind;		/* enum wire_order_kind */
	le32 flags;		/* SPACE: WIRE_FA_*; others: 0 */
	le32 zero;
};

/*
 * ASSIGN: rows of copysets with this iod.  The iod refuses their earlier versions, and ignores a row
 * that is not newer than its own.  When it answers, the rows are on stable storage.  EAGAIN: they
 * are not; send them again.  Only to an iod that named WIRE_FT_COPIES.
 *
 * All parts with one revision together have all rows with this iod at that revision.  The manager
 * sends the part with WIRE_AS_LAST after the others were answered.  Then the iod refuses copysets
 * that the parts do not have: they moved away.  It ignores a part whose revision is lower than that
 * of an earlier part.
 */
#define WIRE_AS_LAST	0x1u	/* the last part */
#define WIRE_ENDED_MAX	64u
struct wire_assign {		/* tail: copyset[n], as in the reply to COPYSETS; ended[ended] */
	le64 revision;		/* as in the reply to COPYSETS */
	le32 n;			/* at most WIRE_COPYSETS_MAX */
	le32 ended;		/* at most WIRE_ENDED_MAX */
	le32 flags;		/* WIRE_AS_* */
	le32 zero;
};
/*
 * A process of another iod has ended: its port refused connections.  So promises to it are void
 * (promises.h).  A later process of this iod may have got promises already.
 */
struct wire_ended {
	le64 process;		/* wire_accept.boot of the process, not 0 */
	le32 iod;
	le32 zero;
};

/*
 * PROMISE: the primary of these copysets asks another member not to serve them (promises.h).  The
 * reply has the same head, and the entries of the request to which the member agrees.  Both lists
 * are in ascending order of the copysets.  Only to an iod that named WIRE_FT_COPIES.
 */
#define WIRE_PROMISES_MAX 256u
#define WIRE_PR_LENT	0x1u	/* the primary lends objects of the copyset, or is going to */
struct wire_promised {
	le32 copyset;
	le32 version;		/* of the row of the primary */
	le32 flags;		/* WIRE_PR_* */
};
struct wire_promise {		/* tail: promised[n] */
	le64 process;		/* a random number of the process of the primary, not 0 */
	le64 sent;		/* on the clock of the primary */
	le64 lease;		/* ns, not 0; the promises that it wants are for this time */
	le32 iod;		/* the primary */
	le32 n;
};

/*
 * OUTCOME: whether a change of this session has reached the copyset that the request names.  The
 * client sent the change to the iod `origin`, which was primary then and has not answered.  An iod
 * answers only if it serves the copyset, so the answer is final.  ECONNABORTED: it cannot be known
 * any more.  The changes are those of wire_op_changes() except COUNTER.
 */
struct wire_outcome {
	le64 seq;		/* wire_hdr.seq of the change, not 0 */
	le32 origin;
	le32 slot;		/* wire_hdr.slot of the change */
};
enum wire_outcome_state {
	WIRE_OC_UNKNOWN,	/* nothing was made: send the change to this iod */
	WIRE_OC_PART,		/* some bytes were changed: send it again as a whole */
	WIRE_OC_DONE,
	WIRE_OC_END
};
struct wire_outcome_rep {
	le64 done;		/* bytes that were changed */
	le32 state;		/* enum wire_outcome_state */
	le32 zero;
};

/*
 * LEASE: the iod may execute changes of clients until its own CLOCK_BOOTTIME is until, or longer if
 * it gets a later lease.  The first lease of an iod process lets it serve clients: the manager has
 * claimed it before, and has sent all fences that it missed.
 */
#define WIRE_LEASE_V2	8u	/* its size without WIRE_FT_V3: then it has only `until` */
struct wire_lease {
	le64 until;		/* ns */
	le64 clock;		/* CLOCK_BOOTTIME of the manager at the sending, ns.  From it, the
				 * iod knows the age of tickets. */
	le64 since;		/* The first term of the manager with this clock; its host did not
				 * reboot since.  At most the current term. */
};

/*
 * OBJECTS: lists all objects of an iod, in several requests.  place and after are 0 in the first
 * request, and then those of the previous reply.  place WIRE_PLACE_END: there are no more.  An
 * object that exists during the whole walk is listed exactly once.
 *
 * With WIRE_WALK_KEYS the list has a handle and a copyset for each object; copyset 0 is the own one
 * of the iod.  Without it the list has handles only, and EOPNOTSUPP means that there is an object of
 * another copyset.  Only to an iod that named WIRE_FT_COPIES.
 */
#define WIRE_PLACE_END	UINT32_MAX
#define WIRE_WALK_KEYS	0x80000000u
struct wire_walk {
	le64 after;
	le32 place;
	le32 keys;		/* 0, or WIRE_WALK_KEYS and the copyset of the object `after` */
};
struct wire_walk_rep {		/* tail: le64[n] */
	le64 after;		/* if not 0: handle of the last object in the list */
	le32 place;
	le32 n;			/* numbers in the list: one of each object, or two */
};

/*
 * CLAIM: the manager's first request to an iod.  It tells the iod which database and which store
 * the manager knows.  The iod serves clients only after CLAIM and LEASE.
 */
#define WIRE_C_FRESH	0x1u	/* the manager's database is new, so no iod can have held
				 * anything */
#define WIRE_C_ASK	0x2u	/* a question only: the iod stores nothing of it */
enum wire_verdict {
	WIRE_OURS	= 0,
	WIRE_REPLACED	= 1,	/* not the store that the manager knows */
	WIRE_FOREIGN	= 2,	/* it belongs to the database of another manager */
};
struct wire_claim {
	le64 owner;		/* the manager's database */
	le64 store;		/* the store known to be here; 0: unknown */
	le64 term;		/* of the manager; the iod refuses orders with lower terms from
				 * now on */
	le32 flags;		/* WIRE_C_* */
	le32 zero;
};
#define WIRE_CLAIM_REP_SHORT 16u /* its size for a manager that did not name WIRE_FT_TERM */
struct wire_claim_rep {
	le64 store;		/* the current store */
	le32 verdict;		/* enum wire_verdict */
	le32 zero;
	le64 term;		/* the highest term that has claimed it; 0: none */
};

/* DISK: identifies the disk of the store.  Iods with the same disk share the space of STATFS. */
struct wire_disk_rep {
	le64 disk;		/* identifies a file system of a host; 0: unknown */
};

/*
 * RAFT: a message between members of a group of managers.  The message is inline data, or it is in
 * the memory of the sender, from which the receiver reads it by RDMA before it replies.  After any
 * error the message is lost.  EPERM: the sender is not one of the other managers.  ESTALE: the
 * receiver is in another group.  ENXIO: the receiver is not the member to.  EBUSY: the receiver is
 * still reading an earlier message from the sender's memory.
 */
#define WIRE_RAFT_MAX	(6u << 20)	/* bytes of a message */
#define WIRE_RAFT_INLINE 16320u		/* ... that is inline data */
#define WIRE_RAFT_INLINE_V2 8192u	/* ... to a manager that did not name WIRE_FT_RAFT */
#define WIRE_RAFT_MEM	8u		/* memory pieces of a message */
struct wire_raft {		/* tail: mem[nmem], data[data_len] */
	le64 group;
	le64 from;		/* member that sends it */
	le64 to;		/* member that is meant */
	le32 len;		/* bytes of the message, at least 1 */
	le32 nmem;
	le32 data_len;		/* len, or 0 with mem */
	le32 zero;
};
/*
 * The reply.  If the sender named WIRE_FT_RAFT, the receiver may delay the reply until it has
 * stored the entries of the message, and then adds a message for the sender.
 */
struct wire_raft_rep {		/* tail: data[data_len] */
	le32 data_len;		/* 0: no message, as if there were no body */
	le32 zero;
};

/*
 * MANAGERS: shows or changes the members of the group.  A member has a random id, which identifies
 * its storage, and the address of its manager.
 * - STATUS: any user may send it.
 * - JOIN: a manager sends it to become a member.  The reply comes when the change has begun.  The
 *   manager repeats JOIN until the reply lists it as a voter.
 * - REMOVE: an administrator removes a member.  The reply comes when the group has committed the
 *   change.  (To replace the storage of a manager, remove its id while the manager runs.)
 * - TRANSFER: an administrator makes another member the leader.  The reply comes when this has
 *   begun.
 *
 * Only the leader executes JOIN, REMOVE and TRANSFER, one at a time.  Errors:
 * - EPERM: this user or peer may not send the command.
 * - ENOTCONN: this manager does not lead.
 * - EAGAIN: JOIN is not possible yet: the leader has just begun to lead, or not all iods have
 *   accepted its new database.
 * - EBUSY: another change is in progress.
 * - ENOENT: no member has this id.
 * - EEXIST: JOIN: a member with another id has this address; remove that one first.
 * - EDESTADDRREQ: JOIN: the leader's configuration has no manager with this address.
 * - EHOSTDOWN: after REMOVE, the members that are up to date would be no majority.  TRANSFER: the
 *   other member does not answer, or is many log entries behind.
 * - ENOSPC: the log is full.
 * - ENOSYS: there is one manager, without a group.
 */
enum wire_managers_cmd {
	WIRE_MA_STATUS,
	WIRE_MA_JOIN,
	WIRE_MA_REMOVE,
	WIRE_MA_TRANSFER,
	WIRE_MA_END
};
#define WIRE_MEMBERS_MAX 16u
struct wire_managers {		/* tail: uri[uri_len] */
	le64 id;		/* not 0, except: STATUS, always; TRANSFER: to any member */
	le32 cmd;		/* enum wire_managers_cmd */
	le32 uri_len;		/* JOIN: its address; else 0 */
};
enum wire_managers_role {
	WIRE_MR_FOLLOWER,
	WIRE_MR_CANDIDATE,
	WIRE_MR_LEADER,		/* also one manager without a group */
	WIRE_MR_END
};
/* of a manager */
#define WIRE_MS_LEASE	0x1u	/* it may answer clients */
#define WIRE_MS_FULL	0x2u	/* its log has no space */
#define WIRE_MS_CHANGE	0x4u	/* a change of the group is going on */
#define WIRE_MS_ALL	0x7u
/* of a member; RECENT, lag and filled: known to the leader only */
#define WIRE_MM_VOTER	0x1u
#define WIRE_MM_RECENT	0x2u	/* it has answered within the last election timeout */
#define WIRE_MM_FILLED	0x4u	/* it is being filled with a copy of the database */
#define WIRE_MM_ALL	0x7u
struct wire_member {
	le64 id;		/* not 0 */
	le64 lag;		/* entries that it has not confirmed */
	le64 filled;		/* bytes of the copy that were sent to it */
	le32 flags;		/* WIRE_MM_* */
	le32 zero;
	uint8_t uri[WIRE_LEADER_URI_MAX]; /* padded with zeros */
};
/* The state after the command.  One manager without a group: all 0, except role; no members. */
struct wire_managers_rep {	/* tail: member[n] */
	le64 group;		/* random; another one after a forced recovery */
	le64 term;
	le64 leader;		/* a member, or 0: unknown */
	le64 self;		/* the member that answers */
	le64 first, last;	/* entries in its log */
	le64 committed, applied;
	le64 log_bytes;		/* on its disk */
	le64 log_limit;
	le32 role;		/* enum wire_managers_role */
	le32 flags;		/* WIRE_MS_* */
	le32 n;
	le32 zero;
};

/*
 * FETCH: returns the next part of a copy of the database, for a member whose missing log entries
 * the leader no longer has.  The copy is a stream of bytes (mgr/backup/backup.h).  offset 0 begins
 * a new copy; otherwise offset is the end of the previous part.  The server writes the part to mem
 * by RDMA. A manager makes one copy at a time, for a member of its group.
 *
 * ENOSYS: the sender is a client.  ESTALE: the server is in another group.
 * ENOENT: member is not in the group.  EBUSY: the server is making another copy.  ENXIO: this copy
 * has ended, or offset is not its position; the client begins again.  If making the copy fails, the
 * stream itself contains the error.
 */
#define WIRE_FETCH_MAX	(1u << 20)	/* bytes of a part */
#define WIRE_FETCH_MEM	8u
struct wire_fetch {		/* tail: mem[nmem] */
	le64 group;
	le64 member;		/* id of the member that gets the copy */
	le64 offset;
	le32 len;		/* bytes of mem, at least 1 */
	le32 nmem;
};
struct wire_fetch_rep {
	le32 len;		/* bytes in mem; 0: nothing yet, or the end */
	le32 end;		/* 1: the stream ends after them */
};

_Static_assert(sizeof(struct wire_hdr) == 48, "wire_hdr");
_Static_assert(sizeof(struct wire_connect) == 32, "wire_connect");
_Static_assert(sizeof(struct wire_accept) == 32, "wire_accept");
_Static_assert(sizeof(struct wire_hail) == 16, "wire_hail");
_Static_assert(sizeof(struct wire_proof) == 40, "wire_proof");
_Static_assert(sizeof(struct wire_leader) == 8, "wire_leader");
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
_Static_assert(sizeof(struct wire_copysets) == 16, "wire_copysets");
_Static_assert(sizeof(struct wire_ring) == 16, "wire_ring");
_Static_assert(sizeof(struct wire_copyset) == 32, "wire_copyset");
_Static_assert(sizeof(struct wire_copysets_rep) == 24, "wire_copysets_rep");
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
_Static_assert(sizeof(struct wire_remove) == 8, "wire_remove");
_Static_assert(sizeof(struct wire_walk) == 16, "wire_walk");
_Static_assert(sizeof(struct wire_walk_rep) == 16, "wire_walk_rep");
_Static_assert(sizeof(struct wire_fence) == 8, "wire_fence");
_Static_assert(sizeof(struct wire_order) == 112, "wire_order");
_Static_assert(sizeof(struct wire_promised) == 12, "wire_promised");
_Static_assert(sizeof(struct wire_promise) == 32, "wire_promise");
_Static_assert(sizeof(struct wire_outcome) == 16, "wire_outcome");
_Static_assert(sizeof(struct wire_outcome_rep) == 16, "wire_outcome_rep");
_Static_assert(sizeof(struct wire_assign) == 24, "wire_assign");
_Static_assert(sizeof(struct wire_ended) == 16, "wire_ended");
_Static_assert(sizeof(struct wire_assign) +
		       WIRE_COPYSETS_MAX * sizeof(struct wire_copyset) +
		       WIRE_ENDED_MAX * sizeof(struct wire_ended) <=
		       WIRE_BODY_MAX,
	       "wire_assign");
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
_Static_assert(sizeof(struct wire_raft) == 40, "wire_raft");
_Static_assert(sizeof(struct wire_raft) + WIRE_RAFT_INLINE <= WIRE_BODY_MAX,
	       "wire_raft with data");
_Static_assert(sizeof(struct wire_raft_rep) == 8, "wire_raft_rep");
_Static_assert(sizeof(struct wire_managers) == 16, "wire_managers");
_Static_assert(sizeof(struct wire_fetch) == 32, "wire_fetch");
_Static_assert(sizeof(struct wire_fetch_rep) == 8, "wire_fetch_rep");
_Static_assert(sizeof(struct wire_member) == 128, "wire_member");
_Static_assert(sizeof(struct wire_managers_rep) == 96, "wire_managers_rep");

/* Length of a tail item of len bytes with its padding. */
static inline size_t wire_pad(size_t len)
{
	return (len + 7) & ~(size_t)7;
}

/*
 * A message that wire_parse() has checked.  body and tail point into the receive buffer and are
 * valid as long as it.  tail[i] is the i-th tail item, in the order of the "Tail:" comment of the
 * operation's structure.  tail[i].len is in bytes, without padding.
 */
struct wire_msg {
	const struct wire_hdr *hdr;
	const void *body;
	size_t body_len;		/* the fixed part */
	struct wire_tail {
		const void *ptr;
		size_t len;
	} tail[WIRE_TAIL_MAX];
	const struct wire_as *as;	/* NULL: not present */
	const le32 *groups;		/* as->ngroups */
	const struct wire_apart *apart;	/* or NULL */
	const char *job;		/* or NULL; not terminated by NUL */
	size_t job_len;
	const struct wire_seal *seal;	/* or NULL */
	const void *ticket;		/* or NULL */
	size_t ticket_len;
	const struct wire_proof *proof;	/* or NULL */
	const struct wire_caps *caps;	/* or NULL; the first capability follows it */
};

/*
 * Checks a received message of len bytes at buf, which is aligned to 8 bytes, before anything else
 * uses it: magic, version, length, operation, direction, counts against their limits, the tail
 * against the length, strings without NUL, sums of region and memory lists equal to the total and
 * without overflow, and reserved fields zero.
 *
 * Returns 0 and fills *msg, or returns -EPROTONOSUPPORT: another protocol version; -ENOSYS: an
 * unknown operation (msg->hdr is set); -EPROTO: the message is malformed.  After an error, *why (if
 * why is not NULL) is a constant string that names the field.
 */
int wire_parse(const void *buf, size_t len, struct wire_msg *msg,
	       const char **why);

/*
 * Returns the bytes of data that follow a checked request: with WIRE_F_DATA those that mem names,
 * otherwise 0.
 */
uint64_t wire_data_len(const struct wire_msg *msg);

/*
 * Checks the record d of READDIR or READDIRPLUS, which has left bytes at most, and fixed bytes
 * before the name.  Returns true if the record and its name end within left bytes and the name is
 * valid.
 */
bool wire_dirent_ok(const struct wire_dirent *d, size_t left, size_t fixed);

/*
 * Checks the row m of METRICS, which has left bytes at most.  Returns its length with padding, or 0
 * if the row is invalid, for the reason *why.
 */
size_t wire_metric_len(const struct wire_metric *m, size_t left,
		       const char **why);
/* Return the buckets, and the text, of a row that wire_metric_len() has checked. */
static inline const struct wire_metric_bucket *
wire_metric_buckets(const struct wire_metric *m)
{
	return (const struct wire_metric_bucket *)(m + 1);
}
static inline const char *wire_metric_text(const struct wire_metric *m)
{
	return (const char *)(wire_metric_buckets(m) + le16toh(m->buckets));
}

/* Returns whether job, of len bytes, is valid in a struct wire_job. */
bool wire_job_ok(const void *job, size_t len);

/*
 * Fills need with the objects for which the request op, with this body, needs capabilities at an
 * iod.  Returns their number, at most WIRE_NEEDS_MAX.
 */
#define WIRE_NEED_READ	0x1u	/* as CAPABILITY_* */
#define WIRE_NEED_WRITE	0x2u
#define WIRE_NEEDS_MAX	2u
struct wire_need {
	uint64_t handle;
	unsigned int rights;	/* WIRE_NEED_*; any one of them is enough */
};
unsigned int wire_needs(unsigned int op, const void *body,
			struct wire_need need[WIRE_NEEDS_MAX]);

/*
 * Returns whether the request op, with this body, always waits at the server: for a lock, or for a
 * disk or another server (STORE).  Returns WIRE_WAIT_NOT for LOCK_ANY, because a session has only
 * one.  For requests that wait only sometimes, see WIRE_FT_WAITS.
 */
enum wire_wait { WIRE_WAIT_NOT, WIRE_WAIT_LOCK, WIRE_WAIT_STORE, WIRE_WAITS };
enum wire_wait wire_waits(unsigned int op, const void *body);

/* Whether a request may name the copyset of its objects: struct copyset_ref. */
bool wire_op_has_copyset(unsigned int op);

/* The operation's name ("GETATTR"), or "op?". */
const char *wire_op_name(unsigned int op);

/*
 * Check the private data of a connect request, or of its answer.  Results: see wire_parse().  buf
 * may be unaligned.  Bytes after the structure are ignored, because rdma_cm pads.
 */
int wire_check_connect(const void *buf, size_t len, const char **why);
int wire_check_accept(const void *buf, size_t len, const char **why);
/* Copies the hail that follows the fixed structure of `fixed` bytes; zeros if there is none. */
void wire_take_hail(const void *buf, size_t len, size_t fixed,
		    struct wire_hail *hail);

/*
 * Building a message in buf, which has cap bytes and is aligned to 8.  wire_begin() reserves room
 * for the header.  The caller then appends the fixed body and the tail items, in their order, with
 * wire_put().  wire_end() fills in magic, version, op, len and flags of the header.  It returns the
 * length of the message, or -EMSGSIZE: a part did not fit, or extra is above WIRE_INLINE_MAX.
 * extra is the length of inline data, without padding, that the caller sends after the buffer.
 *
 * wire_put() copies len bytes of item and pads them.  If item is NULL, it appends zeros, which the
 * caller may overwrite.  It returns the address of the bytes, or NULL: there is no room.
 */
struct wire_out {
	uint8_t *buf;
	size_t cap, len;
	int err;
};
void wire_begin(struct wire_out *out, void *buf, size_t cap);
void *wire_put(struct wire_out *out, const void *item, size_t len);
/*
 * Returns how many items of item bytes fit after a body of head bytes, which is not appended yet;
 * at most the parameter most.
 */
unsigned int wire_room(const struct wire_out *out, size_t head, size_t item,
		       unsigned int most);
int wire_end(struct wire_out *out, unsigned int op, unsigned int flags,
	     size_t extra);

#endif
