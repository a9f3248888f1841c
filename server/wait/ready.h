/* SPDX-License-Identifier: BSD-2-Clause */
/* ready.h - the word that the iod serves. */
#ifndef READY_H
#define READY_H

#include "server/state/worker.h"

/* Once, to the log, when it has its first lease; before that nothing. */
void ready_say(struct iod *iod);

#endif
