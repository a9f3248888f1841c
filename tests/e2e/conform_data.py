# SPDX-License-Identifier: BSD-2-Clause
# conform_data.py DIR [CASE...]: prints the results of calls on open files, one line each.
import fcntl, mmap, signal

from conform import *

# ---- data ----

@case
def offsets():
    f = make(data=b"0123456789")
    for off, how in (0, 0), (-1, 0), (-1, 2), (5, 2), (-100, 2), (-1, 1), \
            (0, 3), (3, 3), (10, 3), (99, 3), \
            (0, 4), (5, 4), (10, 4), (-1, 4), (-1, 3), (0, 5), (0, 99):
        yield off, how, try_(os.lseek, f, off, how)
    yield try_(os.pread, f, 4, -1), try_(os.pwrite, f, b"x", -1), try_(
        os.pread, f, 4, (1 << 63) - 1), try_(os.pwrite, f, b"xx", (1 << 63) - 2)
    for off, n in (0, 0), (-1, 1), (0, -1), (1 << 62, 1 << 62), (1, 0):
        for mode in 0, 1, 2, 3, 4, 8, 9, 16, 17, 32, 64, 0x80, 7:
            if not mode and off > 0:
                continue
            yield off, n, mode, at("fallocate", f, mode, long(off), long(n))
    yield try_(os.posix_fallocate, f, 0, 20), look("f").st_size
    d = os.open(".", R)
    for fd in d, os.open("f", R), os.open("f", os.O_PATH):
        yield at("fallocate", fd, 0, long(0), long(1)), try_(
            os.ftruncate, fd, 1), try_(os.read, fd, 1), try_(
                os.pwrite, fd, b"x", 0), try_(os.fsync, fd), try_(
                    os.fdatasync, fd), try_(os.lseek, fd, 0, 0)


@case
def odd_memory():
    f = make(data=b"0123456789" * 1000)
    bad = ctypes.c_void_p(1)
    yield at("write", f, bad, long(5)), at("read", f, bad, long(5)), at(
        "pwrite", f, bad, long(5), long(0)), at(
            "pread", f, bad, long(5), long(0)), os.lseek(f, 0, 1)
    yield at("write", f, bad, long(0)), at("read", f, bad, long(0))
    yield at("open", bad, 0), at("mkdir", bad, 0), at("unlink", bad), at(
        "rename", b"f", bad), at("link", b"f", bad), at("symlink", b"f", bad), at(
            "chmod", bad, 0), at("truncate", bad, long(0)), at(
                "readlink", b"f", bad, long(9)), at("stat", b"f", bad), at(
                    "getxattr", b"f", b"user.a", bad, long(0))
    m = mmap.mmap(-1, 2 * PAGE)
    where = ctypes.addressof(ctypes.c_char.from_buffer(m))
    called(libc.mprotect(ctypes.c_void_p(where + PAGE), long(PAGE), 0))
    part = ctypes.c_void_p(where + PAGE - 100)
    os.lseek(f, 0, 0)
    yield at("read", f, part, long(200)), os.lseek(f, 0, 1)
    os.lseek(f, 0, 0)
    r = at("write", f, part, long(200))
    yield r in (100, "EFAULT"), os.fstat(f).st_size


@case
def appending():
    f = os.open("f", RW | C | A)
    os.write(f, b"abc")
    os.lseek(f, 0, 0)
    os.write(f, b"def")
    yield os.lseek(f, 0, 1), content()
    yield os.pwrite(f, b"xyz", 0), content()
    yield try_(os.pwritev, f, [b"1"], 0), content()
    fcntl.fcntl(f, fcntl.F_SETFL, 0)
    yield os.pwrite(f, b"XYZ", 0), content()
    yield try_(os.pwritev, f, [b"222"], 0, 0x10), content()
    fcntl.fcntl(f, fcntl.F_SETFL, A)
    os.lseek(f, 0, 0)
    os.write(f, b"!")
    yield content(), fcntl.fcntl(f, fcntl.F_GETFL) & A
    g = os.open("f", R)
    yield try_(os.copy_file_range, g, f, 4), content()
    yield try_(os.sendfile, f, g, 0, 4), content()
    yield try_(fcntl.fcntl, f, fcntl.F_SETFL, os.O_DIRECT | A)


@case
def second_flags():
    f = make(data=b"0123456789")
    b = bytearray(5)
    for flag in 0, 1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x1000:
        yield flag, flag in (8, 0x40, 0x80) or try_(
            os.preadv, f, [b], 0, flag), flag in (0x40, 0x80) or try_(
                os.pwritev, f, [b"abc"], 0, flag)
    yield content()


