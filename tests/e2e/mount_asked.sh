#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Calls through a mount send no more requests to the servers than they need.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

requires tool setfacl
n=${E2E_FILES:-60}
start_pvfs -n 3

# prints the number of requests that the manager has served
mgr() { pvfs-ping | awk '$1 == "mgr" && $3 == "up" { print $8 }'; }

# asked WHAT AT-MOST COMMAND...: each of n files costs at most AT-MOST requests to the manager
asked() {
	local before took

	before=$(mgr)
	must "${@:3}"
	took=$(($(mgr) - before - itself))
	say "$1: $took requests for $n files"
	[ $took -le $(($2 * n + 12)) ] || fail "$1: $took requests, $2 a file are enough"
}
itself=$(mgr)
itself=$(($(mgr) - itself)) # by pvfs-ping

cat >"$tmp/do.py" <<'END'
import os, sys
what, n, dir = sys.argv[1], int(sys.argv[2]), sys.argv[3]
names = ["%s/%d" % (dir, i) for i in range(n)]
def lists(name):
    for which in "access", "default":
        try:
            os.getxattr(name, "system.posix_acl_" + which)
            sys.exit(name + " has a list")
        except OSError:
            pass
def make(name):
    os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o664))
for name in names:
    globals()[what](name)
END
files() { python3 "$tmp/do.py" "$1" $n "$2"; }

# Attributes include that there is no access control list, and are valid while they are cached.
mount_at "$tmp/m" -o attr_timeout=3600,entry_timeout=3600
first=$daemon
mkdir "$tmp/m/d"
must files make "$tmp/m/d"
asked lists 0 files lists "$tmp/m/d"
unmount "$tmp/m" $first
mount_at "$tmp/m" -o attr_timeout=3600,entry_timeout=3600
asked list 0 ls -l "$tmp/m/d"
asked lists 0 files lists "$tmp/m/d"
# ... a list that is set here is visible at once
setfacl -m u:1002:rw "$tmp/m/d/1"
must_fail files lists "$tmp/m/d"
must getfacl "$tmp/m/d/1" >"$tmp/list"
must grep -q user:1002 "$tmp/list"
setfacl -b "$tmp/m/d/1"
must files lists "$tmp/m/d"
unmount "$tmp/m" $daemon
# ... and one set by another host at once if nothing is cached
mount_at "$tmp/m"
first=$daemon
mount_at "$tmp/b"
must files lists "$tmp/m/d"
setfacl -m u:1002:rw "$tmp/b/d/1"
getfacl "$tmp/m/d/1" >"$tmp/list"
must grep -q user:1002 "$tmp/list"
unmount "$tmp/m" $first
unmount "$tmp/b" $daemon

# A removal costs one request, and one for the lookup. The kernel asks for the attributes of the
# directory after each removal; they came with the reply. Changes by others are visible.
cat >"$tmp/remove.py" <<'END'
import os, sys
n, name = int(sys.argv[1]), sys.argv[2]
dir = os.open(name, os.O_RDONLY)
for i in range(n):
    os.unlink(str(i), dir_fd=dir)
END
cat >"$tmp/both.py" <<'END'
import os, sys, threading
os.chdir(sys.argv[1])
dir = os.open(".", os.O_RDONLY)
for i in range(20):
    os.close(os.open("f", os.O_CREAT))
    os.unlink("f", dir_fd=dir)
    other = threading.Thread(target=os.mkdir, args=(str(i),), kwargs={"dir_fd": dir})
    other.start()
    other.join()
    assert os.fstat(dir).st_nlink == 3 + i, (os.fstat(dir), i)
END
for options in cache=none attr_timeout=3600; do
	mount_at "$tmp/m" -o $options
	mkdir "$tmp/m/$options"
	must python3 "$tmp/both.py" "$tmp/m/$options"
	[ $options = cache=none ] ||
		asked remove 2 python3 "$tmp/remove.py" $n "$tmp/m/d"
	unmount "$tmp/m" $daemon
done

# If only this mount writes a file, it asks no iod for the size, and sets the times by one request.
iods() { pvfs-ping | awk '$1 == "iod" && $4 == "up" { n += $9 } END { print n }'; }
cat >"$tmp/write.py" <<'END'
import os, sys
n, name = int(sys.argv[1]), sys.argv[2]
fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
for i in range(n):
    os.utime(fd, ns=(i, i))
    os.fchmod(fd, 0o600 + i % 8)
    assert os.fstat(fd).st_size == i
    os.pwrite(fd, b"x", i)
    assert os.fstat(fd).st_size == i + 1
    assert os.stat(name).st_size == i + 1
END
mount_at "$tmp/m"
python3 "$tmp/write.py" 1 "$tmp/m/w" # what there is to ask once, is
here=$(iods)
ping=$(($(iods) - here))
here=$(iods)
# per file: set, chmod, two or three requests, and one for the directory
asked 'write and look' 7 python3 "$tmp/write.py" $n "$tmp/m/w"
took=$(($(iods) - here - ping))
say "write and look: $took requests to iods for $n writes"
[ $took -le $((2 * n)) ] || fail "$took requests to iods for $n writes"
unmount "$tmp/m" $daemon
