/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gcm.h - sealers with AES-256-GCM (NIST SP 800-38D). Each direction has a key. The nonce is the
 * number of the record, which is unique for a key. After a number of bytes or records, both ends
 * replace the key by a code of itself, after the same record. A later key cannot open earlier
 * records.
 */
#ifndef GCM_H
#define GCM_H

#include "common/trust/mac.h"
#include "common/wire/security_mode.h"
#include "common/util/sealer.h"

/* The most bytes or records after which a key is changed; 0 means GCM_BYTES or GCM_RECORDS. */
struct gcm_limits {
	uint64_t bytes, records;
};
#define GCM_BYTES (1ull << 36)
#define GCM_RECORDS (1ull << 32)

/*
 * SEAL_AUTH protects data from changes; SEAL_ENCRYPT encrypts it. out and in are the keys of sent
 * and of received records. limits may be NULL, which means all zero. Returns 0; -EINVAL if it is
 * another mode; or -ENOMEM.
 */
int gcm_sealer(enum seal_mode mode, const uint8_t out[MAC_KEY_LEN],
	       const uint8_t in[MAC_KEY_LEN], const struct gcm_limits *limits,
	       struct sealer **sealer);

#endif
