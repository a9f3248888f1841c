/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_frame.h - the frames that the tcp provider sends over its sockets. The format is private:
 * both ends are this code. Integers are little-endian.
 *
 *	head	 0 u8  op		enum tcp_op
 *		 1 u8  zero
 *		 2 u16 nseg		segments that follow
 *		 4 u32 len		bytes; see below
 *		 8 u32 imm		WRITE_IMM: immediate; NAK: enum tcp_nak
 *		12 u32 id		of a request; repeated in its answer
 *	segment	 0 u64 addr		of the receiver's memory
 *		 8 u32 rkey
 *		12 u32 len		never 0
 *	payload
 *
 * len is the length of the payload. For WRITE, WRITE_IMM and READ it equals the sum of the
 * segments' lengths. A READ has no payload: it requests len bytes, which arrive in one READ_DATA.
 *
 * The first frame of a connection is CONNECT; its answer is ACCEPT or REJECT. Their payload is a
 * hello: u32 magic, u16 version, u16 zero, private data.
 *
 * If imm of CONNECT and of ACCEPT has TCP_CHECKS, a check follows the head of each later frame:
 *
 *	check	 0 u32 covered	SEND: checked bytes at the start of the payload; else 0
 *		 4 u32 rest	CRC-32C of the segments, of a small payload and the covered bytes
 *		 8 u32 head	CRC-32C of the head, and of the check up to here
 *
 * If imm of CONNECT, ACCEPT or REJECT has TCP_CHECKED, id is the CRC-32C of the frame with id 0.
 *
 * The checksum of TCP misses some errors. A wrong bit in a head or a message header would do more
 * damage than one in data. Earlier releases send 0 in imm and id, and
 * ignore both.
 */
#ifndef TCP_FRAME_H
#define TCP_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TCP_VERSION 2u
#define TCP_HEAD_LEN 16u
#define TCP_SEG_LEN 16u
#define TCP_SEG_MAX 256u /* segments of one frame */
#define TCP_HELLO_LEN 8u
#define TCP_CHECKS 0x1u
#define TCP_CHECKED 0x2u
#define TCP_CHECK_LEN 12u
#define TCP_COVERED_MAX 512u
#define TCP_CHANGED                                                            \
	"a frame was changed on the way: a network card, switch or memory "    \
	"flips bits"
#define TCP_SMALL_MAX 64u /* payload of a frame without bulk data */
#define TCP_READS_MAX 16u /* unanswered READs and atomics, per ep */

enum tcp_op {
	TCP_OP_CONNECT = 1,
	TCP_OP_ACCEPT,
	TCP_OP_REJECT,
	TCP_OP_SEND,
	TCP_OP_WRITE,
	TCP_OP_WRITE_IMM,
	TCP_OP_READ,
	TCP_OP_READ_DATA,
	TCP_OP_FETCH_ADD, /* payload: u64 addend, u64 0 */
	TCP_OP_CMP_SWAP, /* payload: u64 compare, u64 swap */
	TCP_OP_ATOMIC_OLD, /* payload: u64 value before */
	TCP_OP_NAK, /* the connection ends: cause (imm), request (id) */
	TCP_OP_BYE, /* the sender closed its endpoint */
	TCP_OP_PULSE, /* from an acceptor: is your program alive? */
	TCP_OP_ECHO, /* from a connector: the answer to PULSE */
	TCP_OP_SEALED, /* the last unsealed frame: tcp_seal.c */
	TCP_OP_END
};

enum tcp_nak {
	TCP_NAK_PROTOCOL = 1,
	TCP_NAK_ACCESS,
	TCP_NAK_LENGTH,
	TCP_NAK_FAILED, /* an error of the sender of the NAK */
};

struct tcp_frame {
	enum tcp_op op;
	uint32_t nseg;
	uint32_t len;
	uint32_t imm;
	uint32_t id;
};

struct tcp_seg {
	uint64_t addr;
	uint32_t rkey;
	uint32_t len;
};

struct tcp_hello {
	unsigned int len;
	const uint8_t *priv; /* points into the payload */
};

/* Writes TCP_HEAD_LEN bytes. */
void tcp_frame_put(uint8_t *p, const struct tcp_frame *frame);
/*
 * Reads a head of TCP_HEAD_LEN bytes into *frame. Returns 0; -EPROTO: a field is out of bounds for
 * the op; *why names the field, and *frame is unchanged.
 */
int tcp_frame_get(const uint8_t *p, struct tcp_frame *frame, const char **why);
/*
 * Returns the bytes that must have arrived before tcp_frame_begin(): the head, the segments and,
 * unless it is bulk data, the payload.
 */
size_t tcp_frame_need(const struct tcp_frame *frame);

struct tcp_check {
	uint32_t covered;
	uint32_t rest;
};
/* Writes TCP_CHECK_LEN bytes after the head, which is complete. */
void tcp_check_put(uint8_t *head, const struct tcp_check *check);
/*
 * Reads the check after head. Returns 0; -EBADMSG: the head or the check is damaged; -EPROTO:
 * covered is out of bounds.
 */
int tcp_check_get(const uint8_t *head, struct tcp_check *check);

void tcp_seg_put(uint8_t *p, const struct tcp_seg *seg);
/* 0; -EPROTO: length 0. Does not check whether the memory exists. */
int tcp_seg_get(const uint8_t *p, struct tcp_seg *seg);

void tcp_u64_put(uint8_t *p, uint64_t val);
uint64_t tcp_u64_get(const uint8_t *p);

/* Writes TCP_HELLO_LEN + len bytes and returns that number. len <= TP_PRIVATE_MAX. */
uint32_t tcp_hello_put(uint8_t *p, const void *priv, unsigned int len);
/* Sets the check of a frame whose payload is that hello. */
void tcp_hello_seal(struct tcp_frame *frame, const uint8_t *payload);
/* Whether the frame and its payload are unchanged, if the frame has a check. */
bool tcp_hello_is_intact(const struct tcp_frame *frame, const uint8_t *payload);
/* -EPROTOTYPE: not this protocol; -EPROTO: another version of it. *why is the reason. */
int tcp_hello_get(const uint8_t *p, uint32_t len, struct tcp_hello *hello,
		  const char **why);

/*
 * tcp_nak_status() returns the -errno of an enum tcp_nak, -EPROTO if it is unknown. tcp_nak_code()
 * returns the enum tcp_nak of a -errno, TCP_NAK_FAILED if it has none.
 */
int tcp_nak_status(uint32_t nak);
uint32_t tcp_nak_code(int status);

#endif
