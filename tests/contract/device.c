/* SPDX-License-Identifier: BSD-2-Clause */
/* device.c - devices and memory registration, and that everything is released. */
#include <errno.h>
#include <string.h>

#include "tests/contract/contract.h"

START_TEST(unknown_provider)
{
	struct tp_dev_attr attr = { 0 };
	struct tp_dev *dev = (struct tp_dev *)&attr;

	ck_assert_int_eq(tp_dev_open("pigeon", &attr, &dev), -EPROTONOSUPPORT);
	ck_assert_ptr_eq(dev, (struct tp_dev *)&attr);
}
END_TEST

START_TEST(two_devices)
{
	struct tp_dev_attr attr = { 0 };
	struct tp_dev *one, *two;

	ck_ok(tp_dev_open(contract_provider(), &attr, &one));
	ck_ok(tp_dev_open(contract_provider(), &attr, &two));
	ck_assert_ptr_ne(one, two);
	ck_assert_str_eq(tp_dev_name(one), contract_provider());
	tp_dev_close(one);
	tp_dev_close(two);
}
END_TEST

START_TEST(memory)
{
	static char page[8192];
	struct tp_dev_attr attr = { 0 };
	struct tp_mr *all, *part;
	struct tp_dev *dev;

	ck_ok(tp_dev_open(contract_provider(), &attr, &dev));
	ck_ok(tp_mr_reg(dev, page, sizeof(page), TP_REMOTE_READ, &all));
	ck_assert_ptr_eq(all->addr, page);
	ck_assert_uint_eq(all->len, sizeof(page));
	ck_ok(tp_mr_reg(dev, page + 3, 100, TP_REMOTE_WRITE, &part));
	ck_assert_uint_ne(all->rkey, part->rkey);
	ck_assert_uint_ne(all->lkey, TP_LKEY_NONE);
	ck_assert_uint_ne(part->lkey, TP_LKEY_NONE);
	tp_mr_dereg(all);
	tp_mr_dereg(part);
	all = NULL;
	ck_assert_int_eq(tp_mr_reg(dev, page, 0, TP_REMOTE_READ, &all),
			 -EINVAL);
	ck_assert_int_eq(tp_mr_reg(dev, page, 1, 0x4000, &all), -EINVAL);
	ck_assert_ptr_null(all);
	tp_dev_close(dev);
}
END_TEST

/* The rkey of an ended registration is not that of the next one. */
START_TEST(keys_are_fresh)
{
	static char page[4096];
	struct tp_dev_attr attr = { 0 };
	struct tp_dev *dev;
	struct tp_mr *mr;
	uint32_t last = 0;
	int i;

	ck_ok(tp_dev_open(contract_provider(), &attr, &dev));
	for (i = 0; i < 100; i++) {
		ck_ok(tp_mr_reg(dev, page, sizeof(page), TP_REMOTE_READ, &mr));
		if (i)
			ck_assert_uint_ne(mr->rkey, last);
		last = mr->rkey;
		tp_mr_dereg(mr);
	}
	tp_dev_close(dev);
}
END_TEST

START_TEST(many_registrations)
{
	static char page[4096];
	struct tp_dev_attr attr = { 0 };
	struct tp_mr *mr[2000];
	struct tp_dev *dev;
	unsigned int i;

	ck_ok(tp_dev_open(contract_provider(), &attr, &dev));
	for (i = 0; i < 2000; i++)
		ck_ok(tp_mr_reg(dev, page + i, 64, TP_REMOTE_READ, &mr[i]));
	for (i = 0; i < 2000; i += 2)
		tp_mr_dereg(mr[i]);
	for (i = 1; i < 2000; i += 2)
		tp_mr_dereg(mr[i]);
	tp_dev_close(dev);
}
END_TEST

static void one_life(void)
{
	static struct world w;
	struct link *l;

	world_open(&w, contract_provider(), 1024);
	l = link_open(&w, NULL);
	link_works(&w, l);
	world_close(&w);
}

START_TEST(no_descriptor_leaks)
{
	unsigned int before, i;

	one_life();
	before = fd_count();
	for (i = 0; i < 30; i++)
		one_life();
	ck_assert_uint_eq(fd_count(), before);
}
END_TEST

TCase *case_device(void)
{
	TCase *tc = contract_bare_case("device");

	tcase_add_test(tc, unknown_provider);
	tcase_add_test(tc, two_devices);
	tcase_add_test(tc, memory);
	tcase_add_test(tc, keys_are_fresh);
	tcase_add_test(tc, many_registrations);
	tcase_add_test(tc, no_descriptor_leaks);
	return tc;
}
