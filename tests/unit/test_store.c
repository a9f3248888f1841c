/* SPDX-License-Identifier: BSD-2-Clause */
/* test_store.c - the object store of an iod, in a temporary directory. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "server/store/object_store.h"
#include "common/util/clock.h"
#include "server/store/store_engine.h"
#include "server/store/disk_pool.h"

#define FSID 0x1122334455667788ull
#define GROUP 1024u

static char dir[64];
static struct object_store *store;

/*
 * Interposed system calls of the store.  With `flaky` they transfer little at a time, and are
 * interrupted sometimes.
 */
static atomic_bool flaky;
static atomic_uint calls;

static bool hiccup(size_t *n)
{
	if (!atomic_load(&flaky))
		return false;
	if (*n > 777)
		*n = 777;
	errno = EINTR;
	return atomic_fetch_add(&calls, 1) % 3 == 0;
}

ssize_t pread(int fd, void *buf, size_t n, off_t off)
{
	return hiccup(&n) ? -1 : syscall(SYS_pread64, fd, buf, n, off);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t off)
{
	return hiccup(&n) ? -1 : syscall(SYS_pwrite64, fd, buf, n, off);
}

static int rm_one(const char *path, const struct stat *sb, int type,
		  struct FTW *ftw)
{
	return remove(path);
}

static int open_store(uint64_t fsid, uint32_t index, unsigned int max_open,
		      struct object_store **out)
{
	struct object_store_attr attr = {
		.dir = dir, .fsid = fsid, .index = index, .max_open = max_open
	};

	return store_open(&attr, out);
}

