/* SPDX-License-Identifier: BSD-2-Clause */
/* hint_number.h - hints that are numbers. */
#ifndef HINT_NUMBER_H
#define HINT_NUMBER_H

/*
 * All of text: decimal digits, and behind them k, m or g for 2^10, 2^20 or 2^30, in either case.
 * A sign is one of a number without such a letter.  0; -EINVAL: it is none; -ERANGE: it
 * is no int.  *value is set on success only.
 */
int hint_number(const char *text, int *value);

#endif
