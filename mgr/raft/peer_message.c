/* SPDX-License-Identifier: BSD-2-Clause */
/* peer_message.c - see peer_message.h. */
#include "mgr/raft/peer_message.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/crc32c.h"
#include "mgr/raft/member_list.h"

struct message_head {
	uint32_t magic;
	uint32_t crc; /* over all that follows */
	uint16_t version;
	uint16_t type;
	uint32_t len; /* of the message */
	uint64_t group, from, to, stamp;
};
_Static_assert(sizeof(struct message_head) == 48, "on the wire");
#define MESSAGE_MAGIC 0x66617270u
#define MESSAGE_VERSION 1u

struct wire_entry_head {
	uint64_t term;
	uint32_t len;
	uint16_t type;
	uint16_t zero;
};
_Static_assert(sizeof(struct wire_entry_head) == 16, "on the wire");

/* The largest number of fields of a message. */
#define WORDS_MAX 5u

static size_t pad_length(size_t len)
{
	return (len + 7) / 8 * 8;
}

/* ---- encoding ---- */

static unsigned int words_of(const struct raft_message *msg,
			     uint64_t words[WORDS_MAX])
{
	const struct raft_append_entries *ae = &msg->append_entries;
	const struct raft_append_entries_result *ar =
		&msg->append_entries_result;
	const struct raft_request_vote *rv = &msg->request_vote;
	const struct raft_request_vote_result *vr = &msg->request_vote_result;
	const struct raft_install_snapshot *is = &msg->install_snapshot;
	const struct raft_timeout_now *tn = &msg->timeout_now;
	unsigned int n = 0;

	switch (msg->type) {
	case RAFT_IO_APPEND_ENTRIES:
		words[n++] = ae->term;
		words[n++] = ae->prev_log_index;
		words[n++] = ae->prev_log_term;
		words[n++] = ae->leader_commit;
		words[n++] = ae->n_entries;
		break;
	case RAFT_IO_APPEND_ENTRIES_RESULT:
		words[n++] = ar->term;
		words[n++] = ar->rejected;
		words[n++] = ar->last_log_index;
		break;
	case RAFT_IO_REQUEST_VOTE:
		words[n++] = rv->term;
		words[n++] = rv->candidate_id;
		words[n++] = rv->last_log_index;
		words[n++] = rv->last_log_term;
		words[n++] = (rv->disrupt_leader ? 1u : 0u) |
			     (rv->pre_vote ? 2u : 0u);
		break;
	case RAFT_IO_REQUEST_VOTE_RESULT:
		words[n++] = vr->term;
		words[n++] = vr->vote_granted;
		words[n++] = (uint64_t)vr->pre_vote;
		break;
	case RAFT_IO_INSTALL_SNAPSHOT:
		words[n++] = is->term;
		words[n++] = is->last_index;
		words[n++] = is->last_term;
		words[n++] = is->conf_index;
		break;
	case RAFT_IO_TIMEOUT_NOW:
		words[n++] = tn->term;
		words[n++] = tn->last_log_index;
		words[n++] = tn->last_log_term;
		break;
	}
	return n;
}

static int entries_size(const struct raft_append_entries *ae, size_t *size)
{
	if (ae->n_entries > PEER_ENTRIES_MAX)
		return -EMSGSIZE;
	*size = ae->n_entries * sizeof(struct wire_entry_head);
	for (unsigned int i = 0; i < ae->n_entries; i++) {
		if (ae->entries[i].buf.len > PEER_DATA_MAX)
			return -EMSGSIZE;
		*size += pad_length(ae->entries[i].buf.len);
	}
	return *size > PEER_DATA_MAX + ae->n_entries * 32u ? -EMSGSIZE : 0;
}

