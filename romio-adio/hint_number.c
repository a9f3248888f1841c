/* SPDX-License-Identifier: BSD-2-Clause */
/* hint_number.c - see hint_number.h. */
#include "romio-adio/hint_number.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int shift_of(const char *unit)
{
	static const char units[] = "kmg";
	const char *at;

	if (!*unit)
		return 0;
	at = strchr(units, tolower((unsigned char)*unit));
	return at && !unit[1] ? 10 * (int)(at - units + 1) : -1;
}

int hint_number(const char *text, int *value)
{
	const char *digits = text + (*text == '-');
	long long n;
	char *end;
	int shift;

	if (!isdigit((unsigned char)*digits))
		return -EINVAL;
	errno = 0;
	n = strtoll(text, &end, 10);
	shift = shift_of(end);
	if (shift < 0 || (shift && digits != text))
		return -EINVAL;
	if (errno || n < INT_MIN || n > INT_MAX >> shift)
		return -ERANGE;
	*value = (int)(n * (1LL << shift));
	return 0;
}
