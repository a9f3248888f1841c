/* SPDX-License-Identifier: BSD-2-Clause */
/* startup.h - initialisation of the parts of this folder. */
#ifndef STARTUP_H
#define STARTUP_H

/* Called once after next_find() and roots_begin(): put functions of this folder into next.h. */
void data_begin(void);
void descriptors_begin(void);
void aio_begin(void);
/*
 * Called after the functions above: take over open files and the current directory of the previous
 * program.
 */
void cwd_begin(void);
void streams_begin(void);

#endif
