/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plain_pair.h - what libpvfs is measured against: two ends of a TCP connection
 * over loopback.  Where the system paces (BBR), these are not paced either, as
 * that takes a third of the rate.
 */
#ifndef PLAIN_PAIR_H
#define PLAIN_PAIR_H

#include <stdbool.h>

bool plain_pair(int fd[2]);

#endif
