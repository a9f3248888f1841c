# SPDX-License-Identifier: BSD-2-Clause
# mount_making.py DIR KIND N: creates N objects of a kind, and prints their attributes.
import os, sys

d, kind, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.chdir(d)
os.umask(0o027)
if not os.path.exists("file"):
    with open("file", "wb") as f:
        f.write(b"x" * 70000)
make = {
    "mkdir": lambda name: os.mkdir(name, 0o2775),
    "symlink": lambda name: os.symlink("some/where/" + name, name),
    "link": lambda name: os.link("file", name),
    "fifo": lambda name: os.mkfifo(name, 0o666),
    "file": lambda name: os.mknod(name, 0o640),
}[kind]
for i in range(n):
    name = "%s %d" % (kind, i)
    make(name)
    st = os.lstat(name)
    print(name, oct(st.st_mode), st.st_nlink, st.st_uid, st.st_gid,
          st.st_size if kind != "mkdir" else "")
