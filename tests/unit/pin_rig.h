/* SPDX-License-Identifier: BSD-2-Clause */
/* pin_rig.h - pins on the mock transport. */
#ifndef PIN_RIG_H
#define PIN_RIG_H

#include <stdbool.h>

#include "common/buffer/pin.h"

struct pin_rig {
	struct tp_dev *dev;
	struct pins *pins;
	struct pins_stats st; /* as of the last pin_rig_hit() */
};

/* attr without dev. */
void pin_rig_open(struct pin_rig *rig, const struct pins_attr *attr);
/* Nothing is registered after that; pins may be NULL: closed already. */
void pin_rig_close(struct pin_rig *rig);
/* Fresh anonymous memory, all touched. */
void *pin_rig_map(size_t len);
/* Gets and puts; whether it was there already. */
bool pin_rig_hit(struct pin_rig *rig, void *addr, size_t len,
		 unsigned int access);
/*
 * The same, again until it is kept: right after a change its thread may not
 * have told of it yet.
 */
bool pin_rig_hit_calm(struct pin_rig *rig, void *addr, size_t len,
		      unsigned int access);
/* Where the kernel cannot or may not tell what is unmapped; says so. */
bool pin_rig_skip(void);

#endif
