/* SPDX-License-Identifier: BSD-2-Clause */
/* ready.h - reports that the iod serves. */
#ifndef READY_H
#define READY_H

#include "server/state/worker.h"

/* After the first lease, once: logs the settings and tells the daemon.  Before it, nothing
 * happens. */
void ready_say(struct iod *iod);

#endif
