# SPDX-License-Identifier: BSD-2-Clause
# conform.py - the common part of conform_*.py: creates objects of all types, makes calls on them as
# several users, and prints a line for the result of each.
import ctypes, errno, os, shutil, stat, sys, time

libc = ctypes.CDLL(None, use_errno=True)
OWNER, MEMBER, OTHER = 1000, 1001, 1002
GROUP = 2000
COARSE = 5  # CLOCK_REALTIME_COARSE
WHO = {0: (0, 0, []), OWNER: (OWNER, 1000, [GROUP]),
       MEMBER: (MEMBER, 1001, [GROUP]), OTHER: (OTHER, 1002, [])}


def become(who):
    os.seteuid(0)
    uid, gid, groups = WHO[who]
    os.setegid(gid)
    os.setgroups(groups)
    os.seteuid(uid)


def tick():
    """Waits until a change now gets a later time than earlier changes."""
    now = time.time_ns()
    while time.clock_gettime_ns(COARSE) <= now:
        time.sleep(0.001)


def called(rc):
    if rc < 0:
        n = ctypes.get_errno()
        raise OSError(n, os.strerror(n))
    return rc


def name_of(n):
    return errno.errorcode.get(n, str(n))


def attempt(f, *args):
    """Returns the result of the call, or the name of its error."""
    try:
        return f(*args)
    except OSError as e:
        return name_of(e.errno)


KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "link",
         stat.S_IFIFO: "fifo", stat.S_IFSOCK: "sock", stat.S_IFCHR: "chr",
         stat.S_IFBLK: "blk"}


def look(path):
    try:
        return os.lstat(path)
    except (OSError, ValueError):
        return None


def shown(st):
    if not st:
        return "-"
    kind = KINDS[stat.S_IFMT(st.st_mode)]
    size = "" if kind == "dir" else " %d" % st.st_size
    dev = " %x" % st.st_rdev if kind in ("chr", "blk") else ""
    return "%s %o %d %d:%d%s%s" % (kind, stat.S_IMODE(st.st_mode), st.st_nlink,
                                  st.st_uid, st.st_gid, size, dev)


def moved(a, b):
    """Returns which times of the object have changed."""
    if not a or not b or a.st_ino != b.st_ino:
        return ""
    reg = stat.S_ISREG(b.st_mode)
    return "".join(c for c, x, y in (
        ("a", a.st_atime_ns if reg else 0, b.st_atime_ns if reg else 0),
        ("m", a.st_mtime_ns, b.st_mtime_ns),
        ("c", a.st_ctime_ns, b.st_ctime_ns)) if x != y)


def told(name, result, before, after):
    """Prints one line; `names` are the objects of the call."""
    parts = ["%s=%s" % (n, shown(after[n]) +
                        (" +" + moved(before[n], after[n])
                         if moved(before[n], after[n]) else ""))
             for n in before]
    print("%s: %s; %s" % (name, result, ", ".join(parts)))

# ---- cases: each in a folder of its own, its answers in a line ----

R, W, RW, C, X, T, A = (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_CREAT,
                        os.O_EXCL, os.O_TRUNC, os.O_APPEND)
PAGE = 4096
CASES = []


def case(f):
    CASES.append(f)
    return f


def make(name="f", data=b"some data", mode=0o644):
    fd = os.open(name, RW | C, mode)
    os.pwrite(fd, data, 0)
    os.fchmod(fd, mode)
    return fd


def content(name="f"):
    with open(name, "rb") as f:
        return f.read()


def try_(f, *args, **kw):
    try:
        r = f(*args, **kw)
    except OSError as e:
        return name_of(e.errno)
    return "ok" if r is None else r


def at(call, *args):
    """Calls libc itself, with arguments that Python would not pass."""
    return attempt(lambda: called(getattr(libc, call)(*args)))


def long(n):
    return ctypes.c_long(n)


def as_user(who, f):
    become(who)
    try:
        return try_(f)
    finally:
        become(0)


def change(what, name="f", dir="."):
    """Returns which times of an object and of its folder what() has changed."""
    before = look(name), look(dir)
    tick()
    r = try_(what)
    return r, moved(before[0], look(name)), moved(before[1], look(dir))


def run_cases(top, only):
    os.umask(0o022)
    for c in CASES:
        if only and c.__name__ not in only:
            continue
        here = os.path.join(top, c.__name__)
        os.mkdir(here)
        os.chdir(here)
        for i, answer in enumerate(c()):
            print(c.__name__, i, answer, flush=True)
        os.chdir(top)
        shutil.rmtree(here)
