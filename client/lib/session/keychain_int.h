/* SPDX-License-Identifier: BSD-2-Clause */
/* keychain_int.h - what the files of keychain.h share. */
#ifndef KEYCHAIN_INT_H
#define KEYCHAIN_INT_H

#include "client/lib/session/keychain.h"

/* Those that are to be renewed, no more than go in a message. */
struct renewal {
	unsigned int n;
	struct {
		uint64_t handle;
		unsigned int rights;
	} of[WIRE_CAPS_MAX];
	uint8_t cap[WIRE_CAPS_MAX][WIRE_CAP_LEN];
};
void keychain_due(struct keychain *kc, struct renewal *r);
/* fresh: that many; NULL: there are none for them, they are lost. */
void keychain_renewed(struct keychain *kc, const struct renewal *r,
		      const struct wire_caps *fresh);

#endif
