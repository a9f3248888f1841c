/* SPDX-License-Identifier: BSD-2-Clause */
/* pin_rig.h - pins on the mock transport. */
#ifndef PIN_RIG_H
#define PIN_RIG_H

#include <stdbool.h>

#include "common/buffer/pin.h"

struct pin_rig {
	struct tp_dev *dev;
	struct pins *pins;
	struct pins_stats st; /* statistics after the last pin_rig_hit() */
};

/* Opens pins with attr, whose dev is set here. */
void pin_rig_open(struct pin_rig *rig, const struct pins_attr *attr);
/* Checks that nothing is registered afterwards.  pins may be NULL, if the test has closed them. */
void pin_rig_close(struct pin_rig *rig);
/* Returns new anonymous memory with all pages touched. */
void *pin_rig_map(size_t len);
/* Gets and puts a pin.  Returns whether it was already registered. */
bool pin_rig_hit(struct pin_rig *rig, void *addr, size_t len,
		 unsigned int access);
/*
 * The same, repeated until the registration is kept: the watching thread may not yet have reported
 * an earlier change.
 */
bool pin_rig_hit_calm(struct pin_rig *rig, void *addr, size_t len,
		      unsigned int access);
/* Returns true, and prints a message, if the kernel does not report unmapped memory. */
bool pin_rig_skip(void);

#endif
