/* SPDX-License-Identifier: BSD-2-Clause */
/* keyring_int.h - handshake.c: a ring as the prover of handshakes. */
#ifndef KEYRING_INT_H
#define KEYRING_INT_H

#include "handshake.h"
#include "keyring.h"

struct prover keyring_as_prover(struct keyring *ring);

#endif
