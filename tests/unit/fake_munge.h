/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_munge.h - takes the place of munge_load.c: a munged that does as it is told. */
#ifndef FAKE_MUNGE_H
#define FAKE_MUNGE_H

#include "common/munge/munge_int.h"

/* From now on: every call answers that, as that user. */
void fake_munge_says(int says, unsigned int uid);
/* Calls wait until they are let go. */
void fake_munge_hold(void);
void fake_munge_go(void);
/* Calls so far; contexts that are there. */
unsigned int fake_munge_calls(void);
unsigned int fake_munge_contexts(void);
/* For whose eyes the last one was that was for somebody's, and its cipher. */
unsigned int fake_munge_only(void);
unsigned int fake_munge_cipher(void);
/* The socket that was asked for last, or "". */
const char *fake_munge_socket(void);

#endif