@case
def ranges():
    f = make("f", bytes(range(256)) * 64)
    g = make("g", b"")
    yield try_(os.copy_file_range, f, g, 5000, 100, 0), content("g")[:5]
    yield try_(os.copy_file_range, f, f, 100, 0, 50)
    yield try_(os.copy_file_range, f, f, 100, 0, 8000), content()[8000:8005]
    yield try_(os.copy_file_range, f, g, 100, 20000, 0)
    yield try_(os.copy_file_range, f, g, 100, 16380, 0)
    yield try_(os.copy_file_range, f, g, 0, 0, 0)
    r, w = os.open("g", R), os.open("f", W)
    yield try_(os.copy_file_range, f, r, 9), try_(os.copy_file_range, w, g, 9)
    d = os.open(".", R)
    yield try_(os.copy_file_range, f, d, 9), try_(os.copy_file_range, d, g, 9)
    a = os.open("g", W | A)
    yield try_(os.copy_file_range, f, a, 9, 0)
    yield at("copy_file_range", f, None, g, None, long(1), 1)
    s = make("s", b"")
    yield try_(os.sendfile, s, f, 0, 10000), look("s").st_size
    p, q = os.pipe()
    yield try_(os.splice, f, q, 3000, 100), len(os.read(p, 5000))
    os.write(q, b"pipe")
    yield try_(os.splice, p, s, 4, None, 2), content("s")[:8]


@case
def growing_copy():
    """A copy includes data that another descriptor has written before."""
    f, g = make("f", b"x" * 10), make("g", b"")
    h = os.open("f", W)
    os.pwrite(h, b"y" * 100, 10)
    yield try_(os.copy_file_range, f, g, 1000, 0, 0), look("g").st_size


@case
def direct():
    f = make(data=b"x" * 3 * PAGE)
    d = os.open("f", RW | os.O_DIRECT)
    m = mmap.mmap(-1, 2 * PAGE)
    m[:] = b"y" * 2 * PAGE
    yield try_(os.pwrite, d, m, 0), try_(os.pwrite, d, m, 2 * PAGE)
    yield os.fstat(d).st_size, try_(os.preadv, d, [m], PAGE), try_(
        os.preadv, d, [m], 3 * PAGE), try_(os.preadv, d, [m], 4 * PAGE)
    os.pwrite(f, b"z", 5)
    os.preadv(d, [m], 0)
    yield m[4:7]
    os.pwrite(d, m, PAGE)
    yield os.pread(f, 3, PAGE + 4)


@case
def mapped():
    f = make(data=b"x" * (PAGE + 100))
    m = mmap.mmap(f, PAGE + 100)
    m[5:8] = b"abc"
    m.flush()
    yield os.pread(f, 5, 4), content()[4:9]
    os.pwrite(f, b"new", 6)
    yield m[4:10]
    p = mmap.mmap(f, PAGE, mmap.MAP_PRIVATE)
    p[0:4] = b"priv"
    yield os.pread(f, 4, 0), m[:4]
    os.ftruncate(f, 50)
    os.ftruncate(f, PAGE + 100)
    yield m[48:52]
    m[PAGE + 50:PAGE + 53] = b"end"
    r = os.open("f", R)
    yield try_(lambda: mmap.mmap(r, PAGE, mmap.MAP_SHARED) and "ok")
    yield try_(lambda: mmap.mmap(os.open("f", W), PAGE) and "ok")
    yield try_(lambda: mmap.mmap(os.open("f", A | RW), PAGE) and "ok")
    yield at("mlock", ctypes.addressof(ctypes.c_char.from_buffer(m)) and
             ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(m))),
             long(PAGE))
    g = os.open("f", RW)
    os.unlink("f")
    n = mmap.mmap(g, PAGE)
    os.close(g), os.close(f)
    n[:3] = b"un!"
    n.flush()
    yield n[:5], m[:3]


