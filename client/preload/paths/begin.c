/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * begin.c - the room's one constructor.  It is linked behind the other files of the library, and
 * so are those that it builds on; what the program before handed over is known already.
 */
#include "client/preload/paths/begin.h"
#include "client/preload/paths/whose.h"

__attribute__((constructor)) static void begin(void)
{
	if (whose_off())
		return;
	whose_begin();
	data_begin();
	cwd_begin();
	streams_begin();
}
