/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lacks.h - which objects have no access control lists, or no extended attributes at
 * all, as their attributes said that the kernel has.  It asks for these apart, and
 * mostly there are none.
 */
#ifndef LACKS_H
#define LACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"

#define LACKS (WIRE_A_NOACL | WIRE_A_NOXATTR)

struct lacks;

struct lacks *lacks_new(void); /* NULL: no memory */
void lacks_free(struct lacks *l);

/*
 * Attributes that the mgr was asked for at asked (clock_now()) count until then: what
 * the object n lacks, of LACKS.
 */
void lacks_told(struct lacks *l, uint64_t n, uint32_t what, uint64_t asked,
		uint64_t until);
/* One was set or removed here, or may have been: what was asked for before does
 * not count. */
void lacks_changed(struct lacks *l, uint64_t n);
/* It has none; what: one of LACKS. */
bool lacks_is(struct lacks *l, uint64_t n, uint32_t what);

#endif
