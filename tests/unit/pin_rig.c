/* SPDX-License-Identifier: BSD-2-Clause */
/* pin_rig.c - pins on the mock transport. */
#include "tests/unit/pin_rig.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/mock_tp.h"
#include "common/buffer/watch.h"

void pin_rig_open(struct pin_rig *rig, const struct pins_attr *attr)
{
	struct pins_attr a = *attr;

	memset(rig, 0, sizeof(*rig));
	ck_assert_int_eq(tp_dev_open("mock", NULL, &rig->dev), 0);
	a.dev = rig->dev;
	ck_assert_int_eq(pins_open(&a, &rig->pins), 0);
	pins_stats(rig->pins, &rig->st);
	ck_assert_int_eq(rig->st.keeps, a.mode == PINS_ON ? 'y' : 'n');
}

void pin_rig_close(struct pin_rig *rig)
{
	if (rig->pins)
		pins_close(rig->pins);
	tp_dev_close(rig->dev);
}

void *pin_rig_map(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	memset(p, 1, len);
	return p;
}

bool pin_rig_hit(struct pin_rig *rig, void *addr, size_t len,
		 unsigned int access)
{
	const struct tp_mr *mr;
	struct pin *pin;
	uint64_t hits;

	pins_stats(rig->pins, &rig->st);
	hits = rig->st.hits;
	ck_assert_int_eq(pin_get(rig->pins, addr, len, access, &pin), 0);
	mr = pin_mr(pin);
	ck_assert((char *)mr->addr <= (char *)addr &&
		  (char *)mr->addr + mr->len >= (char *)addr + len);
	pin_put(rig->pins, pin);
	pins_stats(rig->pins, &rig->st);
	return rig->st.hits > hits;
}

bool pin_rig_hit_calm(struct pin_rig *rig, void *addr, size_t len,
		      unsigned int access)
{
	uint64_t before = rig->st.uncached;
	bool hit = pin_rig_hit(rig, addr, len, access);
	int i;

	for (i = 0; i < 1000 && rig->st.uncached != before; i++) {
		before = rig->st.uncached;
		usleep(1000);
		hit = pin_rig_hit(rig, addr, len, access);
	}
	return hit;
}

bool pin_rig_skip(void)
{
	struct watch *watch;
	int rc = watch_open(&watch);

	if (!rc)
		watch_close(watch);
	else
		printf("SKIP: userfaultfd: %s\n", strerror(-rc));
	return rc != 0;
}
