/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lacks.h - which objects have no access control lists, or no extended attributes at
 * all, according to the attributes that the kernel has.  The kernel asks for these
 * separately, and most objects have none.
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
 * Records what the object n lacks (of LACKS), valid until `until`.  The manager was
 * asked at asked (clock_now()).
 */
void lacks_told(struct lacks *l, uint64_t n, uint32_t what, uint64_t asked,
		uint64_t until);
/*
 * An attribute was set or removed here, or may have been: replies to earlier requests
 * no longer count.
 */
void lacks_changed(struct lacks *l, uint64_t n);
/* True: the object has none; what: one of LACKS. */
bool lacks_is(struct lacks *l, uint64_t n, uint32_t what);

#endif
