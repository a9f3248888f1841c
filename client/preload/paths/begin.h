/* SPDX-License-Identifier: BSD-2-Clause */
/* begin.h - initialisation of the parts of this folder, in this order. */
#ifndef BEGIN_H
#define BEGIN_H

/* Before it, all calls go to the kernel. */
void whose_begin(void);
/* After the constructor of next.h. */
void data_begin(void);
void cwd_begin(void);
void streams_begin(void);

#endif
