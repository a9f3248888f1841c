# SPDX-License-Identifier: BSD-2-Clause
"""preload_identity.py - python3 preload_identity.py FOLDER-OF-A-MOUNT FOLDER: descriptor numbers
that are reused for another file, offsets that other processes change, and rights that only a
descriptor has."""
import errno
import os
import resource
import signal
import subprocess
import sys
import threading

there, here = sys.argv[1:]
libc_close = None


def path(name):
    return os.path.join(there, name)


def make(name, content):
    fd = os.open(path(name), os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    assert os.write(fd, content) == len(content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def must_fail(number, call, *args):
    try:
        call(*args)
    except OSError as e:
        assert e.errno == number, (call, args, e)
    else:
        assert False, (call, args)


def dup_over():
    a, b = make("a", b"aaaa"), make("b", b"bbbb")
    c = os.open(os.path.join(here, "ordinary"), os.O_RDWR | os.O_CREAT)
    os.write(c, b"cccc")
    assert os.pread(a, 4, 0) == b"aaaa"
    os.dup2(b, a)
    assert os.pread(a, 4, 0) == b"bbbb" and os.read(b, 2) == b"bb"
    assert os.read(a, 9) == b"bb"  # one offset
    os.dup2(c, a)
    assert os.pread(a, 4, 0) == b"cccc"
    os.write(a, b"dd")
    assert os.pread(c, 9, 0) == b"ccccdd"
    r, w = os.pipe()
    os.dup2(w, a)
    os.write(a, b"pipe")
    assert os.read(r, 9) == b"pipe"
    os.dup2(b, a)
    assert os.pread(a, 4, 0) == b"bbbb"
    for fd in (a, b, c, r, w):
        os.close(fd)


def other_rights():
    fd = make("r", b"rights")
    assert os.pread(fd, 9, 0) == b"rights"
    ro = os.open(path("r"), os.O_RDONLY)
    assert os.pread(ro, 9, 0) == b"rights"
    os.dup2(ro, fd)  # the same file, not the same rights
    must_fail(errno.EBADF, os.pwrite, fd, b"x", 0)
    wo = os.open(path("r"), os.O_WRONLY)
    os.pwrite(wo, b"R", 0)
    os.dup2(wo, fd)
    must_fail(errno.EBADF, os.pread, fd, 1, 0)
    must_fail(errno.EBADF, os.read, fd, 1)
    assert os.pread(ro, 9, 0) == b"Rights"
    for x in (fd, ro, wo):
        os.close(x)
    must_fail(errno.EBADF, os.pread, fd, 1, 0)
    p = os.open(path("r"), os.O_PATH)
    must_fail(errno.EBADF, os.read, p, 1)
    os.close(p)


def closed_unseen():
    f = open(path("s1"), "wb+")
    os.pwrite(f.fileno(), b"one", 0)
    n = f.fileno()
    import ctypes
    ctypes.CDLL(None).syscall(3, n)  # close(2), past everybody
    g = os.open(path("s2"), os.O_RDWR | os.O_CREAT)
    assert g == n
    os.pwrite(g, b"two!", 0)
    assert os.pread(g, 9, 0) == b"two!"
    with open(path("s1"), "rb") as h:
        assert h.read() == b"one"


def shared_offset():
    fd = make("o", bytes(range(256)) * 40)
    assert os.read(fd, 100) == bytes(range(100))
    # a child that does not use the library moves the offset
    out = subprocess.run(["head", "-c", "56"], stdin=fd,
                         stdout=subprocess.PIPE, check=True).stdout
    assert out == bytes(range(100, 156)), out
    assert os.read(fd, 100) == bytes(range(156, 256))
    pid = os.fork()
    if not pid:
        ok = os.read(fd, 10) == bytes(range(10)) and \
            os.pread(fd, 2, 5) == b"\5\6"
        os.write(fd, b"child")
        os._exit(0 if ok else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert os.lseek(fd, 0, os.SEEK_CUR) == 256 + 15
    assert os.pread(fd, 5, 266) == b"child"
    os.lseek(fd, 0, os.SEEK_END)
    assert os.read(fd, 10) == b""
    end = os.lseek(fd, 0, os.SEEK_CUR)
    os.lseek(fd, -3, os.SEEK_END)
    assert len(os.read(fd, 1000)) == 3
    assert os.lseek(fd, 0, os.SEEK_CUR) == end
    os.close(fd)


def many_threads():
    fd = make("t", b"")
    piece = [bytes([65 + k]) * 1000 for k in range(4)]

    def work(k):
        for _ in range(50):
            assert os.write(fd, piece[k]) == 1000

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert os.fstat(fd).st_size == 200000
    got = os.pread(fd, 200000, 0)
    for k in range(200):
        assert got[k * 1000:k * 1000 + 1000] in piece
    os.lseek(fd, 0, os.SEEK_SET)
    seen = []
    lock = threading.Lock()

    def readers():
        while True:
            b = os.read(fd, 1000)
            if not b:
                return
            with lock:
                seen.append(b)

    threads = [threading.Thread(target=readers) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(seen) == sorted(piece * 50)
    os.close(fd)


def appends():
    name = path("app")
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    kids = []
    for k in range(3):
        pid = os.fork()
        if not pid:
            mine = os.open(name, os.O_WRONLY | os.O_APPEND)
            for i in range(40):
                os.write(mine, b"%d %05d\n" % (k, i))
            os._exit(0)
        kids.append(pid)
    for i in range(40):
        os.write(fd, b"3 %05d\n" % i)
    for pid in kids:
        assert os.waitpid(pid, 0)[1] == 0
    assert os.write(fd, b"last\n") == 5
    assert os.lseek(fd, 0, os.SEEK_CUR) == 4 * 40 * 8 + 5
    with open(name, "rb") as f:
        lines = f.read().splitlines()
    assert lines.pop() == b"last"
    for k in range(4):
        assert [x for x in lines if x[:1] == b"%d" % k] == \
            [b"%d %05d" % (k, i) for i in range(40)]
    # F_SETFL takes effect for the next call
    import fcntl
    rw = os.open(name, os.O_RDWR)
    os.pwrite(rw, b"X", 0)
    fcntl.fcntl(rw, fcntl.F_SETFL, os.O_APPEND)
    os.write(rw, b"end")
    fcntl.fcntl(rw, fcntl.F_SETFL, 0)
    os.pwrite(rw, b"Y", 1)
    assert os.pread(rw, 2, 0) == b"XY"
    assert os.pread(rw, 9, 4 * 40 * 8 + 5) == b"end"
    os.close(rw)
    os.close(fd)


def no_name():
    fd = make("n", b"still")
    os.unlink(path("n"))
    assert os.pread(fd, 9, 0) == b"still"
    os.pwrite(fd, b" here", 5)
    assert os.fstat(fd).st_size == 10 and os.fstat(fd).st_nlink == 0
    assert os.pread(fd, 10, 0) == b"still here"
    os.close(fd)


def sizes():
    fd = make("z", b"12345678")
    os.ftruncate(fd, 3)
    assert os.pread(fd, 9, 0) == b"123"
    os.ftruncate(fd, 6)
    assert os.pread(fd, 9, 0) == b"123\0\0\0"
    os.pwrite(fd, b"x", 99999)
    os.fsync(fd)
    os.fdatasync(fd)
    assert os.stat(path("z")).st_size == 100000
    assert os.preadv(fd, [bytearray(2), bytearray(5)], 99998) == 2
    assert os.pwritev(fd, [b"ab", b"", b"cd"], 1) == 4
    os.lseek(fd, 0, os.SEEK_SET)
    a, b = bytearray(3), bytearray(3)
    assert os.readv(fd, [a, b]) == 6 and bytes(a + b) == b"1abcd\0"
    assert os.writev(fd, [b"E", b"F"]) == 2
    assert os.pread(fd, 2, 6) == b"EF"
    must_fail(errno.EINVAL, os.pread, fd, 1, -1)
    must_fail(errno.EINVAL, os.pwrite, fd, b"", -1)
    assert os.pread(fd, 0, 0) == b"" and os.write(fd, b"") == 0
    os.close(fd)


def limits():
    fd = make("l", b"")
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    os.pwrite(fd, b"x", 0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    assert os.pwrite(fd, b"y" * 500, 800) == 200
    must_fail(errno.EFBIG, os.pwrite, fd, b"z", 1000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.fstat(fd).st_size == 1000
    os.close(fd)


def bad_memory():
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    fd = make("m", b"x" * 10000)
    assert libc.pread(fd, ctypes.c_void_p(16), 100, 0) == -1
    assert ctypes.get_errno() == errno.EFAULT
    assert libc.write(fd, ctypes.c_void_p(16), 100) == -1
    assert ctypes.get_errno() == errno.EFAULT
    assert os.lseek(fd, 0, os.SEEK_CUR) == 0
    os.close(fd)


def handlers():
    fd = make("h", b"0123456789")
    done = []

    def handler(number, frame):
        done.append(os.pread(fd, 3, 2))

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    for k in range(300):
        assert os.pread(fd, 4, 1) == b"1234"
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert all(x == b"234" for x in done)
    os.close(fd)


def spawned():
    fd = make("v", b"spawn me")
    assert os.pread(fd, 1, 0) == b"s"
    pid = os.posix_spawn("/bin/cat", ["cat"], os.environ, file_actions=[
        (os.POSIX_SPAWN_DUP2, fd, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.path.join(here, "spawned"),
         os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)])
    assert os.waitpid(pid, 0)[1] == 0
    with open(os.path.join(here, "spawned")) as f:
        assert f.read() == "spawn me"
    assert os.read(fd, 9) == b""
    os.close(fd)


def mapped():
    import mmap
    fd = make("map", b"m" * 10000)  # the kernel knows nothing of its size
    m = mmap.mmap(fd, 10000)
    assert m[9990:] == b"m" * 10
    os.pwrite(fd, b"written", 0)
    assert m[:7] == b"written"
    m[0:3] = b"WRI"
    assert os.pread(fd, 7, 0) == b"WRItten"
    # another process maps the file after it has bypassed the mount
    code = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
os.pwrite(fd, b'before', 5000)
print(flush=True)
sys.stdin.readline()
os.pwrite(fd, b'after!', 5000)
sys.stdout.write(os.pread(fd, 3, 0).decode())
"""
    kid = subprocess.Popen([sys.executable, "-c", code, path("map")],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    kid.stdout.readline()
    assert m[5000:5006] == b"before"
    m[0:3] = b"map"
    assert kid.communicate(b"\n")[0] == b"map"
    assert m[5000:5006] == b"after!"
    m.close()
    os.close(fd)


def stays_unmarked():
    fd = make("u", b"u" * 5000)
    assert os.pread(fd, 1, 0) == b"u"
    os.close(fd)


for test in (dup_over, other_rights, closed_unseen, shared_offset, many_threads,
             appends, no_name, sizes, limits, bad_memory, handlers, spawned,
             mapped, stays_unmarked):
    try:
        test()
    except BaseException:
        print(test.__name__, flush=True)
        raise
print("all of it")
