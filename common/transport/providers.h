/* SPDX-License-Identifier: BSD-2-Clause */
/* providers.h - the operation tables that transport.c chooses from. */
#ifndef PROVIDERS_H
#define PROVIDERS_H

#include "common/transport/transport.h"

struct tp_ops;

extern const struct tp_ops tcp_ops;
extern const struct tp_ops local_ops;
extern const struct tp_ops verbs_ops; /* if HAVE_VERBS */

#ifdef HAVE_VERBS
#define PROVIDERS "local, verbs or tcp"
#else
#define PROVIDERS "local or tcp"
#endif

/* Opens the device inner and wraps it; see fault.h. */
#define FAULT_PREFIX "fault+"
int fault_dev_open(const char *inner, const struct tp_dev_attr *attr,
		   struct tp_dev **dev);

#endif
