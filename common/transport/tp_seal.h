/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tp_seal.h - sealed connections: those of a provider whose bytes pass through networks
 * that others may reach.  transport.h knows the words.
 */
#ifndef TP_SEAL_H
#define TP_SEAL_H

#include "common/util/sealer.h"
#include "common/transport/transport.h"

/* Whether connections of the device can be sealed; others are for trusted networks. */
bool tp_dev_seals(const struct tp_dev *dev);

/*
 * From here on all that this end sends is sealed, one-sided operations too, and what it
 * receives must be: both ends call it once, with sealers that belong together.  What
 * was posted before leaves as it is.  What comes sealed before the call waits for it at
 * the end that connected; the one that accepted calls first, or is never sealed, and takes
 * that for the peer's mistake (-EPROTO).
 * Who was the first to call refuses from then on what is neither sealed nor empty of meaning,
 * and either what came bare before the call and was not looked at yet, for the peer has said
 * nothing more (-EBADMSG); behind: so much of it the caller has polled.
 *
 * A record that was changed, repeated, left out, put elsewhere or made up ends the
 * connection (-EBADMSG), before anything of it is used.
 *
 * sealer is the endpoint's from now on, also on error, and freed with it.  -EOPNOTSUPP: see
 * above; -ENOTCONN: it is not established, or broken; -EALREADY: it is sealed; -ENOMEM.
 */
int tp_ep_seal(struct tp_ep *ep, struct sealer *sealer, unsigned int behind);

/* Why connections of the device were ended, so far. */
enum tp_flaw {
	TP_FLAW_FALSE, /* a record that was changed, or made up */
	TP_FLAW_ORDER, /* repeated, left out, or in another's place */
	TP_FLAW_LENGTH, /* longer than records are, or empty */
	TP_FLAW_BARE, /* not sealed, where it must be */
	TP_FLAW_CUT, /* its end in the middle of a record */
	TP_FLAWS
};
/* For messages: "a record that was changed or made up". */
const char *tp_flaw_text(enum tp_flaw flaw);
/* Zeros for a device that does not seal.  Any thread. */
void tp_dev_flaws(const struct tp_dev *dev, uint64_t count[TP_FLAWS]);

#endif