static void encode_entries(const struct raft_append_entries *ae, uint8_t *to)
{
	for (unsigned int i = 0; i < ae->n_entries; i++) {
		const struct raft_entry *entry = &ae->entries[i];
		struct wire_entry_head head = {
			.term = htole64(entry->term),
			.len = htole32((uint32_t)entry->buf.len),
			.type = htole16(entry->type),
		};

		memcpy(to, &head, sizeof(head));
		to += sizeof(head);
	}
	for (unsigned int i = 0; i < ae->n_entries; i++) {
		const struct raft_buffer *buf = &ae->entries[i].buf;

		if (buf->len)
			memcpy(to, buf->base, buf->len);
		to += pad_length(buf->len);
	}
}

/* The part after the fields.  buf: for an InstallSnapshot, its members; raft_free() it. */
static int rest_size(const struct raft_message *msg, struct raft_buffer *buf,
		     size_t *size)
{
	*buf = (struct raft_buffer){ 0 };
	*size = 0;
	if (msg->type == RAFT_IO_APPEND_ENTRIES)
		return entries_size(&msg->append_entries, size);
	if (msg->type != RAFT_IO_INSTALL_SNAPSHOT)
		return 0;
	if (member_list_encode(&msg->install_snapshot.conf, buf))
		return -ENOMEM;
	*size = buf->len;
	return 0;
}

static void fill_message(const struct peer_envelope *env,
			 const struct raft_message *msg, const uint64_t *words,
			 unsigned int n, const struct raft_buffer *members,
			 uint8_t *out, size_t len)
{
	struct message_head head = { .magic = htole32(MESSAGE_MAGIC),
				     .version = htole16(MESSAGE_VERSION),
				     .type = htole16(msg->type),
				     .len = htole32((uint32_t)len),
				     .group = htole64(env->group),
				     .from = htole64(env->from),
				     .to = htole64(env->to),
				     .stamp = htole64(env->stamp) };
	uint8_t *to = out + sizeof(head);
	size_t crc_at = offsetof(struct message_head, crc);

	for (unsigned int i = 0; i < n; i++, to += 8) {
		uint64_t word = htole64(words[i]);

		memcpy(to, &word, 8);
	}
	if (msg->type == RAFT_IO_APPEND_ENTRIES)
		encode_entries(&msg->append_entries, to);
	else if (members->len)
		memcpy(to, members->base, members->len);
	memcpy(out, &head, sizeof(head));
	head.crc = htole32(crc32c(0, out + crc_at + 4, len - crc_at - 4));
	memcpy(out + crc_at, &head.crc, 4);
}

int peer_message_encode(const struct peer_envelope *env,
			const struct raft_message *msg, void **out, size_t *len)
{
	uint64_t words[WORDS_MAX];
	unsigned int n = words_of(msg, words);
	struct raft_buffer members;
	size_t size, all;
	uint8_t *bytes;
	int rc;

	if (!n)
		return -EINVAL;
	rc = rest_size(msg, &members, &size);
	if (rc)
		return rc;
	all = sizeof(struct message_head) + n * 8 + size;
	bytes = calloc(1, all);
	if (bytes)
		fill_message(env, msg, words, n, &members, bytes, all);
	raft_free(members.base);
	if (!bytes)
		return -ENOMEM;
	*out = bytes;
	*len = all;
	return 0;
}

/* ---- decoding ---- */

struct message_body {
	uint64_t words[WORDS_MAX];
	const uint8_t *rest;
	size_t rest_len;
};

static int decode_head(const void *data, size_t len, struct message_head *head)
{
	size_t crc_at = offsetof(struct message_head, crc);

	if (len < sizeof(*head) || len > PEER_MESSAGE_MAX)
		return -EINVAL;
	memcpy(head, data, sizeof(*head));
	if (le32toh(head->magic) != MESSAGE_MAGIC ||
	    le16toh(head->version) != MESSAGE_VERSION ||
	    le32toh(head->len) != len ||
	    le32toh(head->crc) != crc32c(0, (const uint8_t *)data + crc_at + 4,
					 len - crc_at - 4))
		return -EINVAL;
	return 0;
}

static int decode_body(const void *data, size_t len, unsigned int n,
		       struct message_body *body)
{
	const uint8_t *at = (const uint8_t *)data + sizeof(struct message_head);

