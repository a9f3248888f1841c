/* SPDX-License-Identifier: BSD-2-Clause */
/* numbers.c - the tables of numbers.h. */
#include "client/preload/numbers.h"

atomic_uchar numbers[NUMBERS], number_appended[NUMBERS];
