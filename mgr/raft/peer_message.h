/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_message.h - messages between members, as bytes.
 *
 * A message is a head, the fields of its type and, for entries, their data.  All numbers are little
 * endian.  A CRC-32C covers everything after it.  An InstallSnapshot carries only the index and the
 * term of the snapshot and the members at that time.  The data is copied separately: see fill() in
 * member.h.
 *
 * Leases are computed from stamps (leader_lease.h).  The stamp of an AppendEntries is the sender's
 * clock.  A result returns the stamp of the newest AppendEntries that its sender has accepted in
 * this term, or 0.
 */
#ifndef PEER_MESSAGE_H
#define PEER_MESSAGE_H

#include <raft.h>
#include <stdbool.h>
#include <stdint.h>

#define PEER_ENTRIES_MAX 4096u
#define PEER_DATA_MAX (5u << 20) /* bytes of the entries of a message */
#define PEER_MESSAGE_MAX (PEER_DATA_MAX + PEER_ENTRIES_MAX * 32u + 8192u)

struct peer_envelope {
	uint64_t group;
	uint64_t from, to;
	uint64_t stamp;
};

/* *out: malloc(), *len bytes.  Does not use msg->server_*.  -EMSGSIZE, -EINVAL, -ENOMEM. */
int peer_message_encode(const struct peer_envelope *env,
			const struct raft_message *msg, void **out,
			size_t *len);
/*
 * Decodes exactly len bytes.  Entries and members are allocated with raft_malloc(), because libraft
 * frees them; otherwise call peer_message_free().  msg->server_id is the sender's id, and
 * msg->server_address is NULL.  -EINVAL: not a message.  -ENOMEM.  On errors, nothing is set.
 */
int peer_message_decode(const void *data, size_t len, struct peer_envelope *env,
			struct raft_message *msg);
/* Whether the data is an encoded AppendEntries with entries, or an encoded AppendEntriesResult. */
bool peer_message_has_entries(const void *data, size_t len);
bool peer_message_is_result(const void *data, size_t len);
/* Frees what the message points to.  Only for messages that were not passed to libraft. */
void peer_message_free(struct raft_message *msg);

#endif
