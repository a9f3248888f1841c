# SPDX-License-Identifier: BSD-2-Clause
# conform_names.py DIR [CASE...]: unusual names, many names, deep trees, and folders that change
# while they are read.  Prints a line for each result.
import struct

from conform import *

# ---- names, folders ----

@case
def any_name():
    for n in b"\xff\xfe", b"a\nb", b" ", b"...", b"-", b"\\", b"\x01", \
            b"n" * 255, "\u00e9".encode() * 127 + b"x":
        n = os.fsdecode(n)
        yield try_(os.mkdir, n), try_(os.rename, n, n[:3] + "x"), sorted(
            os.fsencode(x) for x in os.listdir("."))
        os.rmdir(n[:3] + "x")
    for n in "n" * 256, "x/" + "n" * 256, "n" * 5000:
        for f in os.mkdir, os.mkfifo, os.unlink, os.rmdir, os.stat, os.readlink, \
                lambda n: os.symlink("x", n), lambda n: os.open(n, W | C):
            yield len(n), try_(f, n)
    for n in 4095, 4096, 4097:
        yield n, try_(os.symlink, "n" * n, "s")
        if look("s"):
            yield look("s").st_size, len(os.readlink("s"))
            os.unlink("s")
    yield try_(os.symlink, "", "s")


@case
def deep():
    n = 0
    for i in range(60):
        os.mkdir("d" * 100)
        os.chdir("d" * 100)
        n += 1
    yield try_(lambda: len(os.getcwd()) > 4095 or "short"), n
    os.close(make("f"))
    yield content("f")
    os.unlink("f")
    for i in range(n):
        os.chdir("..")
        os.rmdir("d" * 100)
    yield os.listdir(".")


@case
def loops():
    os.close(make("f"))
    prev = "f"
    for i in range(45):
        os.symlink(prev, "l%d" % i)
        prev = "l%d" % i
        if i > 36:
            yield i, try_(lambda: os.stat(prev).st_size)


@case
def reading_folders():
    os.mkdir("d")
    for i in range(300):
        os.close(os.open("d/%d" % i, W | C))
    fd = os.open("d", R)
    buf = ctypes.create_string_buffer(1000)
    seen, offs = [], []

    def page():
        n = called(libc.syscall(217, fd, buf, 1000))
        p, names = 0, []
        while p < n:
            ino, off, size, kind = struct.unpack_from("QqHB", buf, p)
            names.append((buf.raw[p + 19:p + size].split(b"\0")[0], off, kind))
            p += size
        return names
    while True:
        got = page()
        if not got:
            break
        seen += got
    yield len(seen), len(set(n for n, o, k in seen)), sorted(
        set(k for n, o, k in seen))
    os.lseek(fd, seen[99][1], 0)
    yield page()[0][0] == seen[100][0]
    os.lseek(fd, 0, 0)
    yield page()[0][0] == seen[0][0]
    os.lseek(fd, seen[9][1], 0)
    for n, o, k in seen[50:200]:
        if n not in (b".", b".."):
            os.unlink(b"d/" + n)
    rest = set()
    while True:
        got = page()
        if not got:
            break
        rest |= set(n for n, o, k in got)
    yield rest >= set(n for n, o, k in seen[200:]), len(rest - set(
        n for n, o, k in seen))
    os.lseek(fd, 0, 0)
    yield at("syscall", 217, fd, buf, 10), at("syscall", 217, fd,
                                             ctypes.c_void_p(1), 1000)
    yield try_(os.lseek, fd, -1, 0)
    os.close(make())
    yield at("syscall", 217, os.open("f", R), buf, 1000)


@case
def counted_links():
    os.mkdir("d")
    yield look("d").st_nlink
    for i in range(3):
        os.mkdir("d/%d" % i)
        yield look("d").st_nlink
    os.close(make("d/f"))
    yield look("d").st_nlink
    os.rename("d/0", "e")
    yield look("d").st_nlink, look("e").st_nlink
    os.rmdir("d/1")
    os.mkdir("d/9")
    os.rename("d/9", "d/2")
    yield look("d").st_nlink
    yield at("renameat2", -100, b"d/f", -100, b"e", 2), look("d").st_nlink, \
        look(".").st_nlink

run_cases(os.path.abspath(sys.argv[1]), sys.argv[2:])
