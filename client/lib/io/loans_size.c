/* SPDX-License-Identifier: BSD-2-Clause */
/* loans_size.c - the size of a file from its borrowed objects. */
#include <errno.h>
#include <sys/stat.h>

#include "client/lib/io/direct_int.h"
#include "client/lib/session/coroutine.h"

/*
 * Borrowing for writing creates a missing object, such as those of servers beyond the end
 * of a small file.
 */
static const struct loan *loan_for_size(const struct loans_file *file,
					uint32_t k)
{
	const struct loan *loan = NULL;

	if (file->write)
		loan = loans_get(file->loans, file->s, file->handle, file->dist,
				 k, true);
	if (!loan)
		loan = loans_get(file->loans, file->s, file->handle, file->dist,
				 k, false);
	return loan;
}

static bool end_of(const struct loans_file *file, uint32_t k, uint64_t *end)
{
	const struct loan *loan = loan_for_size(file, k);
	struct stat st;

	if (!loan || !loan_valid(loan) || fstat(loan->fd, &st) ||
	    loan_over(loan))
		return false;
	*end = dist_file_size(file->dist, k, (uint64_t)st.st_size);
	return true;
}

bool loans_size(const struct loans_file *file, uint64_t *size)
{
	uint64_t end, max = 0;
	int saved = strand_errno();
	bool all = file->s->direct;
	uint32_t k;

	for (k = 0; all && k < file->dist->pcount; k++) {
		all = end_of(file, k, &end);
		if (all && end > max)
			max = end;
	}
	strand_errno_set(saved);
	if (all)
		*size = max;
	return all;
}
