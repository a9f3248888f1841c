/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * begin.c - the only constructor of this folder.  It is linked after the other files of
 * the library, and they after the libraries that they use.  The state that the previous
 * program handed over is known by then.
 */
#include "client/preload/paths/begin.h"
#include "client/preload/bypass/bypass.h"
#include "client/preload/own_process.h"
#include "client/preload/paths/whose.h"

__attribute__((constructor)) static void begin(void)
{
	bypass_begin();
	if (own_process_disabled())
		return;
	whose_begin();
	data_begin();
	cwd_begin();
	streams_begin();
}
