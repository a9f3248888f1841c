/* SPDX-License-Identifier: BSD-2-Clause */
/* providers.h - the tables that transport.c chooses from. */
#ifndef PROVIDERS_H
#define PROVIDERS_H

struct tp_ops;

extern const struct tp_ops tcp_ops;

#endif