	if (len < sizeof(struct message_head) + n * 8)
		return -EINVAL;
	for (unsigned int i = 0; i < n; i++, at += 8) {
		memcpy(&body->words[i], at, 8);
		body->words[i] = le64toh(body->words[i]);
	}
	body->rest = at;
	body->rest_len = len - sizeof(struct message_head) - n * 8;
	return 0;
}

static int decode_entry_head(const struct message_body *body, unsigned int i,
			     struct wire_entry_head *head)
{
	memcpy(head, body->rest + i * sizeof(*head), sizeof(*head));
	head->term = le64toh(head->term);
	head->len = le32toh(head->len);
	head->type = le16toh(head->type);
	if (head->zero || head->len > PEER_DATA_MAX)
		return -EINVAL;
	return 0;
}

/* Whether the rest of the body is n entries.  *data_len: the bytes of their data. */
static int check_entries(const struct message_body *body, uint64_t n,
			 size_t *data_len)
{
	struct wire_entry_head head;

	if (n > PEER_ENTRIES_MAX || body->rest_len < n * sizeof(head))
		return -EINVAL;
	*data_len = body->rest_len - n * sizeof(head);
	for (size_t i = 0, left = *data_len;; i++) {
		if (i == n)
			return left ? -EINVAL : 0;
		if (decode_entry_head(body, (unsigned int)i, &head) ||
		    pad_length(head.len) > left)
			return -EINVAL;
		left -= pad_length(head.len);
	}
}

/* libraft frees the entries, and the batch that holds the data of all of them. */
static int decode_entries(const struct message_body *body,
			  struct raft_append_entries *ae)
{
	uint64_t n = body->words[4];
	size_t data_len;
	uint8_t *batch;

	if (check_entries(body, n, &data_len))
		return -EINVAL;
	ae->n_entries = (unsigned int)n;
	ae->entries = NULL;
	if (!n)
		return 0;
	ae->entries = raft_calloc(n, sizeof(*ae->entries));
	batch = raft_malloc(data_len ? data_len : 1);
	if (!ae->entries || !batch) {
		raft_free(ae->entries);
		raft_free(batch);
		return -ENOMEM;
	}
	memcpy(batch, body->rest + n * sizeof(struct wire_entry_head),
	       data_len);
	for (unsigned int i = 0, at = 0; i < n; i++) {
		struct wire_entry_head head;

		(void)decode_entry_head(body, i, &head);
		ae->entries[i] = (struct raft_entry){
			.term = head.term,
			.type = head.type,
			.buf = { batch + at, head.len },
			.batch = batch,
		};
		at += (unsigned int)pad_length(head.len);
	}
	return 0;
}

static int decode_append(const struct message_body *body,
			 struct raft_message *msg)
{
	msg->append_entries = (struct raft_append_entries){
		.term = body->words[0],
		.prev_log_index = body->words[1],
		.prev_log_term = body->words[2],
		.leader_commit = body->words[3],
	};
	return decode_entries(body, &msg->append_entries);
}

static int decode_append_result(const struct message_body *body,
				struct raft_message *msg)
{
	msg->append_entries_result = (struct raft_append_entries_result){
		.term = body->words[0],
		.rejected = body->words[1],
		.last_log_index = body->words[2],
	};
	return body->rest_len ? -EINVAL : 0;
}

static int decode_vote(const struct message_body *body,
		       struct raft_message *msg)
{
	msg->request_vote = (struct raft_request_vote){
		.term = body->words[0],
		.candidate_id = body->words[1],
		.last_log_index = body->words[2],
		.last_log_term = body->words[3],
		.disrupt_leader = body->words[4] & 1,
		.pre_vote = body->words[4] & 2,
	};
	return body->rest_len || body->words[4] > 3 ? -EINVAL : 0;
}

static int decode_vote_result(const struct message_body *body,
			      struct raft_message *msg)
{
	msg->request_vote_result = (struct raft_request_vote_result){
		.term = body->words[0],
		.vote_granted = body->words[1],
		.pre_vote = (raft_tribool)body->words[2],
	};
	if (body->words[1] > 1 || body->words[2] > raft_tribool_false ||
	    body->words[2] < raft_tribool_true)
		return -EINVAL;
	return body->rest_len ? -EINVAL : 0;
}

