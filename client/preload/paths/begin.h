/* SPDX-License-Identifier: BSD-2-Clause */
/* begin.h - the beginning of the room's parts, in this order. */
#ifndef BEGIN_H
#define BEGIN_H

/* Until then everything is the kernel's. */
void whose_begin(void);
/* Behind next.h's own constructor. */
void data_begin(void);
void cwd_begin(void);
void streams_begin(void);

#endif