@case
def without_name():
    f = make(data=b"x" * 100)
    os.unlink("f")
    yield os.fstat(f).st_nlink, os.pwrite(f, b"more", 200), os.fstat(f).st_size
    yield try_(os.fchmod, f, 0o600), try_(os.fchown, f, 1, 2), try_(
        os.utime, f, (1, 2)), try_(os.ftruncate, f, 7), shown(os.fstat(f))
    yield try_(os.setxattr, f, "user.a", b"1"), try_(os.getxattr, f, "user.a")
    yield try_(lambda: os.read(os.open("/proc/self/fd/%d" % f, R), 3))
    os.mkdir("d")
    d = os.open("d", R)
    os.rmdir("d")
    yield os.fstat(d).st_nlink, try_(os.listdir, d), try_(
        os.open, "x", W | C, dir_fd=d), try_(os.mkdir, "x", dir_fd=d), try_(
            os.stat, ".", dir_fd=d) and "ok", try_(
                lambda: os.close(os.open(".", R, dir_fd=d)))
    yield try_(os.stat, "..", dir_fd=d) and "ok"
    os.mkdir("e")
    os.chdir("e")
    os.rmdir("../e")
    yield try_(os.getcwd), try_(os.listdir, "."), try_(os.mkdir, "x"), try_(
        os.symlink, "x", "x"), try_(os.link, "../none", "x")
    os.chdir("..")


@case
def running():
    """A running program cannot be written, and a file open for writing cannot be executed."""
    shutil.copy("/bin/sleep", "p")
    pid = os.fork()
    if not pid:
        try:
            os.execv("./p", ["p", "100"])
        finally:
            os._exit(1)
    while os.readlink("/proc/%d/exe" % pid).endswith("python3") or \
            not os.readlink("/proc/%d/exe" % pid).endswith("/p"):
        time.sleep(0.01)
    yield try_(os.open, "p", W), try_(os.open, "p", RW), try_(
        os.open, "p", W | T), try_(os.truncate, "p", 0), try_(
            lambda: os.close(os.open("p", R)))
    os.rename("p", "q")
    yield try_(os.unlink, "q")
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    shutil.copy("/bin/true", "t")
    w = os.open("t", W)
    pid = os.fork()
    if not pid:
        os.close(0)
        try:
            os.execv("./t", ["t"])
        except OSError as e:
            os._exit(e.errno)
    yield name_of(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os.close(w)


@case
def leases_and_notes():
    os.close(make())
    r = os.open("f", R)
    yield try_(fcntl.fcntl, r, 1025), try_(fcntl.fcntl, r, 1024, 0), try_(
        fcntl.fcntl, r, 1024, 2)
    d = os.open(".", R)
    signal.signal(signal.SIGIO, lambda *a: None)
    yield try_(fcntl.fcntl, d, 1026, 0x4)


@case
def fifos():
    os.mkfifo("p")
    yield try_(os.open, "p", W | os.O_NONBLOCK)
    r = os.open("p", R | os.O_NONBLOCK)
    w = os.open("p", W)
    os.write(w, b"through")
    yield os.read(r, 100), try_(os.lseek, r, 0, 0), shown(look("p"))
    yield try_(os.truncate, "p", 0), try_(os.ftruncate, w, 0), try_(
        os.fsync, w), try_(os.posix_fallocate, w, 0, 1)


@case
def posix_locks():
    f, g = make("f"), os.open("f", RW)
    fcntl.lockf(f, fcntl.LOCK_EX, 5, 0)
    yield try_(fcntl.lockf, g, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 0)
    pid = os.fork()
    if not pid:
        r = try_(fcntl.lockf, g, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 0)
        os._exit({"EAGAIN": 11, "ok": 0}.get(r, 99))
    yield os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    r = os.open("f", R)
    yield try_(fcntl.lockf, r, fcntl.LOCK_EX | fcntl.LOCK_NB), try_(
        fcntl.lockf, os.open("f", W), fcntl.LOCK_SH | fcntl.LOCK_NB)
    yield try_(fcntl.lockf, g, fcntl.LOCK_EX | fcntl.LOCK_NB, 0, 1 << 62), \
        try_(fcntl.lockf, g, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, -9)
    for start, n in ((1 << 63) - 1, 0), ((1 << 63) - 1, 1), ((1 << 63) - 1, 2), (5, -6):
        yield try_(fcntl.lockf, g, fcntl.LOCK_EX | fcntl.LOCK_NB, n, start)
    fcntl.flock(f, fcntl.LOCK_EX)
    yield try_(fcntl.flock, g, fcntl.LOCK_SH | fcntl.LOCK_NB), try_(
        fcntl.flock, f, fcntl.LOCK_SH)
    d = os.open(".", R)
    yield try_(fcntl.flock, d, fcntl.LOCK_EX | fcntl.LOCK_NB), try_(
        fcntl.lockf, d, fcntl.LOCK_SH | fcntl.LOCK_NB)


run_cases(os.path.abspath(sys.argv[1]), sys.argv[2:])
