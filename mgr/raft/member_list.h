/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * member_list.h - the members of a group as libraft encodes them, in entries of type RAFT_CHANGE
 * and in snapshots.  libraft has no public function that decodes them, and it trusts what it
 * decodes.
 */
#ifndef MEMBER_LIST_H
#define MEMBER_LIST_H

#include <raft.h>

#include "mgr/raft/member.h"

#define MEMBER_ADDRESS_MAX 255u /* bytes without the 0 */
#define MEMBER_LIST_MAX (9u + MEMBERS_MAX * (9u + MEMBER_ADDRESS_MAX + 1u) + 8u)

/* The caller frees *buf with raft_free().  -ENOMEM. */
int member_list_encode(const struct raft_configuration *conf,
		       struct raft_buffer *buf);
/*
 * Decodes len bytes into *conf, which raft_configuration_close() frees.  -EINVAL: not libraft's
 * encoding of a valid list with 1 to MEMBERS_MAX members.  -ENOMEM.
 */
int member_list_decode(const void *bytes, size_t len,
		       struct raft_configuration *conf);
/* Zeroes the bytes that libraft leaves uninitialized at the end of an encoded list. */
void member_list_wipe_padding(const struct raft_buffer *buf);
/* NULL: conf has no such member. */
struct raft_server *member_list_find(const struct raft_configuration *conf,
				     raft_id id);
unsigned int member_list_voters(const struct raft_configuration *conf);

#endif
