# SPDX-License-Identifier: BSD-2-Clause
"""Calls that the library does not support on paths without a mount: each fails, prints the reason
if possible, and changes nothing in the local folder of that name.  usage: DIR"""
import ctypes
import errno
import mmap
import os
import socket
import subprocess
import sys

at = sys.argv[1]
name = at + "/file"
libc = ctypes.CDLL(None, use_errno=True)
bare = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}


def refused(what, errors, call):
    try:
        result = call()
    except OSError as e:
        assert e.errno in errors, (what, e)
        print(what, flush=True)
        return
    raise AssertionError(f"{what}: {result}")


def by_libc(call, *args):
    if getattr(libc, call)(*args) == -1:
        raise OSError(ctypes.get_errno(), call)


fd = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
assert os.write(fd, b"0123456789" * 500) == 5000
out = os.open("local", os.O_RDWR | os.O_CREAT, 0o600)

refused("mmap", [errno.ENODEV], lambda: mmap.mmap(fd, 100))
refused("sendfile", [errno.EINVAL], lambda: os.sendfile(out, fd, 0, 100))
refused("splice", [errno.EINVAL], lambda: os.splice(fd, os.pipe()[1], 100))
refused("copy_file_range", [errno.EXDEV],
        lambda: os.copy_file_range(fd, out, 100))
assert os.fstat(out).st_size == 0

os.mkfifo(at + "/fifo")
refused("open", [errno.ENXIO], lambda: os.open(at + "/fifo", os.O_RDONLY))
os.unlink(at + "/fifo")

# system calls without the library: the kernel's file under this number transfers no data
SYS_READ, SYS_WRITE, SYS_PREAD, SYS_PWRITE = 0, 1, 17, 18
if os.uname().machine == "x86_64":
    some = ctypes.create_string_buffer(b"x" * 100)
    for number in SYS_READ, SYS_WRITE, SYS_PREAD, SYS_PWRITE:
        refused("syscall", [errno.EBADF, errno.EPERM],
                lambda: by_libc("syscall", number, fd, some, 100, 0))

# a program without the library
os.set_inheritable(fd, True)
for redirect, program in ("<", "cat"), (">", "echo lost"):
    run = subprocess.run(["sh", "-c", f"{program} {redirect}&{fd}"], env=bare,
                         close_fds=False, capture_output=True)
    assert run.returncode and run.stderr and not run.stdout, (program, run)
print("without it")

# a descriptor that a child of vfork() has copied to another number
run = subprocess.run(["echo", "lost"], stdout=fd, stderr=subprocess.PIPE)
assert run.returncode and b"did not hand over" in run.stderr, run
print("vfork")

# a child shares the offset
os.lseek(fd, 100, os.SEEK_SET)
child = os.fork()
if not child:
    os._exit(os.write(fd, b"child") != 5)
assert os.waitpid(child, 0)[1] == 0 and os.write(fd, b"parent") == 6
assert os.pread(fd, 12, 99) == b"9childparent"
print("fork")

# calls that libc or the kernel would make on a local path
unix = socket.socket(socket.AF_UNIX)
refused("bind", [errno.ENOTSUP], lambda: unix.bind(at + "/socket"))
refused("exec", [errno.ENOTSUP], lambda: os.execv(name, [name]))
refused("spawn", [errno.ENOTSUP],
        lambda: os.posix_spawn(name, [name], {}))
refused("addopen", [errno.ENOTSUP], lambda: os.posix_spawn(
    "/bin/true", ["true"], {},
    file_actions=[(os.POSIX_SPAWN_OPEN, 1, name, os.O_WRONLY, 0)]))
refused("in a child of vfork", [errno.ENOTSUP],
        lambda: subprocess.run(["true"], cwd=at))
refused("nftw", [errno.ENOTSUP],
        lambda: by_libc("nftw", name.encode(), None, 5, 0))

# closed by a system call, so the number belongs to another file
libc.syscall(3, fd)
again = os.open("local", os.O_RDWR)
assert again == fd and os.write(again, b"local") == 5
assert open("local").read() == "local"
print("closed unseen")
assert os.stat(name).st_size == 5000 and os.listdir(at) == ["file"]

# the working directory of the process is on PVFS, so the kernel can create nothing there
os.chdir(at)
assert os.getcwd() == at and os.path.exists("file")
refused("nowhere", [errno.ENOENT],
        lambda: by_libc("syscall", 2, b"here", os.O_CREAT | os.O_WRONLY, 0o600))
subprocess.run(["sh", "-c", "echo >beside && rm beside && cat <file >/dev/null"],
               check=True)
subprocess.run(["sh", "-c", ": >here"], env=bare, check=False,
               stderr=subprocess.DEVNULL)
assert os.listdir() == ["file"]
print("all of it")
