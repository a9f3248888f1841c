# SPDX-License-Identifier: BSD-2-Clause
"""mount_cut.py - direct writes that fail beyond the end of the file that the kernel knows.  Others
have extended the file: by a bypass of the mount, or through the library.  When such a write fails,
the kernel truncates the file to the end that it knows.

usage: mount_cut.py MOUNT full        prints when the test must fill the store, and empty it
       mount_cut.py MOUNT still       prints when the test must stop an iod, and continue it
       mount_cut.py MOUNT past        the data of this program bypasses the mount
       mount_cut.py MOUNT beside      while another process appends
"""
import ctypes, errno, mmap, os, platform, struct, subprocess, sys, time

OWN, OTHERS = 4096, 3 * 65536  # bytes: what the kernel knows of, and what it does not
LARGE = 4 << 20  # more than a full store has left
LIBC = ctypes.CDLL(None, use_errno=True)
SETUP, SUBMIT, GETEVENTS = {"x86_64": (206, 209, 208)}.get(platform.machine(), (0, 2, 4))


def memory(n):
    buf = mmap.mmap(-1, n)
    buf.write(b"x" * n)
    return buf


def sure(n):
    if n < 0:
        raise OSError(ctypes.get_errno(), "io_submit")
    return n


def submit(fd, buf, off):
    """As os.pwrite(), by the asynchronous calls of the kernel."""
    context = ctypes.c_ulong(0)
    mem = (ctypes.c_char * len(buf)).from_buffer(buf)
    one = ctypes.create_string_buffer(struct.pack(
        "QIiHhIQQqQII", 0, 0, 0, 1, 0, fd, ctypes.addressof(mem), len(buf), off, 0, 0, 0))
    done = ctypes.create_string_buffer(32)
    sure(LIBC.syscall(SETUP, 1, ctypes.byref(context)))
    sure(LIBC.syscall(SUBMIT, context, 1, ctypes.byref(ctypes.c_void_p(ctypes.addressof(one)))))
    sure(LIBC.syscall(GETEVENTS, context, 1, 1, done, None))
    n = struct.unpack("QQqq", done)[2]
    if n < 0:
        raise OSError(-n, "io_submit")
    return n


def call(fd, buf, off):
    return os.pwritev(fd, [buf], off)


def pvio(*args):
    out = subprocess.run(["pvio", *map(str, args)], stdout=subprocess.PIPE, text=True)
    return out.stdout.split("\n")[-2]


def size(name):
    out = subprocess.run(["pvio", "stat", "/pvfs/" + name], stdout=subprocess.PIPE, text=True)
    return int(out.stdout.split()[4])


def tell(word):
    print(word, flush=True)
    return sys.stdin.readline()


def expect(have, want, what):
    if have != want:
        sys.exit("%s: %s, not %s" % (what, have, want))


def fails(write, fd, how, off=OWN + OTHERS):
    try:
        write(fd, memory(LARGE), off)
    except OSError as e:
        expect(e.errno, how, write.__name__)
        return
    sys.exit("%s: it did not fail" % write.__name__)


def opened(mount, name, flags=os.O_RDWR | os.O_DIRECT):
    fd = os.open(os.path.join(mount, name), flags | os.O_CREAT)
    expect(os.pwritev(fd, [memory(OWN)], 0), OWN, "written")
    return fd


def grown(name):
    expect(pvio("write", "/pvfs/" + name, OWN, OTHERS, 7), "ok", name)


def whole(name):
    expect(pvio("check", "/pvfs/" + name, OWN, OTHERS, 7), "ok", name)


def reached(mount):
    """Waits until the mount is connected to all iods again: calls to a silent one fail at once."""
    fd = os.open(os.path.join(mount, "reached"), os.O_RDWR | os.O_DIRECT | os.O_CREAT)
    end = time.monotonic() + 60
    while True:
        try:
            os.pwritev(fd, [memory(OWN + OTHERS)], 0)
            os.close(fd)
            return
        except TimeoutError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def cut(fd, name, to):
    os.ftruncate(fd, to)
    expect(size(name), to, "cut")


FLAGS = {"direct": os.O_RDWR | os.O_DIRECT, "plain": os.O_RDWR,
         "only": os.O_WRONLY | os.O_DIRECT}


def full(mount):
    files = {how.__name__ + flags + kind: (how, opened(mount, how.__name__ + flags + kind,
                                                       FLAGS[flags]))
             for how in (call, submit) for flags in FLAGS for kind in ("", "cut")}
    for name in files:
        grown(name)
    tell("fill")
    for name, (how, fd) in files.items():
        fails(how, fd, errno.ENOSPC)
        if name.endswith("cut"):  # who means it
            cut(fd, name, OWN + OTHERS - 100)
            cut(fd, name, OWN)
        else:
            whole(name)
    tell("empty")


def still(mount):
    files = {how: opened(mount, how.__name__) for how in (call, submit)}
    for how in files:
        grown(how.__name__)
    tell("stop")
    for how, fd in files.items():
        fails(how, fd, errno.ETIMEDOUT)
    tell("go on")
    reached(mount)
    for how, fd in files.items():
        whole(how.__name__)
        cut(fd, how.__name__, OWN)


def past(mount):
    files = {how: opened(mount, how.__name__) for how in (call, submit)}
    for fd in files.values():
        for k in range(16):
            expect(os.pwrite(fd, b"%4d" % k * 1024, OWN + 4096 * k), 4096, "written")
    tell("fill")
    for how, fd in files.items():
        fails(how, fd, errno.ENOSPC)
        for k in range(16):
            expect(os.pread(fd, 4096, OWN + 4096 * k), b"%4d" % k * 1024, "read")


def beside(mount):
    fd, n = opened(mount, "beside"), 1000
    far = 1 << 46  # behind what the store's files may be
    try:
        submit(fd, memory(OWN), far)
        print("skip: files of that store have no such limit", flush=True)
        return
    except OSError as e:
        expect(e.errno, errno.EFBIG, "far")
    other = subprocess.Popen(["pvio", "append", "/pvfs/beside", str(n), "4096", "x"],
                             stdout=subprocess.DEVNULL)
    while other.poll() is None:
        fails(submit, fd, errno.EFBIG, far)
    expect(size("beside"), OWN + 4096 * n, "appended")


globals()[sys.argv[2]](sys.argv[1])
print("ok", flush=True)