static int decode_snapshot(const struct message_body *body,
			   struct raft_message *msg)
{
	struct raft_install_snapshot *is = &msg->install_snapshot;
	int rc;

	*is = (struct raft_install_snapshot){
		.term = body->words[0],
		.last_index = body->words[1],
		.last_term = body->words[2],
		.conf_index = body->words[3],
	};
	rc = member_list_decode(body->rest, body->rest_len, &is->conf);
	if (rc)
		return rc;
	/* libraft frees it, and hands it to the state machine. */
	is->data.len = 8;
	is->data.base = raft_calloc(1, is->data.len);
	if (!is->data.base) {
		raft_configuration_close(&is->conf);
		return -ENOMEM;
	}
	return 0;
}

static int decode_timeout(const struct message_body *body,
			  struct raft_message *msg)
{
	msg->timeout_now = (struct raft_timeout_now){
		.term = body->words[0],
		.last_log_index = body->words[1],
		.last_log_term = body->words[2],
	};
	return body->rest_len ? -EINVAL : 0;
}

static const struct {
	unsigned int words;
	int (*decode)(const struct message_body *body,
		      struct raft_message *msg);
} forms[] = {
	[RAFT_IO_APPEND_ENTRIES] = { 5, decode_append },
	[RAFT_IO_APPEND_ENTRIES_RESULT] = { 3, decode_append_result },
	[RAFT_IO_REQUEST_VOTE] = { 5, decode_vote },
	[RAFT_IO_REQUEST_VOTE_RESULT] = { 3, decode_vote_result },
	[RAFT_IO_INSTALL_SNAPSHOT] = { 4, decode_snapshot },
	[RAFT_IO_TIMEOUT_NOW] = { 3, decode_timeout },
};

int peer_message_decode(const void *data, size_t len, struct peer_envelope *env,
			struct raft_message *msg)
{
	struct raft_message new = { 0 };
	struct message_head head;
	struct message_body body;
	unsigned int type;
	int rc = decode_head(data, len, &head);

	if (rc)
		return rc;
	type = le16toh(head.type);
	if (type >= sizeof(forms) / sizeof(forms[0]) || !forms[type].decode)
		return -EINVAL;
	rc = decode_body(data, len, forms[type].words, &body);
	new.type = (unsigned short)type;
	new.server_id = le64toh(head.from);
	rc = rc ? rc : forms[type].decode(&body, &new);
	if (rc)
		return rc;
	*env = (struct peer_envelope){ le64toh(head.group), le64toh(head.from),
				       le64toh(head.to), le64toh(head.stamp) };
	*msg = new;
	return 0;
}

static bool has_type(const void *data, size_t len, unsigned int type)
{
	struct message_head head;

	if (len < sizeof(head))
		return false;
	memcpy(&head, data, sizeof(head));
	return le16toh(head.type) == type;
}

bool peer_message_has_entries(const void *data, size_t len)
{
	/* otherwise there is no room for an entry after the fields */
	return len > sizeof(struct message_head) + 5 * sizeof(uint64_t) &&
	       has_type(data, len, RAFT_IO_APPEND_ENTRIES);
}

bool peer_message_is_result(const void *data, size_t len)
{
	return has_type(data, len, RAFT_IO_APPEND_ENTRIES_RESULT);
}

void peer_message_free(struct raft_message *msg)
{
	struct raft_append_entries *ae = &msg->append_entries;

	if (msg->type == RAFT_IO_APPEND_ENTRIES && ae->entries) {
		raft_free(ae->entries[0].batch);
		raft_free(ae->entries);
	}
	if (msg->type == RAFT_IO_INSTALL_SNAPSHOT) {
		raft_configuration_close(&msg->install_snapshot.conf);
		raft_free(msg->install_snapshot.data.base);
	}
}
