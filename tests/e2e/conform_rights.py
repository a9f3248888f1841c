# SPDX-License-Identifier: BSD-2-Clause
# conform_rights.py DIR [CASE...]: times, owners, modes, and the effect of renames and links on
# them; prints a line for each result.
import struct

from conform import *

# ---- times ----

@case
def times_of_names():
    os.close(make())
    os.mkdir("d")
    yield change(lambda: os.link("f", "g"))
    yield change(lambda: os.unlink("g"))
    yield change(lambda: os.rename("f", "g"), "g")
    yield change(lambda: os.rename("g", "d/f"), "d/f", "d")
    yield change(lambda: os.rename("d/f", "f"), "f", "d")
    yield change(lambda: os.rename("f", "f"))
    yield change(lambda: os.symlink("f", "s"), "s")
    yield change(lambda: os.mkdir("d/e"), "d")
    yield change(lambda: os.rmdir("d/e"), "d")
    os.close(make("d/h"))
    os.close(make("h"))
    h = os.open("d/h", R)
    before = os.fstat(h)
    tick()
    os.rename("h", "d/h")
    yield moved(before, os.fstat(h)), os.fstat(h).st_nlink
    os.mkdir("e")
    e = os.open("e", R)
    before = os.fstat(e)
    tick()
    os.rmdir("e")
    yield moved(before, os.fstat(e)), os.fstat(e).st_nlink
    os.mkdir("e")
    os.mkdir("x")
    yield change(lambda: os.rename("e", "x/e"), "x/e", "x")
    yield look("x").st_nlink, look(".").st_nlink
    yield change(lambda: os.rename("x/e", "e"), "e", "x")
    yield look("x").st_nlink, look(".").st_nlink
    yield change(lambda: libc.renameat2(-100, b"d", -100, b"f", 2))


@case
def times_of_data():
    f = make()
    yield change(lambda: os.write(f, b"x"))
    yield change(lambda: os.write(f, b""))
    yield change(lambda: os.pwrite(f, b"x", 0))
    yield change(lambda: os.pwrite(f, b"x", 100000))
    yield change(lambda: os.ftruncate(f, 5))
    yield change(lambda: os.ftruncate(f, 5))
    yield change(lambda: os.ftruncate(f, 50))
    yield change(lambda: os.truncate("f", 50))
    yield change(lambda: os.truncate("f", 5))
    yield change(lambda: os.fsync(f))
    yield change(lambda: os.posix_fallocate(f, 0, 3))
    yield change(lambda: os.posix_fallocate(f, 0, 30))
    yield change(lambda: at("fallocate", f, 1, long(0), long(9)))
    yield change(lambda: at("fallocate", f, 3, long(0), long(9)))
    yield change(lambda: os.close(os.open("f", W | T)))
    yield change(lambda: os.close(os.open("f", W | T)))
    yield change(lambda: os.close(os.open("f", W | C)))
    yield change(lambda: os.ftruncate(f, -1))
    m = make("m", b"m" * PAGE)
    yield change(lambda: os.copy_file_range(m, f, 100), "f"), look("m").st_size
    for i in range(10):
        os.close(make("c", b"c" * PAGE))
        c = os.open("c", RW | T)
        yield change(lambda: os.open("c", W | A) and None, "c")
        os.unlink("c")


@case
def times_of_attributes():
    f = make()
    yield change(lambda: os.chmod("f", 0o600))
    yield change(lambda: os.chmod("f", 0o600))
    yield change(lambda: os.fchmod(f, 0o644))
    yield change(lambda: os.chown("f", OWNER, 1000))
    yield change(lambda: os.chown("f", -1, -1))
    yield change(lambda: os.fchown(f, 0, 0))
    yield change(lambda: os.setxattr("f", "user.a", b"1"))
    yield change(lambda: os.setxattr("f", "user.a", b"1", os.XATTR_CREATE))
    yield change(lambda: os.removexattr("f", "user.a"))
    yield change(lambda: os.removexattr("f", "user.a"))
    yield change(lambda: os.utime("f"))
    yield change(lambda: os.utime("f", (1, 2)))
    os.symlink("f", "s")
    yield change(lambda: os.utime("s", (3, 4), follow_symlinks=False), "s")
    yield look("s").st_mtime_ns, look("f").st_mtime_ns
    yield change(lambda: os.lchown("s", 5, 6), "s"), shown(look("s"))
    os.utime("f", (2 ** 33, 2 ** 33))
    yield look("f").st_mtime, look("f").st_ctime < 2 ** 33
    yield change(lambda: os.fchmod(f, 0o600))


NOW, OMIT = (1 << 30) - 1, (1 << 30) - 2


def utimens(name, a, b, flags=0):
    ts = struct.pack("qqqq", *a, *b)
    return called(libc.utimensat(-100, name and name.encode(), ts, flags))


