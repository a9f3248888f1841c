/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_connect.c - the private data of a connect, an accept and a reject, with any content. */
#include <errno.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "common/wire/wire.h"

static void check(int rc, const char *why)
{
	FUZZ_SURE(rc == 0 || rc == -EPROTO || rc == -EPROTONOSUPPORT);
	FUZZ_SURE(!rc == !why);
}

void fuzz_one(const uint8_t *data, size_t len)
{
	struct wire_connect c;
	struct wire_accept a;
	const char *why = NULL;
	struct wire_hail hail;
	int rc = wire_check_connect(data, len, &why);

	check(rc, why);
	if (rc == 0) {
		memcpy(&c, data, sizeof(c));
		FUZZ_SURE(c.session && le16toh(c.role) <= WIRE_ROLE_IOD);
	}
	wire_take_hail(data, len, sizeof(c), &hail);
	FUZZ_SURE(!hail.features || len >= sizeof(c) + sizeof(hail));
	why = NULL;
	rc = wire_check_accept(data, len, &why);
	check(rc, why);
	if (rc == 0) {
		memcpy(&a, data, sizeof(a));
		FUZZ_SURE(a.status || a.credits);
	}
}

void fuzz_seeds(void)
{
	struct wire_connect c = { .magic = htole32(WIRE_MAGIC),
				  .version = htole16(WIRE_VERSION),
				  .role = htole16(WIRE_ROLE_CLIENT),
				  .session = htole64(1),
				  .reply_max = htole32(4096) };
	struct wire_accept a = { .magic = htole32(WIRE_MAGIC),
				 .version = htole16(WIRE_VERSION),
				 .boot = htole64(1),
				 .credits = htole32(16),
				 .request_max = htole32(4096) };

	fuzz_seed(&c, sizeof(c));
	fuzz_seed(&a, sizeof(a));
	a.status = htole16(EAGAIN);
	a.credits = 0;
	fuzz_seed(&a, sizeof(a));
	a.version = htole16(WIRE_VERSION_NEWEST + 1);
	fuzz_seed(&a, sizeof(a));
}
