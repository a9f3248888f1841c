/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plain_pair.h - what libpvfs is measured against: two ends of a TCP connection
 * over loopback, as the system gives it to any program.
 */
#ifndef PLAIN_PAIR_H
#define PLAIN_PAIR_H

#include <stdbool.h>

bool plain_pair(int fd[2]);

#endif