@case
def utimens_who():
    os.close(make(mode=0o666))
    os.chown("f", OWNER, 1000)
    os.close(make("g", mode=0o644))
    os.chown("g", OWNER, 1000)
    for name in "f", "g":
        for a, b in ((0, NOW), (0, NOW)), ((0, OMIT), (0, OMIT)), \
                ((5, 0), (0, OMIT)), ((0, OMIT), (6, 0)), ((0, NOW), (0, OMIT)), \
                ((0, OMIT), (0, NOW)), ((0, NOW), (7, 7)), ((8, 8), (0, NOW)), \
                ((1, 10 ** 9), (2, 0)), ((1, -1), (2, 0)), ((1, 2), (3, 4)):
            for who in WHO:
                yield name, a, b, who, as_user(
                    who, lambda: utimens(name, a, b))
            yield min(look(name).st_mtime_ns, 10 ** 18)


@case
def utimens_range():
    os.close(make())
    for s in (-1, -2 ** 31 + 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 5,
              -86400 * 365 * 50, 9 * 10 ** 9):
        yield s, try_(utimens, "f", (s, 1), (s, 999999999)), \
            look("f").st_atime_ns, look("f").st_mtime_ns
    yield try_(utimens, "f", (1, 1), (1, 1), 0x1000)
    yield try_(utimens, "f", (1, 1), (1, 1), 1)
    yield try_(utimens, "", (1, 1), (1, 1))
    yield at("utimensat", -100, b"f", ctypes.c_void_p(1), 0)
    yield at("futimens", 999, None)


# ---- ownership, modes ----

@case
def chown_who():
    for mode in 0o6745, 0o2644:
        for who in WHO:
            for u, g in (-1, -1), (OWNER, -1), (-1, 1000), (-1, GROUP), \
                    (OWNER, GROUP), (MEMBER, -1), (-1, 1002), (0, 0):
                for make_ in "f", "d", "p":
                    KINDS_OF[make_](make_)
                    os.chown(make_, OWNER, 1000)
                    os.chmod(make_, mode)
                    r = as_user(who, lambda: os.chown(make_, u, g))
                    st = look(make_)
                    yield "%o" % mode, who, u, g, r, shown(st)
                    os.rmdir("d") if make_ == "d" else os.unlink(make_)


@case
def chmod_who():
    for gid in 1000, GROUP, 1002:
        for who in WHO:
            for mode in 0o7777, 0o2711:
                for make_ in "f", "d":
                    os.close(make("f")) if make_ == "f" else os.mkdir("d")
                    os.chown(make_, OWNER, gid)
                    r = as_user(who, lambda: os.chmod(make_, mode))
                    yield gid, who, "%o" % mode, r, shown(look(make_))
                    os.unlink("f") if make_ == "f" else os.rmdir("d")


@case
def made_by():
    """Owner, group and mode of new objects, in ordinary and set-gid folders."""
    for dmode in 0o777, 0o2777:
        os.mkdir("d")
        os.chown("d", OWNER, GROUP)
        os.chmod("d", dmode)
        for who in WHO:
            for mask in 0, 0o27:
                was = os.umask(mask)
                for mode in 0o6757, 0o1644:
                    for n, f in (
                            ("f", lambda: os.close(os.open("d/f", W | C, mode))),
                            ("d", lambda: os.mkdir("d/d", mode)),
                            ("p", lambda: os.mkfifo("d/p", mode)),
                            ("r", lambda: os.mknod("d/r", mode)),
                            ("s", lambda: os.symlink("x", "d/s"))):
                        r = as_user(who, f)
                        yield "%o" % dmode, who, "%o" % mask, "%o" % mode, r, \
                            shown(look("d/" + n))
                        shutil.rmtree("d/d") if n == "d" else os.unlink("d/" + n)
                os.umask(was)
        os.rmdir("d")


@case
def sticky():
    for mode in 0o1777, 0o777:
        for downer in 0, OWNER:
            for fowner in 0, OWNER:
                for who in WHO:
                    os.mkdir("d")
                    os.mkdir("e")
                    os.chmod("e", 0o777)
                    for n in "abc":
                        os.close(make("d/" + n))
                        os.chown("d/" + n, fowner, 0)
                    os.mkdir("d/d")
                    os.chown("d/d", fowner, 0)
                    os.close(make("e/x"))
                    os.chmod("d", mode)
                    os.chown("d", downer, GROUP)
                    yield "%o" % mode, downer, fowner, who, \
                        as_user(who, lambda: os.unlink("d/a")), \
                        as_user(who, lambda: os.rename("d/b", "e/b")), \
                        as_user(who, lambda: os.rename("e/x", "d/c")), \
                        as_user(who, lambda: os.rename("d/d", "e/d")), \
                        as_user(who, lambda: os.rmdir("d/d"))
                    shutil.rmtree("d")
                    shutil.rmtree("e")


