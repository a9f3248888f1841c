/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_raft_message.c - messages between managers: each message that can be decoded encodes to the
 * same bytes.
 */
#include <string.h>

#include "common/util/crc32c.h"
#include "mgr/raft/peer_message.h"
#include "tests/fuzz/fuzz.h"

/* Offset of the checksum in the header.  The checksum covers the bytes after it. */
#define CRC_AT 4u

static void try_message(const uint8_t *data, size_t len)
{
	struct peer_envelope env, env_again;
	struct raft_message msg, again;
	void *out, *out_again;
	size_t out_len, again_len;

	if (peer_message_decode(data, len, &env, &msg))
		return;
	FUZZ_SURE(!peer_message_encode(&env, &msg, &out, &out_len));
	FUZZ_SURE(!peer_message_decode(out, out_len, &env_again, &again));
	FUZZ_SURE(!memcmp(&env, &env_again, sizeof(env)));
	FUZZ_SURE(!peer_message_encode(&env, &again, &out_again, &again_len));
	FUZZ_SURE(out_len == again_len && !memcmp(out, out_again, out_len));
	free(out);
	free(out_again);
	peer_message_free(&msg);
	peer_message_free(&again);
}

/* Tries the input as it is, and with a correct checksum. */
void fuzz_one(const uint8_t *data, size_t len)
{
	uint8_t *copy;
	uint32_t crc;

	try_message(data, len);
	if (len < CRC_AT + 4)
		return;
	copy = fuzz_copy(data, len);
	crc = crc32c(0, copy + CRC_AT + 4, len - CRC_AT - 4);
	for (int i = 0; i < 4; i++)
		copy[CRC_AT + i] = (uint8_t)(crc >> (8 * i));
	try_message(copy, len);
	free(copy);
}

static void seed(const struct raft_message *msg)
{
	struct peer_envelope env = { 1, 2, 3, 4 };
	void *data;
	size_t len;

	FUZZ_SURE(!peer_message_encode(&env, msg, &data, &len));
	fuzz_seed(data, len);
	free(data);
}

void fuzz_seeds(void)
{
	char text[] = "an entry";
	struct raft_entry entries[2] = {
		{ .term = 3, .type = RAFT_COMMAND, .buf = { text, 8 } },
		{ .term = 4, .type = RAFT_CHANGE, .buf = { text, 3 } },
	};
	struct raft_message msg = { .type = RAFT_IO_APPEND_ENTRIES };

	msg.append_entries = (struct raft_append_entries){ 4, 7,       3,
							   5, entries, 2 };
	seed(&msg);
	msg.append_entries.n_entries = 0;
	seed(&msg);
	msg = (struct raft_message){ .type = RAFT_IO_APPEND_ENTRIES_RESULT };
	msg.append_entries_result.term = 9;
	seed(&msg);
	msg = (struct raft_message){ .type = RAFT_IO_REQUEST_VOTE };
	msg.request_vote = (struct raft_request_vote){ 5, 2, 8, 4, true, true };
	seed(&msg);
	msg = (struct raft_message){ .type = RAFT_IO_REQUEST_VOTE_RESULT };
	msg.request_vote_result.pre_vote = raft_tribool_true;
	seed(&msg);
	msg = (struct raft_message){ .type = RAFT_IO_TIMEOUT_NOW };
	seed(&msg);
	msg = (struct raft_message){ .type = RAFT_IO_INSTALL_SNAPSHOT };
	msg.install_snapshot.last_index = 9;
	raft_configuration_init(&msg.install_snapshot.conf);
	FUZZ_SURE(!raft_configuration_add(&msg.install_snapshot.conf, 1, "a",
					  RAFT_VOTER));
	seed(&msg);
	raft_configuration_close(&msg.install_snapshot.conf);
}
