/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loan_usage.h - the reads and writes that a client reports for its direct access.
 *
 * The client counts them in its shared page (struct loan_page_file), which it can fill with any
 * value.  So the increase between two samples is limited: per nanosecond to LOAN_BYTES_PER_NS
 * bytes and one access, and per access to LOAN_PAGE_MOST bytes.
 *
 * Plain data: the caller owns it and serialises the calls.  No errors.
 */
#ifndef LOAN_USAGE_H
#define LOAN_USAGE_H

#include <stdint.h>

#include "common/util/histogram.h"
#include "common/wire/loan_pages.h"

#define LOAN_BYTES_PER_NS 256u

/* The increase since the last sample, of reads or of writes. */
struct loan_usage {
	/* accesses, their bytes, the sum of their times */
	uint64_t n, bytes, ns;
	/* accesses by duration, of those whose duration is known */
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

/* The last sample of a page: [0] reads, [1] writes. */
struct loan_counters {
	uint64_t at; /* clock_boot() */
	uint64_t n[2], bytes[2], ns[2], timed[2];
	uint64_t mean[2]; /* ns; 0: no access was timed yet */
	uint64_t bucket[2][HISTOGRAM_BUCKETS];
};

/* Starts with counters of zero at the time now. */
void loan_counters_start(struct loan_counters *counters, uint64_t now);
/* Sets usage to the accepted increase since the last sample and stores page as the new sample. */
void loan_counters_update(struct loan_counters *counters,
			  const struct loan_page_file *page, uint64_t now,
			  struct loan_usage usage[2]);

#endif
