/* SPDX-License-Identifier: BSD-2-Clause */
/* container.h - finds the structure that contains a member. */
#ifndef CONTAINER_H
#define CONTAINER_H

#include <stddef.h>

#define container_of(ptr, type, member)                                        \
	((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#endif
