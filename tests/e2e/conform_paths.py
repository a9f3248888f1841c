# SPDX-License-Identifier: BSD-2-Clause
# conform_paths.py DIR [CALL...]: each call on each kind of path, also as a user without rights
# (CONFORM_WHO: others).  Prints a line for each with its result and its effects.
import socket

from conform import *

LONG, LONGER = "n" * 255, "n" * 256


def touch(name, mode=0o644, uid=OWNER, gid=1000, data=b"some data"):
    with open(name, "wb") as f:
        f.write(data)
    os.chown(name, uid, gid)
    os.chmod(name, mode)


def folder(name, mode, uid=OWNER, gid=1000):
    os.mkdir(name)
    os.chown(name, uid, gid)
    os.chmod(name, mode)


def bind(name):
    s = socket.socket(socket.AF_UNIX)
    s.bind(name)
    s.close()


def special(name, make):
    make(name)
    os.chown(name, OWNER, 1000)
    os.chmod(name, 0o644)


def build():
    """Creates the objects, in the working directory, which all users may write."""
    touch("file")
    touch("grp", 0o664, OTHER, GROUP)
    touch("closed", 0o000)
    touch("suid", 0o6755)
    folder("empty", 0o755)
    folder("full", 0o755)
    touch("full/x")
    folder("secret", 0o600)
    touch("secret/x")
    folder("fixed", 0o555)
    touch("fixed/x")
    folder("sticky", 0o1777)
    touch("sticky/own", 0o666)
    touch("sticky/roots", 0o666, 0, 0)
    folder("setgid", 0o2777, 0, GROUP)
    special("fifo", os.mkfifo)
    special("sock", bind)
    special("chr", lambda n: os.mknod(n, stat.S_IFCHR | 0o644,
                                      os.makedev(1, 3)))
    for name, text in (("lfile", "file"), ("ldir", "full"), ("lnone", "none"),
                       ("loop", "loop"), ("lsecret", "secret/x"),
                       ("lslash", "full/"), ("lfifo", "fifo")):
        os.symlink(text, name)
        os.lchown(name, OWNER, 1000)


PATHS = ["file", "grp", "closed", "suid", "empty", "full", "full/x", "secret",
         "secret/x", "secret/none", "fixed", "fixed/x", "fixed/none",
         "sticky/own", "sticky/roots", "sticky/none", "setgid", "setgid/none",
         "fifo", "sock", "chr", "lfile", "ldir", "lnone", "loop", "lsecret",
         "lslash", "lfifo", "none", "none/x", "file/x", "file/", "fifo/x",
         "loop/x", "lfile/x", "lnone/x", "ldir/x", "ldir/none", "ldir/",
         "lfile/", "lnone/", "loop/", "empty/", "none/", "full/x/", "empty/.",
         "full/.", "full/..", "none/.", "file/.", "file/..", "secret/.",
         "secret/..", ".", "", LONG, LONGER, "full/" + LONG, "full/" + LONGER,
         LONGER + "/x", "./" * 2045 + "none", "./" * 2046 + "none",
         "full//x", "full/../file"]


def with_fd(path, flags, f, mode=0o600):
    fd = os.open(path, flags, mode)
    try:
        return f(fd)
    finally:
        os.close(fd)


def opened(flags, mode=0o640):
    return lambda p: with_fd(p, flags | os.O_NONBLOCK, lambda fd: "ok", mode)


def quiet(f):
    def run(*args):
        f(*args)
        return "ok"
    return run


def listed(p):
    return "ok %d" % len(os.listdir(p))


def times(p):
    os.utime(p, ns=(10 ** 18 + 1, 10 ** 18 + 2))
    st = os.stat(p)
    return "ok %d %d" % (st.st_atime_ns, st.st_mtime_ns)


def raw(call, *before, after=()):
    """A call of libc with a path."""
    return lambda p: "ok %d" % called(
        getattr(libc, call)(*before, p.encode(), *after))


AT = ctypes.c_int(-100)
R, W, C, X, T, D, N = (os.O_RDONLY, os.O_WRONLY, os.O_CREAT, os.O_EXCL,
                       os.O_TRUNC, os.O_DIRECTORY, os.O_NOFOLLOW)
