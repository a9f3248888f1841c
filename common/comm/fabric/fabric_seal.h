/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric_seal.h - reports sealed connections that ended because data was altered in transit.
 */
#ifndef FABRIC_SEAL_H
#define FABRIC_SEAL_H

#include "common/comm/fabric/fabric.h"
#include "common/util/log.h"

/*
 * Logs a line for a daemon's report.  bare: connections refused because they did not seal.
 */
void fabric_seal_report(const struct fabric *fabric, uint64_t bare,
			const struct log *log);

#endif
