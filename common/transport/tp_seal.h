/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tp_seal.h - sealed connections, for providers whose data crosses networks that others can access.
 * transport.h defines the terms.
 */
#ifndef TP_SEAL_H
#define TP_SEAL_H

#include "common/util/sealer.h"
#include "common/transport/transport.h"

/* Returns whether connections of the device can be sealed. If not, the network must be trusted. */
bool tp_dev_seals(const struct tp_dev *dev);

/*
 * Seals ep. From now on, this end seals everything that it sends, including one-sided operations,
 * and accepts only sealed data. Requests that were posted before the call are sent unsealed. Both
 * ends must call this once, with matching sealers, and the accepting end first.
 *
 * If sealed data arrives at the connecting end before its call, the data waits for the call. If it
 * arrives at the accepting end before its call, the peer has violated the protocol, and the
 * connection ends with -EPROTO.
 *
 * After its call, the accepting end still accepts unsealed frames without content (heartbeats, the
 * end of the connection). The connection ends with -EBADMSG if other unsealed data arrives, or has
 * arrived and was not processed; behind is the number of such messages that the caller has polled.
 *
 * A record that is changed, repeated, omitted, reordered or forged ends the connection with
 * -EBADMSG before any of it is used.
 *
 * ep owns sealer from now on, even after an error. Returns 0; -EOPNOTSUPP: the device cannot seal;
 * -ENOTCONN: ep is not established, or broken; -EALREADY: ep is sealed; -ENOMEM.
 */
int tp_ep_seal(struct tp_ep *ep, struct sealer *sealer, unsigned int behind);

/* The reasons for which received data ended connections of the device. Each has a counter. */
enum tp_flaw {
	TP_FLAW_FALSE, /* a record was changed or forged */
	TP_FLAW_ORDER, /* a record was repeated, omitted or reordered */
	TP_FLAW_LENGTH, /* a record is empty or longer than allowed */
	TP_FLAW_BARE, /* data was not sealed, although it must be */
	TP_FLAW_CUT, /* the connection ended in the middle of a record */
	TP_FLAWS
};
/* Returns a text for messages, such as "a record that was changed or made up". */
const char *tp_flaw_text(enum tp_flaw flaw);
/* Sets count to the counters of the device, all zero if it cannot seal. Any thread may call it. */
void tp_dev_flaws(const struct tp_dev *dev, uint64_t count[TP_FLAWS]);

#endif