CALLS = {
    "stat": quiet(os.stat),
    "lstat": quiet(os.lstat),
    "access r": lambda p: os.access(p, os.R_OK, effective_ids=True),
    "access w": lambda p: os.access(p, os.W_OK, effective_ids=True),
    "access x": lambda p: os.access(p, os.X_OK, effective_ids=True),
    "readlink": os.readlink,
    "open r": opened(R), "open w": opened(W), "open rw": opened(os.O_RDWR),
    "open wt": opened(W | T), "open rt": opened(R | T), "open wc": opened(W | C),
    "open wct": opened(W | C | T),
    "open wcx": opened(W | C | X), "open rc": opened(R | C, 0o444),
    "open d": opened(D), "open n": opened(N), "open wn": opened(W | N),
    "open wcn": opened(W | C | N), "open cd": opened(R | C | D),
    "open wd": opened(W | D), "open p": opened(os.O_PATH),
    "open pn": opened(os.O_PATH | N), "open pd": opened(os.O_PATH | D),
    "chdir": lambda p: (os.chdir(p), os.chdir(HERE), "ok")[-1],
    "listdir": listed,
    "chmod": quiet(lambda p: os.chmod(p, 0o751)),
    "chmod s": quiet(lambda p: os.chmod(p, 0o7777)),
    "chown own": quiet(lambda p: os.chown(p, OWNER, 1000)),
    "chown grp": quiet(lambda p: os.chown(p, -1, GROUP)),
    "chown uid": quiet(lambda p: os.chown(p, MEMBER, -1)),
    "chown -1": quiet(lambda p: os.chown(p, -1, -1)),
    "lchown": quiet(lambda p: os.lchown(p, -1, GROUP)),
    "truncate": quiet(lambda p: os.truncate(p, 3)),
    "truncate +": quiet(lambda p: os.truncate(p, 300)),
    "truncate -1": raw("truncate", after=(ctypes.c_long(-1),)),
    "utime now": quiet(os.utime),
    "utime": times,
    "mkdir": quiet(os.mkdir), "rmdir": quiet(os.rmdir),
    "unlink": quiet(os.unlink),
    "mkfifo": quiet(os.mkfifo),
    "mknod f": quiet(lambda p: os.mknod(p, stat.S_IFREG | 0o644)),
    "mknod c": quiet(lambda p: os.mknod(p, stat.S_IFCHR | 0o644,
                                        os.makedev(1, 3))),
    "bind": quiet(bind),
    "symlink": quiet(lambda p: os.symlink("file", p)),
    "link to": quiet(lambda p: os.link("file", p)),
    "link from": quiet(lambda p: os.link(p, "new", follow_symlinks=False)),
    "link L": quiet(lambda p: os.link(p, "new", follow_symlinks=True)),
    "rename from": quiet(lambda p: os.rename(p, "new")),
    "rename to": quiet(lambda p: os.rename("file", p)),
    "rename dir to": quiet(lambda p: os.rename("empty", p)),
    "rename into": quiet(lambda p: os.rename(p, "full/new")),
    "noreplace": lambda p: "ok %d" % called(libc.renameat2(
        AT, b"file", AT, p.encode(), 1)),
    "exchange": lambda p: "ok %d" % called(libc.renameat2(
        AT, b"full", AT, p.encode(), 2)),
    "setxattr": quiet(lambda p: os.setxattr(p, "user.a", b"1")),
    "lsetxattr": quiet(lambda p: os.setxattr(p, "trusted.a", b"1",
                                             follow_symlinks=False)),
    "getxattr": lambda p: os.getxattr(p, "user.a"),
    "listxattr": os.listxattr,
    "removexattr": quiet(lambda p: os.removexattr(p, "user.a")),
    "statvfs": lambda p: "ok %d" % os.statvfs(p).f_namemax,
}


def about(p):
    """The possible effects of the call: on the object, its folder, and its new name."""
    dir = os.path.dirname(p.rstrip("/")) or "."
    return {n: look(n) for n in (p, dir, "new", "file", "full")}


def clear():
    os.chdir(TOP)
    if os.path.lexists(HERE):
        shutil.rmtree(HERE)
    os.mkdir(HERE)
    os.chmod(HERE, 0o777)
    os.chdir(HERE)
    build()
    tick()


def short(p):
    return p if len(p) < 40 else p[:10] + "...%d" % len(p)


def one(name, call, p, who):
    before = about(p)
    become(who)
    result = attempt(call, p)
    become(0)
    os.chdir(HERE)
    after = about(p)
    told("%s %r as %d" % (name, short(p), who), result,
         {short(n): s for n, s in before.items()},
         {short(n): s for n, s in after.items()})
    return after


def state(st):
    return [(shown(s), s and s.st_ino, s and s.st_ctime_ns,
             s and s.st_mtime_ns) for s in st.values()]


def run(name):
    clear()
    for p in PATHS:
        for who in AS:
            was = state(about(p))
            if state(one(name, CALLS[name], p, who)) != was:
                clear()


AS = [int(w) for w in os.environ.get("CONFORM_WHO", "1002").split()]
TOP = os.path.abspath(sys.argv[1])
HERE = TOP + "/world"
os.umask(0o022)
for name in sys.argv[2:] or CALLS:
    run(name)
become(0)
os.chdir(TOP)
shutil.rmtree(HERE)
