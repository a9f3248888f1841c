/* SPDX-License-Identifier: BSD-2-Clause */
/* env.c - functions that ROMIO needs from its MPI library; see mpir_ext.h. */
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "romio-adio/glue/mpir_ext.h"
#include "romio-adio/glue/mpl.h"

int MPIR_Ext_init(void)
{
	return MPI_SUCCESS;
}

/* MPI has no call for this question.  The first use of an uncommitted type fails anyway. */
int MPIR_Ext_datatype_iscommitted(MPI_Datatype type)
{
	return type == MPI_DATATYPE_NULL ? MPI_ERR_TYPE : MPI_SUCCESS;
}

static uint64_t mix_bits(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdull;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ull;
	return x ^ x >> 33;
}

void MPL_create_pathname(char *path, const char *dirname, const char *prefix,
			 const int is_dir)
{
	struct timespec now;
	uint64_t id;

	clock_gettime(CLOCK_REALTIME, &now);
	id = mix_bits((uint64_t)now.tv_sec) ^ (uint64_t)now.tv_nsec;
	id = mix_bits(id ^ (uint64_t)getpid() << 32 ^ (uintptr_t)&now);
	snprintf(path, PATH_MAX, "%s%s%s.%016llx%s", dirname ? dirname : "",
		 dirname ? "/" : "", prefix, (unsigned long long)id,
		 is_dir ? "/" : "");
}

int MPL_strnapp(char *dest, const char *src, size_t n)
{
	size_t len = strnlen(dest, n), more = strlen(src);

	if (len == n)
		return 1;
	if (more < n - len) {
		memcpy(dest + len, src, more + 1);
		return 0;
	}
	memcpy(dest + len, src, n - len - 1);
	dest[n - 1] = '\0';
	return 1;
}
