/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * startup.c - the only constructor of the library.  It runs after those of the libraries
 * that this one uses.  The state that the previous program handed over is known by then.
 */
#include "client/preload/bypass/bypass.h"
#include "client/preload/next.h"
#include "client/preload/own_process.h"
#include "client/preload/paths/startup.h"
#include "client/preload/route/roots.h"

__attribute__((constructor)) static void start_library(void)
{
	next_find();
	bypass_begin();
	if (own_process_disabled())
		return;
	roots_begin();
	data_begin();
	descriptors_begin();
	aio_begin();
	cwd_begin();
	streams_begin();
}
