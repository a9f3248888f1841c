/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plain_pair.h - two ends of a plain TCP connection over loopback, with which libpvfs is compared.
 */
#ifndef PLAIN_PAIR_H
#define PLAIN_PAIR_H

#include <stdbool.h>

bool plain_pair(int fd[2]);

#endif
