/* SPDX-License-Identifier: BSD-2-Clause */
/* rates.c - rates, also over several servers: see gather.h. */
#include "client/tools/monitor/top/gather.h"
#include "client/tools/common/metric.h"

struct top_rates top_rates_of(const struct pvfs_metric *m, double seconds)
{
	return (struct top_rates){
		.requests = (double)m->n / seconds,
		.errors = (double)m->errors / seconds,
		.in = (double)m->bytes_in / seconds,
		.out = (double)m->bytes_out / seconds,
		.mean_ns = metric_mean(m),
		.p99_ns = m->n ? metric_percentile(m, 0.99) : 0,
	};
}

int top_rates_busiest(const struct top_rates *x, const struct top_rates *y)
{
	double p = x->in + x->out, q = y->in + y->out;

	if (p != q)
		return p > q ? -1 : 1;
	if (x->requests != y->requests)
		return x->requests > y->requests ? -1 : 1;
	return 0;
}

void top_rates_add(struct top_rates *to, const struct top_rates *r)
{
	double all = to->requests + r->requests;

	to->mean_ns = (uint64_t)(((double)to->mean_ns * to->requests +
				  (double)r->mean_ns * r->requests) /
				 all);
	to->requests = all;
	to->errors += r->errors;
	to->in += r->in;
	to->out += r->out;
}
