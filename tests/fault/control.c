/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control.c - rules from the environment, from a file and from another thread; and the rule that
 * ends the process.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fault/faults.h"

static int open_with(const char *env, struct tp_dev **dev)
{
	struct tp_dev_attr attr = { 0 };
	int rc;

	setenv("PVFS_FAULT", env, 1);
	rc = tp_dev_open(PROVIDER, &attr, dev);
	unsetenv("PVFS_FAULT");
	return rc;
}

/* Returns whether memory can be registered now. */
static int try(struct tp_dev *dev)
{
	static char page[64];
	struct tp_mr *mr;
	int rc = tp_mr_reg(dev, page, sizeof(page), 0, &mr);

	if (!rc)
		tp_mr_dereg(mr);
	return rc;
}

START_TEST(environment)
{
	struct tp_dev *dev = NULL;

	ck_assert_int_eq(open_with("mr_reg:fial", &dev), -EINVAL);
	ck_assert_ptr_null(dev);
	ck_ok(open_with("mr_reg:fail:after=1:error=EIO", &dev));
	ck_ok(try(dev));
	ck_assert_int_eq(try(dev), -EIO);
	ck_ok(try(dev));
	tp_dev_close(dev);
}
END_TEST

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_ok(fclose(f));
}

/* The file may appear, change, be invalid (the old rules stay), and disappear. */
START_TEST(control_file)
{
	char dir[] = "/tmp/faultsXXXXXX", path[64], env[80];
	struct tp_dev *dev = NULL;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/rules", dir);
	snprintf(env, sizeof(env), "@%s", path);
	ck_ok(open_with(env, &dev));
	ck_ok(try(dev));
	write_file(path, "mr_reg:fail:count=always:error=EIO\n");
	ck_assert_int_eq(try(dev), -EIO);
	ck_assert_int_eq(try(dev), -EIO);
	write_file(path, "mr_reg:fail:count=always:error=ENOMEM # longer\n");
	ck_assert_int_eq(try(dev), -ENOMEM);
	write_file(path, "mr_reg:fail:coun\n");
	ck_assert_int_eq(try(dev), -ENOMEM);
	write_file(path, "");
	ck_ok(try(dev));
	write_file(path, "mr_reg:fail:count=always\n");
	ck_assert_int_eq(try(dev), -ENOMEM);
	ck_ok(unlink(path));
	ck_ok(try(dev));
	tp_dev_close(dev);
	ck_ok(rmdir(dir));
}
END_TEST

START_TEST(other_devices)
{
	struct tp_dev_attr attr = { 0 };
	struct fault_rule rule = { FAULT_SEND, FAULT_DROP };
	struct tp_dev *dev;
	char err[100];

	ck_ok(tp_dev_open("tcp", &attr, &dev));
	ck_assert_int_eq(fault_set(dev, "", err, sizeof(err)), -EINVAL);
	ck_assert_int_eq(fault_add(dev, &rule), -EINVAL);
	ck_assert_uint_eq(fault_hits(dev, 1), 0);
	tp_dev_close(dev);
	ck_assert_int_eq(tp_dev_open("fault+pigeon", &attr, &dev),
			 -EPROTONOSUPPORT);
	ck_ok(tp_dev_open("fault+fault+tcp", &attr, &dev));
	ck_assert_str_eq(tp_dev_name(dev), "fault+fault+tcp");
	tp_dev_close(dev);
}
END_TEST

struct switcher {
	struct tp_dev *dev;
	int stop;
	int error;
};

static void *switch_rules(void *arg)
{
	struct switcher *s = arg;
	const struct fault_rule rule = {
		.ops = FAULT_SEND,
		.action = FAULT_DELAY,
		.ms = 1,
		.count = FAULT_ALWAYS,
		.every = 3,
	};
	char err[100];

	while (!s->error && !__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE)) {
		s->error = fault_set(s->dev, "", err, sizeof(err));
		if (fault_add(s->dev, &rule) != 1)
			s->error = -EPROTO;
		fault_hits(s->dev, 1);
		usleep(200);
	}
	return NULL;
}

/* Another thread changes the rules during traffic. */
START_TEST(switched_in_traffic)
{
	struct link *l = link_open(&world, NULL);
	struct switcher s = { .dev = world.a.dev };
	pthread_t thread;
	int i;

	ck_ok(pthread_create(&thread, NULL, switch_rules, &s));
	for (i = 0; i < 200; i++)
		link_works(&world, l);
	__atomic_store_n(&s.stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	ck_ok(s.error);
}
END_TEST

/* Posts messages of which the fifth kills the process; reports how many were posted. */
static int die_at_fifth(int out)
{
	struct link *l;
	char i;

	world_open(&world, PROVIDER, 4096);
	rules_a("send:kill:after=4");
	l = link_open(&world, NULL);
	for (i = 1; i < 10; i++) {
		post_receive(l->b, &world.b, i);
		post_message(l->a, &world.a, i, i);
		expect_wc(&world, &world.b, l->b, i, TP_RECV, 0);
		if (write(out, &i, 1) != 1)
			return 1;
	}
	return 0;
}

START_TEST(kill_process)
{
	int fd[2], status;
	char last = 0;
	pid_t pid;

	ck_ok(pipe(fd));
	pid = fork();
	if (pid == 0) {
		close(fd[0]);
		alarm(PATIENCE_MS / 1000);
		_exit(die_at_fifth(fd[1]));
	}
	ck_assert_int_gt(pid, 0);
	close(fd[1]);
	while (read(fd[0], &last, 1) == 1)
		;
	close(fd[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
	ck_assert_int_eq(last, 4);
}
END_TEST

TCase *case_control(void)
{
	TCase *bare = tcase_create("control");

	tcase_set_timeout(bare, 0);
	tcase_add_test(bare, environment);
	tcase_add_test(bare, control_file);
	tcase_add_test(bare, other_devices);
	tcase_add_test(bare, kill_process);
	return bare;
}

TCase *case_switching(void)
{
	TCase *tc = world_case("switching");

	tcase_add_test(tc, switched_in_traffic);
	return tc;
}
