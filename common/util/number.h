/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * number.h - whole numbers in text from elsewhere: digits alone, without blanks, a sign or a
 * prefix such as 0x.
 */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdint.h>

/*
 * Parses text, which must be a decimal number and nothing else. Returns 0, or -EINVAL if text is no
 * number or more than max.
 */
int number_parse(const char *text, uint64_t max, uint64_t *val);
/* The same for hexadecimal digits, in upper or lower case. */
int number_parse_hex(const char *text, uint64_t max, uint64_t *val);
/* The same for a decimal number that K, M, G or T may follow: powers of 1024. */
int number_parse_size(const char *text, uint64_t max, uint64_t *val);
/*
 * Parses the decimal digits at the start of *text, and moves *text after them. -EINVAL if there are
 * none, or if the number is more than max.
 */
int number_scan(const char **text, uint64_t max, uint64_t *val);

#endif
