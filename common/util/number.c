/* SPDX-License-Identifier: BSD-2-Clause */
/* number.c - see number.h. */
#include "common/util/number.h"

#include <errno.h>
#include <string.h>

/* Returns the value of a digit; 16: it is none. */
static unsigned int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	return c >= 'A' && c <= 'F' ? (unsigned int)(c - 'A') + 10 : 16;
}

static int scan_digits(const char **text, unsigned int base, uint64_t max,
		       uint64_t *val)
{
	const char *at = *text;
	uint64_t n = 0;
	unsigned int digit;

	for (; (digit = digit_value(*at)) < base; at++) {
		if (digit > max || n > (max - digit) / base)
			return -EINVAL;
		n = n * base + digit;
	}
	if (at == *text)
		return -EINVAL;
	*text = at;
	*val = n;
	return 0;
}

static int parse_digits(const char *text, unsigned int base, uint64_t max,
			uint64_t *val)
{
	uint64_t n;
	int rc = scan_digits(&text, base, max, &n);

	if (rc || *text)
		return -EINVAL;
	*val = n;
	return 0;
}

int number_parse(const char *text, uint64_t max, uint64_t *val)
{
	return parse_digits(text, 10, max, val);
}

int number_parse_hex(const char *text, uint64_t max, uint64_t *val)
{
	return parse_digits(text, 16, max, val);
}

int number_scan(const char **text, uint64_t max, uint64_t *val)
{
	return scan_digits(text, 10, max, val);
}

int number_parse_size(const char *text, uint64_t max, uint64_t *val)
{
	static const char units[] = "KMGT";
	const char *unit;
	unsigned int shift;
	uint64_t n;

	if (number_scan(&text, UINT64_MAX, &n))
		return -EINVAL;
	unit = *text ? strchr(units, *text) : NULL;
	if (*text && (!unit || text[1]))
		return -EINVAL;
	shift = unit ? 10 * (unsigned int)(unit - units + 1) : 0;
	if (n > max >> shift)
		return -EINVAL;
	*val = n << shift;
	return 0;
}