@case
def moving_folders():
    """A rename of a folder into another folder changes its "..", so it must be writable."""
    for mode in 0o755, 0o555:
        for who in WHO:
            os.mkdir("a"), os.mkdir("b")
            os.chmod("a", 0o777), os.chmod("b", 0o777)
            os.mkdir("a/d")
            os.chown("a/d", OWNER, 1000)
            os.chmod("a/d", mode)
            yield "%o" % mode, who, \
                as_user(who, lambda: os.rename("a/d", "a/e")), \
                as_user(who, lambda: os.rename("a/e", "b/d"))
            shutil.rmtree("a"), shutil.rmtree("b")


# ---- renames ----

KINDS_OF = {"f": lambda n: os.close(make(n)), "d": os.mkdir,
            "D": lambda n: os.makedirs(n + "/x"), "p": os.mkfifo,
            "l": lambda n: os.symlink("none", n), "n": lambda n: None}


@case
def rename_kinds():
    for a in KINDS_OF:
        for b in KINDS_OF:
            for flags in 0, 1, 2:
                os.mkdir("w")
                os.chdir("w")
                KINDS_OF[a]("a")
                KINDS_OF[b]("b")
                ino = look("a") and look("a").st_ino
                yield a, b, flags, at("renameat2", -100, b"a", -100, b"b",
                                      flags), look("b") is not None and \
                    look("b").st_ino == ino, sorted(os.listdir("."))
                os.chdir("..")
                shutil.rmtree("w")


@case
def rename_around():
    os.makedirs("a/b/c")
    os.close(make("f"))
    os.link("f", "g")
    for x, y in ("a", "a/b"), ("a", "a/b/c/d"), ("a/b", "a"), ("a/b/c", "a"), \
            ("f", "g"), ("f", "f"), ("a", "a"), (".", "x"), ("..", "x"), \
            ("a/.", "x"), ("a/..", "x"), ("f", "."), ("a/b/c", "."), \
            ("a/b/c", "a/b/.."), ("a/b/c", "a/b/."), ("f", "h/"), ("a/b/c", "h/"), ("h/", "i/"):
        yield x, y, try_(os.rename, x, y), sorted(os.listdir(".")), \
            sorted(os.listdir("a"))
    for flags in 1, 2, 3, 8:
        yield at("renameat2", -100, b"f", -100, b"g", flags), \
            at("renameat2", -100, b"a", -100, b"a/b", flags), \
            at("renameat2", -100, b"a/b", -100, b"a", flags), \
            at("renameat2", -100, b"a", -100, b".", flags)


@case
def links():
    os.close(make())
    os.mkdir("d")
    yield try_(os.link, "d", "e"), try_(os.link, "f", "f"), try_(
        os.link, "f", "d"), try_(os.link, "f", "d/"), try_(os.link, "f", ".")
    fd = os.open("f", RW)
    yield at("linkat", fd, b"", -100, b"g", 0x1000), look("f").st_nlink
    os.unlink("f"), (look("g") and os.unlink("g"))
    yield at("linkat", fd, b"", -100, b"g", 0x1000), os.fstat(fd).st_nlink
    yield at("linkat", -100, b"/proc/self/fd/%d" % fd, -100, b"h", 0x400)
    os.symlink("x", "s")
    yield at("linkat", -100, b"s", -100, b"t", 0), shown(look("t"))
    yield at("linkat", -100, b"s", -100, b"u", 0x400), shown(look("u"))
    p = os.open("s", os.O_PATH | os.O_NOFOLLOW)
    yield at("linkat", p, b"", -100, b"v", 0x1000), shown(look("v"))
    yield at("linkat", -100, b"s", -100, b"w", 1)


@case
def protected():
    """Changes that only root, or only the owner, is allowed to make."""
    os.close(make("f", mode=0o666))
    os.chown("f", OWNER, 1000)
    os.chmod(".", 0o777)
    for who in WHO:
        yield who, as_user(who, lambda: os.mknod(
            "c", stat.S_IFCHR | 0o666, os.makedev(1, 3))), as_user(
                who, lambda: os.mknod("b", stat.S_IFBLK, os.makedev(1, 3))), \
            as_user(who, lambda: os.mknod("z", stat.S_IFDIR)), \
            as_user(who, lambda: os.mknod("y", stat.S_IFLNK)), \
            as_user(who, lambda: os.close(os.open("f", R | os.O_NOATIME))), \
            as_user(who, lambda: os.setxattr("f", "trusted.x", b"1")), \
            as_user(who, lambda: os.setxattr("f", "security.x", b"1")), \
            as_user(who, lambda: os.setxattr("f", "system.x", b"1")), \
            as_user(who, lambda: os.setxattr("f", "nothing", b"1")), \
            as_user(who, lambda: os.setxattr("f", "user.", b"1")), \
            as_user(who, lambda: os.setxattr("f", "user.x", b"1")), \
            sorted(os.listdir("."))
        for n in "cb":
            look(n) and os.unlink(n)

run_cases(os.path.abspath(sys.argv[1]), sys.argv[2:])
