/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric_seal.h - what came over sealed connections and was not as it had left. */
#ifndef FABRIC_SEAL_H
#define FABRIC_SEAL_H

#include "common/comm/fabric/fabric.h"
#include "common/util/log.h"

/* A line for a daemon's report; bare: how many did not agree to seal. */
void fabric_seal_report(const struct fabric *fabric, uint64_t bare,
			const struct log *log);

#endif
