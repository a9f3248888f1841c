/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fan.c - one question to several iods at once; a counter and the first error join the
 * answers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mgr/jobs/jobs_int.h"

static void on_answer(struct iod_call *call)
{
	struct fan_call *c = (struct fan_call *)call;
	struct fan *fan = c->fan;

	c->answered = true;
	if (call->status && !fan->status)
		fan->status = call->status;
	if (!call->status && fan->ops->answer)
		fan->ops->answer(fan, c->k, call->reply);
	if (--fan->left == 0)
		fan->ops->done(fan);
}

static void on_refused(struct iod_call *call)
{
	struct fan *fan = ((struct fan_call *)call)->fan;

	if (fan->ops->refused)
		fan->ops->refused(fan);
}

static void send_one(struct fan *fan, uint32_t k, uint32_t index)
{
	struct fan_call *c = &fan->calls[k];
	struct wire_out out;
	int len;

	c->fan = fan;
	c->k = k;
	wire_begin(&out, c->msg, sizeof(c->msg));
	fan->ops->build(fan, k, &out);
	len = wire_end(&out, fan->ops->op, 0, 0);
	c->call.msg = c->msg;
	c->call.msg_len = (size_t)len;
	c->call.done = on_answer;
	c->call.deadline = fan->deadline;
	c->call.refused = on_refused;
	iod_call_start(iod_of(fan->mgr, index), &c->call);
}

int fan_start(struct mgr *mgr, struct fan *fan, const struct fan_ops *ops,
	      uint32_t base, uint32_t n)
{
	uint32_t niods = mgr->conf.niods;

	fan->calls = calloc(n, sizeof(fan->calls[0]));
	if (!fan->calls)
		return -ENOMEM;
	fan->mgr = mgr;
	fan->ops = ops;
	fan->n = fan->left = n;
	fan->status = 0;
	for (uint32_t k = 0; k < n; k++)
		send_one(fan, k, (uint32_t)(((uint64_t)base + k) % niods));
	return 0;
}

void fan_end(struct fan *fan)
{
	if (!fan->calls)
		return;
	for (uint32_t k = 0; k < fan->n; k++)
		iod_call_cancel(&fan->calls[k].call);
	free(fan->calls);
	fan->calls = NULL;
}

void fan_missing(const struct fan *fan, char *buf, size_t len)
{
	size_t at = 0;

	buf[0] = '\0';
	for (uint32_t k = 0; fan->calls && k < fan->n && at < len; k++)
		if (!fan->calls[k].answered)
			at += (size_t)snprintf(
				buf + at, len - at, "%s%s", at ? ", " : "",
				iod_name(fan->calls[k].call.iod));
}
