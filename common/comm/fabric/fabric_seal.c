/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric_seal.c - see fabric_seal.h. */
#include "common/comm/fabric/fabric_seal.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/transport/tp_seal.h"

static void add(const struct rails *rails, uint64_t sum[TP_FLAWS])
{
	uint64_t count[TP_FLAWS];

	for (unsigned int r = 0; r < rails->n; r++) {
		tp_dev_flaws(rails->dev[r], count);
		for (int i = 0; i < TP_FLAWS; i++)
			sum[i] += count[i];
	}
}

void fabric_seal_report(const struct fabric *fabric, uint64_t bare,
			const struct log *log)
{
	uint64_t sum[TP_FLAWS] = { 0 };
	char text[400] = "";
	size_t len = 0;

	add(&fabric->rails, sum);
	for (int i = 0; i < TP_FLAWS && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%s%" PRIu64 " for %s", i ? ", " : "",
					sum[i], tp_flaw_text((enum tp_flaw)i));
	log_always(log,
		   "%" PRIu64 " refused that did not seal; sealed connections "
		   "ended: %s",
		   bare, text);
}
