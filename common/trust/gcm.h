/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gcm.h - sealers of AES-256-GCM (NIST SP 800-38D) of libcrypto.  A key for each
 * direction; the nonce is the number of the record, which none shares under its key.
 * After so many bytes or records the key becomes a code of itself, at both ends with the same
 * record: who gets hold of a later one cannot open what was before.
 */
#ifndef GCM_H
#define GCM_H

#include "common/trust/mac.h"
#include "common/wire/seal_mode.h"
#include "common/util/sealer.h"

/* After how much a key is changed, at the latest; 0: GCM_BYTES, GCM_RECORDS. */
struct gcm_limits {
	uint64_t bytes, records;
};
#define GCM_BYTES (1ull << 36)
#define GCM_RECORDS (1ull << 32)

/*
 * SEAL_AUTH: data stays as it is; SEAL_ENCRYPT: it is enciphered.  out, in: the keys of what
 * leaves and what comes.  limits: NULL, zeros.  -EINVAL: another mode; -ENOMEM.
 */
int gcm_sealer(enum seal_mode mode, const uint8_t out[MAC_KEY_LEN],
	       const uint8_t in[MAC_KEY_LEN], const struct gcm_limits *limits,
	       struct sealer **sealer);

#endif
