/* SPDX-License-Identifier: BSD-2-Clause */
/* own_process.c - see own_process.h. */
#include "client/preload/own_process.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

static struct {
	pid_t pid;
	atomic_bool disabled;
} own_process;

void own_process_begin(void)
{
	const char *setting = secure_getenv("PVFS_PRELOAD");

	own_process.pid = own_process_id();
	if (getauxval(AT_SECURE) || (setting && !strcmp(setting, "off")))
		own_process_disable();
}

void own_process_enter_child(void)
{
	own_process.pid = own_process_id();
}

bool own_process_is_here(void)
{
	return own_process.pid == own_process_id();
}

void own_process_disable(void)
{
	atomic_store(&own_process.disabled, true);
}

bool own_process_disabled(void)
{
	return atomic_load(&own_process.disabled);
}
