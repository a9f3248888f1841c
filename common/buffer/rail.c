/* SPDX-License-Identifier: BSD-2-Clause */
/* rail.c - registers memory with the devices that need it. */
#include "common/buffer/rail.h"

#include <inttypes.h>

static int reg_kept(struct rail_mem *mem, const struct rails *rails,
		    unsigned int rail)
{
	int rc = pin_get(rails->pins[rail], mem->addr, mem->len, mem->access,
			 &mem->pin[rail]);

	if (rc)
		return rc;
	mem->mr[rail] = pin_mr(mem->pin[rail]);
	mem->rails = rails;
	return 0;
}

int rail_mem_reg(struct rail_mem *mem, const struct rails *rails,
		 unsigned int rail)
{
	if (mem->keep && rails->pins[rail])
		return reg_kept(mem, rails, rail);
	return tp_mr_reg(rails->dev[rail], mem->addr, mem->len, mem->access,
			 &mem->mr[rail]);
}

bool rail_mem_find(struct rail_mem *mem, const struct rails *rails,
		   unsigned int rail)
{
	struct pin *pin;

	if (mem->mr[rail])
		return true;
	if (!mem->keep || !rails->pins[rail])
		return false;
	pin = pin_find(rails->pins[rail], mem->addr, mem->len, mem->access);
	if (!pin)
		return false;
	mem->pin[rail] = pin;
	mem->mr[rail] = pin_mr(pin);
	mem->rails = rails;
	return true;
}

bool rail_mem_keeps(const struct rail_mem *mem, const struct rails *rails,
		    unsigned int rail)
{
	return mem->keep && rails->pins[rail] && pins_keep(rails->pins[rail]);
}

int rail_mem_reg_all(struct rail_mem *mem, const struct rails *rails)
{
	unsigned int i;
	int rc;

	for (i = 0; i < rails->n; i++) {
		rc = rail_mem_on(mem, rails, i);
		if (rc) {
			rail_mem_fini(mem);
			return rc;
		}
	}
	return 0;
}

static void rail_mem_end(struct rail_mem *mem, bool drop)
{
	unsigned int i;

	for (i = 0; i < RAILS_MAX; i++) {
		if (mem->pin[i] && drop)
			pin_drop(mem->rails->pins[i], mem->pin[i]);
		else if (mem->pin[i])
			pin_put(mem->rails->pins[i], mem->pin[i]);
		else if (mem->mr[i])
			tp_mr_dereg(mem->mr[i]);
		mem->pin[i] = NULL;
		mem->mr[i] = NULL;
	}
}

void rail_mem_fini(struct rail_mem *mem)
{
	rail_mem_end(mem, false);
}

void rail_mem_drop(struct rail_mem *mem)
{
	rail_mem_end(mem, true);
}

int rails_settle(const struct rails *rails, uint64_t deadline)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < rails->n && !rc; i++) {
		if (rails->pins[i])
			rc = pins_settle(rails->pins[i], deadline);
	}
	return rc;
}

int rails_pins_open(struct rails *rails, enum pins_mode mode,
		    const struct log *log)
{
	struct pins_attr attr = { .log = log, .mode = mode };
	unsigned int i;
	int rc;

	for (i = 0; i < rails->n; i++) {
		attr.dev = rails->dev[i];
		if (mode == PINS_OFF ||
		    (mode == PINS_AUTO && !tp_dev_pins(attr.dev)))
			continue;
		rc = pins_open(&attr, &rails->pins[i]);
		if (rc) {
			rails_pins_close(rails, NULL);
			return rc;
		}
	}
	return 0;
}

static void log_stats(const struct tp_dev *dev, struct pins *pins,
		      const struct log *log)
{
	struct pins_stats st;

	pins_stats(pins, &st);
	if (st.hits + st.misses)
		log_info(log,
			 "%s: registrations: %" PRIu64 " found, %" PRIu64
			 " made (%" PRIu64 " for one call), %" PRIu64
			 " gave room, %" PRIu64 " went with their memory",
			 tp_dev_name(dev), st.hits, st.misses, st.uncached,
			 st.evictions, st.invalidations);
}

void rails_pins_close(struct rails *rails, const struct log *log)
{
	unsigned int i;

	for (i = 0; i < rails->n; i++) {
		if (!rails->pins[i])
			continue;
		log_stats(rails->dev[i], rails->pins[i], log);
		pins_close(rails->pins[i]);
		rails->pins[i] = NULL;
	}
}

void rails_pins_abandon(struct rails *rails)
{
	unsigned int i;

	for (i = 0; i < rails->n; i++) {
		if (rails->pins[i])
			pins_abandon(rails->pins[i]);
	}
}
