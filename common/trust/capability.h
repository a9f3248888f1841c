/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capability.h - what a session may do with the objects of one file. The manager issues a
 * capability at open; the client presents it to iods, which verify it without asking the manager
 * (Gobioff et al., "Security for Network Attached Storage Devices", CMU-CS-97-185).
 */
#ifndef CAPABILITY_H
#define CAPABILITY_H

#include "common/trust/token.h"
#include "common/trust/keyring.h"

#define CAPABILITY_READ 0x1u
#define CAPABILITY_WRITE 0x2u
#define CAPABILITY_ALL (CAPABILITY_READ | CAPABILITY_WRITE)

struct capability {
	struct token_limits limits;
	uint64_t handle; /* handle of the file, not 0 */
	uint32_t rights; /* CAPABILITY_*, at least one of them */
};

#define CAPABILITY_LEN 88u /* bytes of a sealed capability */

/*
 * Encodes and authenticates cap. Returns 0, or -EINVAL if the handle or the rights are invalid. out
 * is set on success only.
 */
int capability_seal(struct keyring *ring, const struct capability *cap,
		    uint8_t out[CAPABILITY_LEN]);
/*
 * Checks len untrusted bytes, of any alignment. Returns 0; -EBADMSG if they are not a capability;
 * or an error of keyring_fast_check() or token_limits_check(). *cap is set on success only.
 */
int capability_open(struct keyring *ring, const void *sealed, size_t len,
		    const struct token_context *here, struct capability *cap);

#endif
