/* SPDX-License-Identifier: BSD-2-Clause */
/* perf_register.c - measures the time of registering and deregistering memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "tests/bench/tp_perf.h"
#include "common/transport/transport.h"

#define ACCESS (TP_LOCAL_WRITE | TP_REMOTE_READ | TP_REMOTE_WRITE)

static bool registers(struct tp_dev *dev, const struct perf *p,
		      struct perf_result *result)
{
	char *buf = perf_buffer(p->size);
	uint64_t start = clock_now(), end = start + p->ms * CLOCK_NS_PER_MS;
	uint64_t now = start;
	double cpu = perf_cpu();
	unsigned int n = 0;
	struct tp_mr *mr;
	int rc = 0;

	for (; now < end; now = clock_now()) {
		rc = tp_mr_reg(dev, buf, p->size, ACCESS, &mr);
		if (rc)
			break;
		tp_mr_dereg(mr);
		n++;
	}
	free(buf);
	if (rc || !n) {
		fprintf(stderr, "pvfs-perf: registering %zu bytes: %s\n",
			p->size, strerror(-rc));
		return false;
	}
	result->rate = n / ((double)(now - start) / 1e9);
	result->cpu = (perf_cpu() - cpu) / n;
	return true;
}

bool perf_register(const struct perf *p, struct perf_result *result)
{
	struct tp_dev *dev;
	bool ok;

	if (tp_dev_open(p->provider, NULL, &dev))
		return false;
	ok = registers(dev, p, result);
	tp_dev_close(dev);
	return ok;
}
