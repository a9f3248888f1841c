# SPDX-License-Identifier: BSD-2-Clause
# mount_waits.py DIR [PID]: many processes wait for a few locks, of each kind.  Signals end some of
# the waits immediately.  Released locks go to the other waiters, one after the other.  PID: the
# daemon, which has no additional thread for that.
import errno, fcntl, os, signal, struct, sys, time

d, daemon = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
FILES, WAITERS = 8, 200
LIMIT = time.monotonic() + 240 # against a hang

class Ended(Exception):
    pass

def on_signal(*args):
    raise Ended()

# Odd files are locked by flock(2), and the others by record locks on bytes 10 to 19.
def lock(f, n, how):
    if n % 2:
        fcntl.flock(f, how)
    else:
        fcntl.lockf(f, how, 10, 10)

def name(n):
    return os.path.join(d, "locked%d" % n)

def count(f):
    n = int(os.pread(f, 20, 0) or b"0")
    os.pwrite(f, b"%d" % (n + 1), 0)

def wait_for(n):
    with open(name(n), "r+b", buffering=0) as f:
        lock(f, n, fcntl.LOCK_EX)
        count(f.fileno())
        lock(f, n, fcntl.LOCK_UN)

# Exits with 0 if it got the lock, and with 3 if a signal handler ended the wait.
def waiter(n):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGUSR1, on_signal)
    try:
        wait_for(n)
    except Ended:
        os._exit(3)
    os._exit(0)

def asleep(pid):
    call = open("/proc/%d/syscall" % pid).read().split()[0]
    return call in ("73", "72", "32", "25") # flock, fcntl: x86-64, arm64

def until(what, *args):
    while not what(*args):
        assert time.monotonic() < LIMIT, (what.__name__, args)
        time.sleep(0.01)

def threads():
    return len(os.listdir("/proc/%s/task" % daemon)) if daemon else 0

# Sends as many concurrent requests as the daemon has threads for.
def warm_up():
    pids = []
    for k in range(40):
        pid = os.fork()
        if not pid:
            for i in range(100):
                with open(os.path.join(d, "warm%d" % k), "wb") as f:
                    f.write(b"x" * 5000)
            os._exit(0)
        pids.append(pid)
    for pid in pids:
        assert os.waitpid(pid, 0)[1] == 0

held = []
for n in range(FILES):
    f = open(name(n), "w+b", buffering=0)
    lock(f, n, fcntl.LOCK_EX)
    held.append(f)
warm_up()
before = threads()
pids = []
for k in range(WAITERS):
    pid = os.fork()
    if not pid:
        # a child has no POSIX locks of its parent; it must not share those of flock(2)
        for f in held:
            os.close(f.fileno())
        waiter(k % FILES)
    pids.append(pid)
for pid in pids:
    until(asleep, pid)
time.sleep(0.5) # those that are behind the call, but not at the servers
after = threads()
print("threads: %d, with %d waiters %d" % (before, WAITERS, after))
assert after <= before, (before, after)
# all other processes are served meanwhile
with open(os.path.join(d, "other"), "wb") as f:
    f.write(b"x" * 100000)
assert os.stat(os.path.join(d, "other")).st_size == 100000

ways = [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, -signal.SIGINT),
        (signal.SIGALRM, -signal.SIGALRM), (signal.SIGUSR1, 3)]
gone = pids[::2]
for k, pid in enumerate(gone):
    os.kill(pid, ways[k % 4][0])
for k, pid in enumerate(gone):
    got = []
    def ended():
        p, status = os.waitpid(pid, os.WNOHANG)
        got[:] = [status]
        return p == pid
    until(ended)
    code = os.waitstatus_to_exitcode(got[0])
    want = ways[k % 4][1]
    assert code == want, (k, code)

left = [pid for pid in pids if pid not in gone]
for n, f in enumerate(held):
    assert (os.pread(f.fileno(), 20, 0) or b"0") == b"0", n
    lock(f, n, fcntl.LOCK_UN)
for pid in left:
    p, status = os.waitpid(pid, 0)
    assert status == 0, (pid, status)
got = sum(int(os.pread(f.fileno(), 20, 0) or b"0") for f in held)
assert got == len(left), (got, len(left))
# no process has these locks any more, or gets them later
for n in range(FILES):
    with open(name(n), "r+b", buffering=0) as f:
        lock(f, n, fcntl.LOCK_EX | fcntl.LOCK_NB)
print("%d waits ended by signals, %d with the lock" % (len(gone), got))
