/* SPDX-License-Identifier: BSD-2-Clause */
/* hint_number.h - parsing numeric hints. */
#ifndef HINT_NUMBER_H
#define HINT_NUMBER_H

/*
 * Parses the whole text: decimal digits, followed by k, m or g for 2^10, 2^20 or 2^30, in
 * either case.  A sign is permitted only without such a letter.  Sets *value on success
 * only.  Returns 0; -EINVAL: not a number; -ERANGE: does not fit an int.
 */
int hint_number(const char *text, int *value);

#endif
