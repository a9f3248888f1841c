/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quick_check.h - Check without a note of each assertion that holds: models
 * make millions, and a note is three system calls.  One that fails says where
 * it is all the same.  Every file that uses Check begins with this.
 */
#ifndef QUICK_CHECK_H
#define QUICK_CHECK_H

#include <check.h>

#define _mark_point(file, line) ((void)0)

#endif
