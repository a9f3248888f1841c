/* SPDX-License-Identifier: BSD-2-Clause */
/* secret.c - see secret.h. */
#include "common/trust/secret.h"

#include <string.h>
#include <sys/mman.h>

/* If either call fails, the memory would be ordinary memory: return none. */
void *secret_new(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (madvise(p, len, MADV_DONTDUMP) ||
	    madvise(p, len, MADV_WIPEONFORK)) {
		munmap(p, len);
		return NULL;
	}
	return p;
}

void secret_free(void *secret, size_t len)
{
	if (!secret)
		return;
	explicit_bzero(secret, len);
	munmap(secret, len);
}
