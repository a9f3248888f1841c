/* SPDX-License-Identifier: BSD-2-Clause */
/* keychain_int.h - shared by the files that implement keychain.h. */
#ifndef KEYCHAIN_INT_H
#define KEYCHAIN_INT_H

#include "client/lib/session/keychain.h"

/* Capabilities to be renewed, limited to one message. */
struct renewal {
	unsigned int n;
	struct {
		uint64_t handle;
		unsigned int rights;
	} of[WIRE_CAPS_MAX];
	uint8_t cap[WIRE_CAPS_MAX][WIRE_CAP_LEN];
};
void keychain_due(struct keychain *kc, struct renewal *r);
/* fresh: one for each in r; NULL: all are lost. */
void keychain_renewed(struct keychain *kc, const struct renewal *r,
		      const struct wire_caps *fresh);

#endif
