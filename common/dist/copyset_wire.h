/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copyset_wire.h - rings and copysets as they are in messages. Pure functions.
 *
 * The messages were checked by wire_parse().
 */
#ifndef COPYSET_WIRE_H
#define COPYSET_WIRE_H

#include "common/dist/copyset.h"
#include "common/wire/wire.h"

struct copyset copyset_from_wire(const struct wire_copyset *from);
struct wire_copyset copyset_to_wire(const struct copyset *from);
struct ring ring_from_wire(const struct wire_ring *from);
struct wire_ring ring_to_wire(const struct ring *from);

#endif
