/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tp_seal.h - sealed connections, for providers whose data crosses networks that others can access.
 * transport.h defines the terms.
 */
#ifndef TP_SEAL_H
#define TP_SEAL_H

#include "common/util/sealer.h"
#include "common/transport/transport.h"

/* Whether connections of the device can be sealed. Other devices are for trusted networks. */
bool tp_dev_seals(const struct tp_dev *dev);

/*
 * Seals ep: from now on all that this end sends is sealed, including one-sided operations, and it
 * accepts only sealed data. Both ends call this once, with matching sealers. Requests posted before
 * the call leave unsealed.
 *
 * If the connecting end receives sealed data before its call, the data waits for the call. The
 * accepting end must call first, or never seal; sealed data before its call is an error of the peer
 * (-EPROTO).
 *
 * After its call the end that calls first accepts unsealed only frames without content (heartbeats,
 * the end of the connection). It also rejects unsealed data that arrived before the call and was
 * not processed (-EBADMSG). behind: number of such messages that the caller has already polled.
 *
 * A record that is changed, repeated, omitted, reordered or forged ends the connection (-EBADMSG)
 * before any of it is used.
 *
 * ep owns sealer from now on, also on error, and frees it. -EOPNOTSUPP: the device cannot seal;
 * -ENOTCONN: not established, or broken; -EALREADY: already sealed; -ENOMEM.
 */
int tp_ep_seal(struct tp_ep *ep, struct sealer *sealer, unsigned int behind);

/* Why connections of the device were ended; each value has a counter. */
enum tp_flaw {
	TP_FLAW_FALSE, /* a record was changed or forged */
	TP_FLAW_ORDER, /* a record was repeated, omitted or reordered */
	TP_FLAW_LENGTH, /* a record is empty or longer than allowed */
	TP_FLAW_BARE, /* data was not sealed, although it must be */
	TP_FLAW_CUT, /* the connection ended in the middle of a record */
	TP_FLAWS
};
/* For messages: "a record that was changed or made up". */
const char *tp_flaw_text(enum tp_flaw flaw);
/* All zero for a device that cannot seal. Any thread may call it. */
void tp_dev_flaws(const struct tp_dev *dev, uint64_t count[TP_FLAWS]);

#endif
