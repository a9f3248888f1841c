# SPDX-License-Identifier: BSD-2-Clause
# waiting.py DIR WHAT IOD SHIM OTHER: CROWD processes of one user wait in calls of the kind WHAT for
# the iod with the pid IOD, or for its disk.  Other users meanwhile create and list directories, and
# release locks.  OTHER is DIR through another mount.
import fcntl, mmap, os, signal, sys, time

d, what, iod, shim = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
other = sys.argv[5]
CROWD = 100 if what in ("truncate", "fsync") else 20
ALICE, BOB = 1001, 1002
LIMIT = time.monotonic() + 50 # against a hang

def until(is_so, *args):
    while not is_so(*args):
        assert time.monotonic() < LIMIT, (is_so.__name__, args)
        time.sleep(0.02)

# as_user UID FUNCTION: calls it in a process of that user; returns 0 if it returned
def as_user(uid, do, *args):
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        do(*args)
    except BaseException as e:
        print(what, do.__name__, args, repr(e), flush=True)
        os._exit(1)
    os._exit(0)

def ended(pid):
    return os.waitpid(pid, os.WNOHANG)[0] == pid

def succeeds(pid):
    status = []
    def over():
        got, code = os.waitpid(pid, os.WNOHANG)
        if got:
            status.append(code)
        return bool(got)
    until(over)
    assert status[0] == 0, status

def name(k):
    return os.path.join(d, "f%d" % k)

def make(k):
    with open(name(k), "wb") as f:
        f.write(b"x" * 200000)

# ---- the calls that wait; the files are open before that ----

def truncate(k, f):
    os.truncate(name(k), 5)

def trunc_open(k, f):
    open(name(k), "wb").close()

def append(k, f):
    os.write(os.open(name(k), os.O_WRONLY | os.O_APPEND), b"y" * 200000)

def fallocate(k, f):
    os.posix_fallocate(f, 0, 400000)

# a stat of a file that is being truncated; it is repeated if it overtakes the truncation
def stat(k, f):
    if k < 2:
        truncate(k, f)
    else:
        while os.stat(name(k % 2)).st_size != 5:
            time.sleep(0.01)

def fsync(k, f):
    os.fsync(f)

def write(k, f):
    os.pwrite(f, b"z" * 200000, 0)

def read(k, f):
    while os.read(f, 65536):
        pass

# msync of pages that were changed before
def msync(k, f):
    pages.flush()

def change_pages(f):
    global pages
    pages = mmap.mmap(f, 200000)
    for at in range(0, 200000, 4096):
        pages[at] = 0x7a

# ---- how they come to wait ----

def state(task):
    with open("/proc/%d/task/%s/status" % (iod, task)) as f:
        return next(l for l in f if l.startswith("State")).split()[1]

def stands():
    return all(state(t) in "Tt" for t in os.listdir("/proc/%d/task" % iod))

def flush_takes(ms):
    with open(shim, "r+b") as f:
        f.write(b"%-20d " % ms)

def hinder():
    if what == "fsync":
        flush_takes(10 ** 9)
    else:
        os.kill(iod, signal.SIGSTOP)
        until(stands)

def let_go():
    if what == "fsync":
        flush_takes(0)
    else:
        os.kill(iod, signal.SIGCONT)

# ---- the crowd and the others ----

def call(pid):
    try:
        with open("/proc/%d/syscall" % pid) as f:
            return f.read().split()[0]
    except OSError:
        return "running"

ready, go = os.pipe()
def member(k):
    f = os.open(name(k), os.O_RDWR)
    if what == "msync":
        change_pages(f)
    os.write(go, b".")
    signal.sigwait({signal.SIGUSR1})
    globals()[what](k, f)

# rt_sigtimedwait and clock_nanosleep: x86-64, arm64
SLEEPS = ("running", "128", "137", "230", "115")
def is_in(pid):
    first = call(pid)
    time.sleep(0.02)
    return first not in SLEEPS and call(pid) == first

def names(uid, n):
    mine = os.path.join(d, "d%d-%d" % (uid, n))
    os.mkdir(mine)
    assert os.listdir(mine) == []
    os.rename(mine, mine + "x")
    assert "d%d-%dx" % (uid, n) in os.listdir(d)
    os.rmdir(mine + "x")

def make_lock(uid):
    open(os.path.join(d, "lock%d" % uid), "wb").close()

# A close ends the lock, also for other hosts.  There is no stat, which would need the iod.
def locks(uid, n):
    for way in d, other:
        f = os.open(os.path.join(way, "lock%d" % uid), os.O_RDONLY)
        fcntl.flock(f, fcntl.LOCK_EX)
        os.close(f)

def data(uid):
    with open(os.path.join(d, "data%d" % uid), "wb", buffering=0) as f:
        f.write(b"b" * 100000)
    assert os.stat(os.path.join(d, "data%d" % uid)).st_size == 100000

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
for k in range(CROWD):
    succeeds(as_user(ALICE, make, k))
for uid in ALICE, BOB:
    succeeds(as_user(uid, make_lock, uid))
crowd = [as_user(ALICE, member, k) for k in range(CROWD)]
for k in range(CROWD):
    assert os.read(ready, 1)
hinder()
try:
    for some in crowd[:2], crowd[2:]:
        for pid in some:
            os.kill(pid, signal.SIGUSR1)
        for pid in some:
            until(is_in, pid)
    for n in range(3):
        for uid in ALICE, BOB:
            succeeds(as_user(uid, names, uid, n))
            succeeds(as_user(uid, locks, uid, n))
    if what == "fsync":
        succeeds(as_user(BOB, data, BOB))
    over = [pid for pid in crowd if ended(pid)]
    assert not over, "%s: %d of the crowd do not wait any more" % (what, len(over))
finally:
    let_go()
for pid in crowd:
    succeeds(pid)
succeeds(as_user(BOB, data, BOB))
