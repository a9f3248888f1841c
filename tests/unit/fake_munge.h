/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_munge.h - replaces munge_load.c: a munged that the test controls. */
#ifndef FAKE_MUNGE_H
#define FAKE_MUNGE_H

#include "common/munge/munge_int.h"

/* From now on, every call returns `says`, for a credential of the user uid. */
void fake_munge_says(int says, unsigned int uid);
/* Calls wait until fake_munge_go(). */
void fake_munge_hold(void);
void fake_munge_go(void);
/* Number of calls so far, and of open contexts. */
unsigned int fake_munge_calls(void);
unsigned int fake_munge_contexts(void);
/* The uid that alone may decode the last such credential, and its cipher. */
unsigned int fake_munge_only(void);
unsigned int fake_munge_cipher(void);
/* The socket that was requested last, or "". */
const char *fake_munge_socket(void);

#endif