static void setup(void)
{
	strcpy(dir, "/tmp/pvfs-store-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(open_store(FSID, 3, 32, &store), 0);
}

static void teardown(void)
{
	store_close(store);
	ck_assert_int_eq(nftw(dir, rm_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void put_file(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static int open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

START_TEST(stamp_is_checked)
{
	struct object_store *other;

	ck_assert_int_eq(open_store(FSID, 3, 0, &other), -EBUSY);
	store_close(store);
	ck_assert_int_eq(open_store(FSID + 1, 3, 0, &other), -EINVAL);
	ck_assert_int_eq(open_store(FSID, 2, 0, &other), -EINVAL);
	put_file("pvfs-stamp", "pvfs-ib store\nversion 2\n");
	ck_assert_int_eq(open_store(FSID, 3, 0, &other), -EINVAL);
	put_file("pvfs-stamp", "");
	ck_assert_int_eq(open_store(FSID, 3, 0, &other), -EINVAL);
	nftw(dir, rm_one, 16, FTW_DEPTH | FTW_PHYS);
	ck_assert_int_eq(open_store(FSID, 3, 0, &store), 0);
}
END_TEST

START_TEST(foreign_directory_is_refused)
{
	char path[80];
	struct object_store *other;

	store_close(store);
	snprintf(path, sizeof(path), "%s/pvfs-stamp", dir);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(open_store(FSID, 3, 0, &other), -EINVAL);
	ck_assert_int_eq(access(path, F_OK), -1);
	nftw(dir, rm_one, 16, FTW_DEPTH | FTW_PHYS);
	ck_assert_int_eq(open_store(FSID, 3, 0, &store), 0);
}
END_TEST

START_TEST(random_io_matches_model)
{
	enum { SIZE = 1 << 20, ROUNDS = 2000 };
	uint8_t *model = calloc(1, SIZE), *buf = malloc(SIZE);
	size_t end = 0, off, len, done, want;
	struct store_obj *obj;
	struct store_stat st;
	int i;

	srandom(1);
	atomic_store(&flaky, _i);
	ck_assert_int_eq(store_obj_get(store, object_key_own(7), true, &obj),
			 0);
	for (i = 0; i < ROUNDS; i++) {
		off = (size_t)random() % SIZE;
		len = (size_t)random() % (SIZE - off) % 9000 + 1;
		if (off + len > SIZE)
			len = SIZE - off;
		if (random() % 2) {
			memset(buf, (int)random(), len);
			memcpy(model + off, buf, len);
			ck_assert_int_eq(store_obj_write(obj, buf, len, off),
					 0);
			end = off + len > end ? off + len : end;
		} else {
			ck_assert_int_eq(
				store_obj_read(obj, buf, len, off, &done), 0);
			want = off >= end ? 0 : end - off;
			want = want > len ? len : want;
			ck_assert_uint_eq(done, want);
			ck_assert_mem_eq(buf, model + off, done);
		}
	}
	ck_assert_int_eq(store_obj_stat(obj, &st), 0);
	ck_assert_uint_eq(st.size, end);
	ck_assert_uint_ne(st.mtime, 0);
	ck_assert_int_eq(atomic_load(&calls) > 0, _i);
	atomic_store(&flaky, false);
	store_obj_put(obj);
	free(model);
	free(buf);
}
END_TEST

START_TEST(objects_survive_reopen)
{
	struct store_obj *obj;
	struct store_stat st;
	char buf[8];
	size_t done;
	uint64_t h;

	for (h = 1; h <= 300; h++) {
		ck_assert_int_eq(store_obj_get(store,
					       object_key_own(h << 32 | h),
					       true, &obj),
				 0);
		ck_assert_int_eq(store_obj_write(obj, &h, sizeof(h), h), 0);
		store_obj_put(obj);
	}
	store_close(store);
	ck_assert_int_eq(open_store(FSID, 3, 0, &store), 0);
	for (h = 1; h <= 300; h++) {
		ck_assert_int_eq(
			store_stat(store, object_key_own(h << 32 | h), &st), 0);
		ck_assert_uint_eq(st.size, h + sizeof(h));
		ck_assert_int_eq(store_obj_get(store,
					       object_key_own(h << 32 | h),
					       false, &obj),
				 0);
		ck_assert_int_eq(store_obj_read(obj, buf, 8, h, &done), 0);
		ck_assert_mem_eq(buf, &h, 8);
		store_obj_put(obj);
	}
}
END_TEST

static void make_object(struct object_key key)
{
	struct store_obj *obj;

	ck_assert_int_eq(store_obj_get(store, key, true, &obj), 0);
	store_obj_put(obj);
}

/* Many objects in one directory, few in the others; a foreign file is not an object. */
START_TEST(walk_names_each_object_once)
{
	static bool seen[2][3000];
	struct store_place place = { 0 };
	struct object_key key[7];
	unsigned int total = 0;
	char path[128];
	uint32_t n;

	memset(seen, 0, sizeof(seen));
	for (uint64_t h = 1; h < 3000; h++) {
		if (h % 3 && h > 40)
			continue;
		make_object(object_key_own(h));
		total++;
		if (h % 7)
			continue;
		make_object((struct object_key){ h, GROUP });
		total++;
	}
	snprintf(path, sizeof(path), "%s/objects/00/00", dir);
	mkdir(path, 0700);
	strcat(path, "/0000000000000xyz");
	close(open(path, O_CREAT | O_WRONLY, 0600));
	while (place.leaf != STORE_LEAF_END) {
		ck_assert_int_eq(store_walk(store, &place, key, _i, &n), 0);
		ck_assert_uint_le(n, (uint32_t)_i);
		for (uint32_t i = 0; i < n; i++) {
			bool *once =
				&seen[key[i].copyset / GROUP][key[i].handle];

			ck_assert_uint_lt(key[i].handle, 3000);
			ck_assert(!*once);
			*once = true;
			total--;
		}
	}
	ck_assert_uint_eq(total, 0);
}
END_TEST

START_TEST(resize_and_holes)
{
	struct store_obj *obj;
	struct store_stat st;
	char buf[16];
	size_t done;

	ck_assert_int_eq(store_obj_get(store, object_key_own(9), true, &obj),
			 0);
	ck_assert_int_eq(store_obj_write(obj, "abcdefgh", 8, 0), 0);
	ck_assert_int_eq(store_obj_resize(obj, 4), 0);
	ck_assert_int_eq(store_obj_resize(obj, 1ull << 40), 0);
	ck_assert_int_eq(store_obj_resize(obj, UINT64_MAX), -EFBIG);
	ck_assert_int_eq(store_obj_read(obj, buf, 8, 0, &done), 0);
	ck_assert_uint_eq(done, 8);
	ck_assert_mem_eq(buf, "abcd\0\0\0\0", 8);
	ck_assert_int_eq(store_obj_stat(obj, &st), 0);
	ck_assert_uint_eq(st.size, 1ull << 40);
	ck_assert_uint_lt(st.blocks, 1000);
	store_obj_put(obj);
}
END_TEST

START_TEST(removal_invalidates)
{
	struct store_obj *old, *obj;
	struct store_stat st;

	ck_assert_int_eq(store_obj_get(store, object_key_own(5), false, &obj),
			 -ENOENT);
	ck_assert_int_eq(store_obj_get(store, object_key_own(5), true, &old),
			 0);
	ck_assert_int_eq(store_obj_write(old, "x", 1, 0), 0);
	ck_assert_int_eq(store_remove(store, object_key_own(5), true), 0);
	ck_assert_int_eq(store_remove(store, object_key_own(5), false), 0);
	ck_assert_int_eq(store_obj_get(store, object_key_own(5), false, &obj),
			 -ENOENT);
	ck_assert_int_eq(store_stat(store, object_key_own(5), &st), 0);
	ck_assert_uint_eq(st.size | st.mtime | st.blocks, 0);
	ck_assert_int_eq(store_obj_get(store, object_key_own(5), true, &obj),
			 0);
	ck_assert_int_eq(store_obj_stat(obj, &st), 0);
	ck_assert_uint_eq(st.size, 0);
	ck_assert_int_eq(store_obj_stat(old, &st), 0);
	ck_assert_uint_eq(st.size, 1);
	store_obj_put(old);
	store_obj_put(obj);
}
END_TEST

static void ck_size(struct object_key key, uint64_t size)
{
	struct store_obj *obj;
	struct store_stat st;

	ck_assert_int_eq(store_stat(store, key, &st), 0);
	ck_assert_uint_eq(st.size, size);
	ck_assert_int_eq(store_obj_get(store, key, false, &obj), 0);
	ck_assert(object_key_equal(store_obj_key(obj), key));
	ck_assert_int_eq(store_obj_stat(obj, &st), 0);
	ck_assert_uint_eq(st.size, size);
	store_obj_put(obj);
}

/* They lie in one directory, also for the next process. */
START_TEST(two_objects_of_a_file)
{
	const struct object_key own = object_key_own(1), other = { 1, GROUP };
	struct store_obj *obj;
	struct stat sb;
	char path[128];

	make_object(own);
	ck_assert_int_eq(store_obj_get(store, other, true, &obj), 0);
	ck_assert_int_eq(store_obj_write(obj, "abc", 3, 0), 0);
	ck_assert_int_eq(store_obj_sync(obj), 0);
	store_obj_put(obj);
	ck_size(own, 0);
	ck_size(other, 3);
	store_close(store);
	ck_assert_int_eq(open_store(FSID, 3, 0, &store), 0);
	ck_size(own, 0);
	ck_size(other, 3);
	snprintf(path, sizeof(path), "%s/objects/27/23/%016x", dir, 1);
	ck_assert_int_eq(stat(path, &sb), 0);
	strcat(path, "-00000400");
	ck_assert_int_eq(stat(path, &sb), 0);
	ck_assert_int_eq(sb.st_size, 3);
	ck_assert_int_eq(store_remove(store, own, true), 0);
	ck_assert_int_eq(store_obj_get(store, own, false, &obj), -ENOENT);
	ck_size(other, 3);
	ck_assert_int_eq(store_remove(store, other, true), 0);
	ck_assert_int_eq(store_obj_get(store, other, false, &obj), -ENOENT);
}
END_TEST

START_TEST(open_files_are_bounded)
{
	struct store_obj *obj;
	int before = open_fds();
	uint64_t h;

	for (h = 0; h < 500; h++) {
		ck_assert_int_eq(
			store_obj_get(store, object_key_own(h), true, &obj), 0);
		store_obj_put(obj);
	}
	ck_assert_int_le(open_fds(), before + 32);
	ck_assert_int_gt(open_fds(), before);
}
END_TEST

struct hammer {
	pthread_t thread;
	unsigned int seed;
	int failed;
};

static int strike(uint64_t h, bool take_away)
{
	struct store_obj *obj;
	int rc;

	if (take_away)
		return store_remove(store, object_key_own(h), false);
	rc = store_obj_get(store, object_key_own(h), true, &obj);
	if (rc)
		return rc;
	rc = store_obj_write(obj, &h, sizeof(h), 0);
	store_obj_put(obj);
	return rc;
}

/* Three threads get, write, put and remove objects; nothing may leak or crash. */
static void *hammer(void *arg)
{
	struct hammer *ham = arg;
	int i;

	for (i = 0; i < 4000; i++)
		if (strike((uint64_t)rand_r(&ham->seed) % 48,
			   rand_r(&ham->seed) % 5 == 0))
			ham->failed++;
	return NULL;
}

START_TEST(threads_share_the_cache)
{
	struct store_stat by_name, by_obj;
	struct store_obj *obj;
	struct hammer ham[3] = { 0 };
	unsigned int i;
	uint64_t h;

	for (i = 0; i < 3; i++) {
		ham[i].seed = i + 1;
		pthread_create(&ham[i].thread, NULL, hammer, &ham[i]);
	}
	for (i = 0; i < 3; i++) {
		pthread_join(ham[i].thread, NULL);
		ck_assert_int_eq(ham[i].failed, 0);
	}
	/* the open files in the cache must be those in the directory */
	for (h = 0; h < 48; h++) {
		ck_assert_int_eq(store_stat(store, object_key_own(h), &by_name),
				 0);
		if (store_obj_get(store, object_key_own(h), false, &obj)) {
			ck_assert_uint_eq(by_name.mtime, 0);
			continue;
		}
		ck_assert_int_eq(store_obj_stat(obj, &by_obj), 0);
		ck_assert_uint_eq(by_obj.mtime, by_name.mtime);
		store_obj_put(obj);
	}
}
END_TEST

START_TEST(without_its_folder)
{
	struct store_obj *obj;
	char path[96];

	snprintf(path, sizeof(path), "%s/objects/here", dir);
	ck_assert_int_eq(rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/objects", dir);
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_int_eq(store_obj_get(store, object_key_own(1), true, &obj),
			 -EIO);
	ck_assert_int_eq(store_obj_get(store, object_key_own(1), false, &obj),
			 -ENOENT);
}
END_TEST

START_TEST(efbig_is_passed_on)
{
	struct rlimit lim, old;
	struct store_obj *obj;
	char buf[64] = { 0 };

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	lim = old;
	lim.rlim_cur = 4096;
	ck_assert_int_eq(store_obj_get(store, object_key_own(11), true, &obj),
			 0);
	setrlimit(RLIMIT_FSIZE, &lim);
	/* a short write first, then the error */
	ck_assert_int_eq(store_obj_write(obj, buf, 64, 4096 - 32), -EFBIG);
	ck_assert_int_eq(store_obj_write(obj, buf, 64, 1ull << 50), -EFBIG);
	ck_assert_int_eq(store_obj_write(obj, buf, 64, 0), 0);
	setrlimit(RLIMIT_FSIZE, &old);
	store_obj_put(obj);
}
END_TEST

/*
 * Mounts a file system of 2 MiB that only this process sees.  Returns false if that is not
 * permitted.
 */
static bool mount_small(void)
{
	if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return false;
	return !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", dir, "tmpfs", 0, "size=2m");
}

START_TEST(enospc_is_passed_on)
{
	static char buf[256 * 1024];
	struct store_obj *obj, *small;
	int i, rc = 0;

	store_close(store);
	if (!mount_small()) {
		fprintf(stderr, "SKIPPED: ENOSPC: may not mount a tmpfs\n");
		ck_assert_int_eq(open_store(FSID, 3, 32, &store), 0);
		return;
	}
	ck_assert_int_eq(open_store(FSID, 3, 32, &store), 0);
	ck_assert_int_eq(store_obj_get(store, object_key_own(1), true, &small),
			 0);
	ck_assert_int_eq(store_obj_write(small, buf, 4096, 0), 0);
	ck_assert_int_eq(store_obj_get(store, object_key_own(2), true, &obj),
			 0);
	for (i = 0; i < 8 && !rc; i++)
		rc = store_obj_write(obj, buf, sizeof(buf),
				     (uint64_t)i * sizeof(buf));
	ck_assert_int_eq(rc, -ENOSPC);
	ck_assert_int_eq(store_obj_write(small, buf, 4096, 0), 0);
	store_obj_put(obj);
	ck_assert_int_eq(store_remove(store, object_key_own(2), true), 0);
	ck_assert_int_eq(store_obj_write(small, buf, 65536, 0), 0);
	store_obj_put(small);
	store_close(store);
	ck_assert_int_eq(umount2(dir, MNT_DETACH), 0);
	ck_assert_int_eq(open_store(FSID, 3, 32, &store), 0);
}
END_TEST

struct waiter {
	struct flush_wait wait;
	atomic_int *count;
	int status;
};

struct step {
	struct disk_work work;
	sem_t *begun, *hold;
	atomic_int *count;
	int seen;
};

static void waited(struct flush_wait *wait, int status)
{
	struct waiter *w = (struct waiter *)wait;

	w->status = status;
	atomic_fetch_add(w->count, 1);
}

static void stall(struct disk_work *work)
{
	struct step *s = (struct step *)work;

	sem_post(s->begun);
	sem_wait(s->hold);
}

static void look(struct disk_work *work)
{
	struct step *s = (struct step *)work;

	s->seen = atomic_load(s->count);
}

START_TEST(flushes_share_one_sync)
{
	struct waiter w[50];
	struct store_obj *obj;
	struct disk_pool *pool;
	atomic_int count = 0;
	sem_t begun, hold;
	struct step first = { { .run = stall }, &begun, &hold, NULL, 0 };
	struct step last = { { .run = look }, NULL, NULL, &count, 0 };
	int i;

	sem_init(&begun, 0, 0);
	sem_init(&hold, 0, 0);
	ck_assert_int_eq(disk_pool_open(1, &pool), 0);
	ck_assert_int_eq(store_obj_get(store, object_key_own(1), true, &obj),
			 0);
	disk_pool_run(pool, NULL, DISK_FLUSH, &first.work);
	sem_wait(&begun);
	for (i = 0; i < 50; i++) {
		w[i] = (struct waiter){ { .done = waited }, &count, 1 };
		store_obj_flush(obj, pool, NULL, &w[i].wait);
		if (i == 0)
			disk_pool_run(pool, NULL, DISK_FLUSH, &last.work);
	}
	store_obj_put(obj);
	sem_post(&hold);
	disk_pool_close(pool);
	/* the later 49 were executed with the first, before the next request */
	ck_assert_int_eq(last.seen, 50);
	for (i = 0; i < 50; i++)
		ck_assert_int_eq(w[i].status, 0);
	sem_destroy(&begun);
	sem_destroy(&hold);
}
END_TEST

static int io_status;

static void io_over(struct store_io *io, int status)
{
	io_status = status;
}

/* In a pool without threads everything is executed at once. */
static int engine_write(struct store_io *io)
{
	int rc;

	ck_assert_int_eq(disk_pool_open(0, &io->pool), 0);
	io->done = io_over;
	rc = store_engine_cached.write(io);
	disk_pool_close(io->pool);
	return rc == -EINPROGRESS ? io_status : rc;
}

START_TEST(engine_walks_segments)
{
	struct store_seg seg[] = { { 10, 4 }, { 0, 3 }, { 100, 5 } };
	struct store_io io = { .seg = seg, .expiry = CLOCK_NEVER };
	char buf[16], flat[16];
	size_t done;

	ck_assert_int_eq(store_obj_get(store, object_key_own(4), true, &io.obj),
			 0);
	memcpy(buf, "abcdefghijkl", 12);
	io.buf = buf;
	io.len = 7;
	ck_assert_int_eq(engine_write(&io), 0);
	ck_assert_int_eq(store_obj_read(io.obj, flat, 16, 0, &done), 0);
	ck_assert_uint_eq(done, 14);
	ck_assert_mem_eq(flat, "efg\0\0\0\0\0\0\0abcd", 14);
	memset(buf, 'X', 16);
	io.skip = 2;
	io.len = 9;
	ck_assert_int_eq(store_engine_cached.read(&io), 0);
	ck_assert_mem_eq(buf, "cdefg\0\0\0\0XX", 11);
	store_obj_put(io.obj);
}
END_TEST

#define PIECES 5000u /* system calls, because the pieces are not contiguous */
#define APART 4096u

static pthread_t io_thread;

static void io_over_there(struct store_io *io, int status)
{
	io_status = status;
	io_thread = pthread_self();
}

/*
 * Waits for the end of an engine's call that returned rc.  *there is set if it ended on a thread of
 * the pool.
 */
static int engine_end(struct store_io *io, int rc, bool *there)
{
	disk_pool_close(io->pool); /* the call has ended then */
	*there = rc == -EINPROGRESS &&
		 !pthread_equal(io_thread, pthread_self());
	return rc == -EINPROGRESS ? io_status : rc;
}

/* Transfers n pieces of bytes that are in the page cache. */
static void engine_pieces(struct store_obj *obj, unsigned int n, bool write)
{
	static struct store_seg seg[PIECES];
	static char buf[PIECES * 2];
	struct store_io io = { .obj = obj,
			       .seg = seg,
			       .buf = buf,
			       .len = n * 2,
			       .expiry = CLOCK_NEVER,
			       .done = io_over_there };
	bool there;
	int rc;

	for (unsigned int i = 0; i < n; i++)
		seg[i] = (struct store_seg){ i * APART, 2 };
	memset(buf, write ? 'p' : 0, sizeof(buf));
	ck_assert_int_eq(disk_pool_open(1, &io.pool), 0);
	rc = write ? store_engine_cached.write(&io)
		   : store_engine_cached.read(&io);
	ck_assert_int_eq(engine_end(&io, rc, &there), 0);
	ck_assert_int_eq(there, n == PIECES);
	for (unsigned int i = 0; i < n * 2; i++)
		ck_assert_int_eq(buf[i], 'p');
}

/* A request of many pieces does not block a thread that others need. */
START_TEST(engine_takes_many_pieces_apart)
{
	struct store_obj *obj;

	ck_assert_int_eq(store_obj_get(store, object_key_own(4), true, &obj),
			 0);
	if (store_obj_in_memory(obj))
		engine_pieces(obj, 10, true);
	engine_pieces(obj, PIECES, true);
	engine_pieces(obj, 10, false);
	engine_pieces(obj, PIECES, false);
	store_obj_put(obj);
}
END_TEST

START_TEST(engine_refuses_late_writes)
{
	struct store_seg seg = { 0, 5 };
	struct store_io io = { .seg = &seg, .buf = "abcde", .len = 5 };
	struct store_stat st;

	ck_assert_int_eq(store_obj_get(store, object_key_own(4), true, &io.obj),
			 0);
	io.expiry = clock_boot();
	ck_assert_int_eq(engine_write(&io), -ETIMEDOUT);
	ck_assert_int_eq(store_obj_stat(io.obj, &st), 0);
	ck_assert_uint_eq(st.size, 0);
	ck_assert(!gate_is_shut(store_gate(store), object_key_own(4)));
	io.expiry = CLOCK_NEVER;
	ck_assert_int_eq(engine_write(&io), 0);
	ck_assert_int_eq(store_obj_stat(io.obj, &st), 0);
	ck_assert_uint_eq(st.size, 5);
	store_obj_put(io.obj);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("store");
	TCase *tc = tcase_create("store");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, stamp_is_checked);
	tcase_add_test(tc, foreign_directory_is_refused);
	tcase_add_loop_test(tc, random_io_matches_model, 0, 2);
	tcase_add_test(tc, objects_survive_reopen);
	tcase_add_loop_test(tc, walk_names_each_object_once, 1, 8);
	tcase_add_test(tc, resize_and_holes);
	tcase_add_test(tc, removal_invalidates);
	tcase_add_test(tc, two_objects_of_a_file);
	tcase_add_test(tc, open_files_are_bounded);
	tcase_add_test(tc, threads_share_the_cache);
	tcase_add_test(tc, without_its_folder);
	tcase_add_test(tc, efbig_is_passed_on);
	tcase_add_test(tc, flushes_share_one_sync);
	tcase_add_test(tc, engine_walks_segments);
	tcase_add_test(tc, engine_takes_many_pieces_apart);
	tcase_add_test(tc, engine_refuses_late_writes);
	tcase_add_test(tc, enospc_is_passed_on);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
