# SPDX-License-Identifier: BSD-2-Clause
# mount_atime.py DIR [here]: which calls change the access time of a file.  With `here`, also the
# reads that other hosts see only at the close.
import os, sys, time

os.chdir(sys.argv[1])
f = "f"

def write():
    with open(f, "ab", buffering=0) as o:
        o.write(b"x" * 5000)

def read(flags=0):
    o = os.open(f, os.O_RDONLY | flags)
    os.read(o, 100)
    os.close(o)

def mapped():
    import mmap
    with open(f, "rb") as o, mmap.mmap(o.fileno(), 0, prot=mmap.PROT_READ) as m:
        m[3]

def read_open():
    o = os.open(f, os.O_RDWR)
    os.read(o, 100)
    told.append(os.fstat(o).st_atime_ns)
    os.close(o)

def read_set():
    o = os.open(f, os.O_RDONLY)
    os.read(o, 100)
    os.utime(o, ns=(2 * 10**12, 10**11))
    os.close(o)

def seen(what, do):
    before = os.stat(f).st_atime_ns
    time.sleep(0.02) # coarse clocks
    told[:] = []
    do()
    after = told[0] if told else os.stat(f).st_atime_ns
    print(what, "later" if after > before else
          "same" if after == before else "earlier")

told = []
now = time.time_ns()
write()
seen("a first read", read)
seen("a second read", read)
seen("a write", write)
seen("a read behind it", read)
seen("and again", read)
seen("chmod", lambda: os.chmod(f, 0o640))
seen("a read behind it", read)
seen("utime, atime ahead", lambda: os.utime(f, ns=(now + 10**12, now)))
seen("a read then", read)
seen("a write", write)
seen("a read before that atime", read)
seen("utime, long ago", lambda: os.utime(f, ns=(10**12, 10**11)))
seen("O_NOATIME", lambda: read(os.O_NOATIME))
seen("a read", read)
seen("O_NOATIME", lambda: read(os.O_NOATIME))
seen("utime, long ago", lambda: os.utime(f, ns=(10**12, 10**11)))
seen("set behind a read", read_set)
seen("utime, long ago", lambda: os.utime(f, ns=(10**12, 10**11)))
seen("as it is open", read_open)
seen("and again", read_open)
write()
seen("a mapping", mapped)
