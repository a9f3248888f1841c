/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_hello.c - HELLOs with tickets, and AUTH messages, from any sender.  A client is admitted
 * only with a ticket that the holder of the key sealed.
 */
#include <errno.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/hello_rig.h"
#include "tests/unit/key_rig.h"
#include "common/trust/auth_exchange.h"

static const struct token_limits limits = { 1, 2, 3, 100 };
static const struct handshake shake = { .fsid = 1, .session = 2 };

static int clock_of(void *arg, uint64_t term, uint64_t *now)
{
	*now = 10;
	return term == 3 ? 0 : -ESTALE;
}

static void try_hello(const uint8_t *data, size_t len)
{
	struct ticket_verifier house = { key_rig_lasting(), clock_of, NULL };
	struct ticket_hooks keeper = ticket_verifier_hooks(&house,
							   ADMIT_PROVED);
	struct admitted who = { .uid = 77777 };
	uint64_t buf[HELLO_RIG_MAX / 8];
	struct wire_proof proof;
	struct wire_msg msg;

	if (len > sizeof(buf))
		return;
	memcpy(buf, data, len);
	if (wire_parse(buf, len, &msg, NULL))
		return;
	FUZZ_SURE(!msg.job || (msg.job_len && msg.job_len <= WIRE_JOB_MAX &&
			       wire_job_ok(msg.job, msg.job_len)));
	if (!msg.ticket)
		return;
	if (keeper.admit(keeper.arg, &shake, &msg, &who))
		FUZZ_SURE(who.uid == 77777);
	else
		FUZZ_SURE(who.uid == 1000 && who.ngroups == 3);
	keeper.answer(keeper.arg, &shake, &msg, data, len, &proof);
}

static void try_word(const uint8_t *data, size_t len)
{
	static const uint8_t seen[AUTH_EXCHANGE_LEN] = { 1 };
	struct wire_proof good;

	auth_exchange_sign(key_rig_lasting(), HANDSHAKE_CALLER, seen, &good);
	if (!auth_exchange_check(key_rig_lasting(), HANDSHAKE_CALLER, seen,
				 data, len))
		FUZZ_SURE(len == sizeof(good) && !memcmp(data, &good, len));
}

void fuzz_one(const uint8_t *data, size_t len)
{
	try_hello(data, len);
	try_word(data, len);
}

void fuzz_seeds(void)
{
	static const uint8_t seen[AUTH_EXCHANGE_LEN] = { 1 };
	struct hello_rig hello;
	struct wire_proof word;
	struct client_ticket *pass;

	FUZZ_SURE(!client_ticket_new(&pass));
	hello_rig_pass(key_rig_lasting(), &limits, pass);
	FUZZ_SURE(!hello_rig_say(&hello, client_ticket_prover(pass), &shake));
	fuzz_seed((const uint8_t *)hello.buf, hello.len);
	client_ticket_free(pass);
	auth_exchange_sign(key_rig_lasting(), HANDSHAKE_CALLER, seen, &word);
	fuzz_seed((const uint8_t *)&word, sizeof(word));
}
