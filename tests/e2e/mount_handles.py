# SPDX-License-Identifier: BSD-2-Clause
# mount_handles.py HERE THERE: handles of name_to_handle_at(2) for objects in the folder HERE of one
# mount open them in THERE, the same folder of another mount, whose kernel does not know them; a
# line for each.
import ctypes, os, struct, sys

libc = ctypes.CDLL(None, use_errno=True)
here, there = sys.argv[1:]


def called(rc):
    if rc < 0:
        n = ctypes.get_errno()
        raise OSError(n, os.strerror(n))
    return rc


def handle(name):
    h = ctypes.create_string_buffer(struct.pack("I", 128), 136)
    called(libc.name_to_handle_at(-100, name.encode(), h,
                                  ctypes.byref(ctypes.c_int()), 0))
    return h


os.chdir(here)
os.mkdir("d")
os.mkfifo("p")
os.symlink("f", "l")
with open("d/f", "w") as f:
    f.write("data")
mount = os.open(there, os.O_RDONLY)
for name in "d", "d/f", "p", "l":
    h, number = handle(name), os.lstat(name).st_ino
    fd = called(libc.open_by_handle_at(mount, h, os.O_PATH))
    print(name, os.fstat(fd).st_ino == number)
h = handle("d/f")
fd = called(libc.open_by_handle_at(mount, h, os.O_RDONLY))
print(os.read(fd, 9).decode())
os.close(fd)
os.unlink("d/f")
try:
    called(libc.open_by_handle_at(mount, h, os.O_RDONLY))
except OSError as e:
    print(e.strerror)
