# SPDX-License-Identifier: BSD-2-Clause
# mount_removed.py DIR - objects are removed in several ways while they are in use.  Calls by
# descriptors must have the same results as on a local file system, /dev/shm.
import errno
import os
import socket
import stat
import sys
import tempfile
import time

O_PATH = os.O_PATH


def fifo(n):
    os.mkfifo(n, 0o640)


def device(n):
    os.mknod(n, 0o620 | stat.S_IFCHR, os.makedev(1, 3))


def sock(n):
    s = socket.socket(socket.AF_UNIX)
    s.bind(n)
    s.close()


def file(n):
    with open(n, "w") as f:
        f.write("text")


def link(n):
    os.symlink("nowhere", n)


def folder(n):
    os.mkdir(n, 0o751)


def unlink(n):
    os.rmdir(n) if os.path.isdir(n) and not os.path.islink(n) else os.unlink(n)


def replace(n):
    if os.path.isdir(n) and not os.path.islink(n):
        os.mkdir("other")
    else:
        open("other", "w").close()
    os.rename("other", n)


def replace_unseen(n):
    """Removes the object by a name that a rename has just created."""
    if os.path.isdir(n) and not os.path.islink(n):
        os.mkdir("first")
    else:
        open("first", "w").close()
    os.rename("first", "second")
    os.rename("second", n)
    unlink(n)


def moved(n):
    os.rename(n, n + "2")
    unlink(n + "2")


def both_names(n):
    os.link(n, n + "2", follow_symlinks=False)
    unlink(n)
    unlink(n + "2")


def swapped(n):
    import ctypes
    open("other", "w").close()
    if ctypes.CDLL(None, use_errno=True).renameat2(-100, n.encode(), -100, b"other", 2):
        raise OSError(ctypes.get_errno(), "renameat2")
    unlink("other")
    unlink(n)


def shown(st):
    size = 0 if stat.S_ISDIR(st.st_mode) else st.st_size
    return oct(st.st_mode), st.st_nlink, st.st_uid, st.st_gid, size, st.st_rdev


def tried(f, *args, **kw):
    try:
        r = f(*args, **kw)
        return shown(r) if isinstance(r, os.stat_result) else r
    except OSError as e:
        return errno.errorcode[e.errno]


def seen(fd):
    yield "fstat", tried(os.fstat, fd)
    yield "inode", os.fstat(fd).st_ino == ino
    yield "chmod", tried(os.chmod, f"/proc/self/fd/{fd}", 0o604)
    yield "mode", tried(os.fstat, fd)
    yield "chown", tried(os.chown, f"/proc/self/fd/{fd}", 7, -1)
    yield "owner", tried(os.fstat, fd)
    yield "chown both", tried(os.chown, f"/proc/self/fd/{fd}", 3, 4)
    yield "utime", tried(os.utime, f"/proc/self/fd/{fd}", ns=(5 * 10**9, 6 * 10**9 + 7))
    st = os.fstat(fd)
    yield "times", (st.st_atime_ns, st.st_mtime_ns)
    before = time.time() - 1
    yield "utime now", tried(os.utime, f"/proc/self/fd/{fd}")
    st = os.fstat(fd)
    yield "now", (st.st_mtime >= before, st.st_ctime >= before)
    yield "list", tried(os.listxattr, f"/proc/self/fd/{fd}")
    yield "acl", tried(os.getxattr, f"/proc/self/fd/{fd}", "system.posix_acl_access")
    yield "access", tried(os.access, f"/proc/self/fd/{fd}", os.R_OK)
    yield "link", tried(os.link, f"/proc/self/fd/{fd}", "again", follow_symlinks=True)
    yield "after", tried(os.fstat, fd)


def one(make, flags, remove):
    global ino
    make("x")
    fd = os.open("x", flags)
    ino = os.fstat(fd).st_ino
    remove("x")
    result = list(seen(fd))
    os.close(fd)
    for n in os.listdir("."):
        unlink(n)
    return result


def written():
    """Calls by a descriptor after the name is removed; then by one with O_PATH."""
    file("x")
    fd, held = os.open("x", os.O_RDWR), os.open("x", O_PATH)
    os.unlink("x")
    os.write(fd, b"longer than that")
    os.fchmod(fd, 0o640)
    result = [("open", tried(os.fstat, held))]
    os.close(fd)
    result.append(("closed", tried(os.fstat, held)))
    os.close(held)
    return result


makers = {fifo: (os.O_RDWR | os.O_NONBLOCK, O_PATH), device: (O_PATH,), sock: (O_PATH,),
          file: (O_PATH, os.O_RDONLY, os.O_RDWR), link: (O_PATH | os.O_NOFOLLOW,),
          folder: (os.O_RDONLY, O_PATH)}
removers = [unlink, replace, replace_unseen, moved, both_names, swapped]


def run(where):
    os.chdir(where)
    return {"written": written()} | {(m.__name__, f, r.__name__): one(m, f, r) for m in makers for f in makers[m]
            for r in removers if not (m is folder and r in (both_names, swapped))}


there = run(sys.argv[1])
os.chdir("/")
with tempfile.TemporaryDirectory(dir="/dev/shm") as d:
    here = run(d)
    os.chdir("/")
bad = 0
for case, results in here.items():
    for (what, local), (_, mount) in zip(results, there[case]):
        if local != mount:
            print(case, f"{what}: {mount}, on a local disk {local}")
            bad += 1
sys.exit(bad > 0)
