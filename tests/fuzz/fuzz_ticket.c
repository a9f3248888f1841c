/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_ticket.c - tickets and capabilities from any sender: each accepted one equals, byte for
 * byte, the one that the holder of the key would seal.
 */
#include <string.h>

#include "common/trust/capability.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/key_rig.h"
#include "common/trust/ticket.h"

static const struct token_limits limits = { 1, 2, 3, 100 };
static const struct token_context here = { 1, 2, 3, 3, 99 };

static void try_ticket(const uint8_t *data, size_t len)
{
	struct ticket t = { .ngroups = 77777 };
	uint8_t again[TICKET_MAX];

	if (ticket_open(key_rig_lasting(), data, len, &here, &t)) {
		FUZZ_SURE(t.ngroups == 77777);
		return;
	}
	FUZZ_SURE(ticket_seal(key_rig_lasting(), &t, again, sizeof(again)) ==
		  (int)len);
	FUZZ_SURE(!memcmp(again, data, len));
}

static void try_capability(const uint8_t *data, size_t len)
{
	struct capability cap = { .handle = 77777 };
	uint8_t again[CAPABILITY_LEN];

	if (capability_open(key_rig_lasting(), data, len, &here, &cap)) {
		FUZZ_SURE(cap.handle == 77777);
		return;
	}
	FUZZ_SURE(!capability_seal(key_rig_lasting(), &cap, again));
	FUZZ_SURE(!memcmp(again, data, len));
}

void fuzz_one(const uint8_t *data, size_t len)
{
	try_ticket(data, len);
	try_capability(data, len);
}

void fuzz_seeds(void)
{
	struct capability cap = { limits, 9, CAPABILITY_READ };
	struct ticket t = { .limits = limits, .uid = 1000, .gid = 100 };
	uint8_t buf[TICKET_MAX];

	for (t.ngroups = 0; t.ngroups <= WIRE_GROUPS_MAX; t.ngroups += 32) {
		int len = ticket_seal(key_rig_lasting(), &t, buf, sizeof(buf));

		fuzz_seed(buf, (size_t)len);
	}
	FUZZ_SURE(!capability_seal(key_rig_lasting(), &cap, buf));
	fuzz_seed(buf, CAPABILITY_LEN);
}
