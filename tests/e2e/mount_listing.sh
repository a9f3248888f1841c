#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Lists large directories with all attributes through a mount. The result is the same as on a local
# file system, a request returns many entries, and attributes are never older than the mount's
# options allow.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

entries=${E2E_LISTED:-640}
start_pvfs -n 2

# requests: prints the number of requests that the manager has served
requests() {
	pvfs-ping | awk '$1 == "mgr" && $3 == "up" { print $8 }'
}

# Files of every type, mode, size and age; the same on both file systems.
cat >"$tmp/fill.py" <<'END'
import os, socket, sys
n = int(sys.argv[2])
os.umask(0)
os.chdir(sys.argv[1])
for i in range(n):
    name, kind = "entry %05d" % i, i % 16
    if kind == 13:
        os.symlink("to" * (i % 40 + 1), name)
        continue
    if kind == 14:
        os.mkdir(name, 0o700 | i % 0o77)
    elif kind == 15:
        os.mkfifo(name, 0o600)
    else:
        with open(name, "wb") as f:
            f.write(b"x" * (i * 7 % 3000))
        os.chown(name, i % 500, i % 300)
        os.chmod(name, i % 0o10000)
    os.utime(name, ns=(i * 1000000007, i * 3000000019))
END

# told DIR: prints a listing with all attributes, without the sizes of directories
told() {
	(cd "$1" && find . -mindepth 1 \
		\( -type d -printf '%P %y %m %U:%G %n\n' \) -o \
		\( -type l -printf '%P %y %s %l\n' \) -o \
		-printf '%P %y %m %U:%G %n %s %T@ %A@\n' | LC_ALL=C sort)
}

same() {
	diff "$tmp/want" "$tmp/have" >"$tmp/diff" && return
	head -n 20 "$tmp/diff"
	fail "$1: told otherwise"
}

mkdir "$tmp/local"
must python3 "$tmp/fill.py" "$tmp/local" "$entries"
told "$tmp/local" >"$tmp/want"
[ "$(wc -l <"$tmp/want")" = "$entries" ] || fail "not all were made"

for cache in none open; do
	mount_at "$tmp/a" -o cache=$cache
	rm -rf "$tmp/a/d"
	mkdir "$tmp/a/d"
	must python3 "$tmp/fill.py" "$tmp/a/d" "$entries"
	told "$tmp/a/d" >"$tmp/have"
	same "cache=$cache"
	unmount "$tmp/a" $daemon
done

# If names may be cached, no entry costs a request of its own.
mount_at "$tmp/a" -o attr_timeout=3600,entry_timeout=3600
before=$(requests)
told "$tmp/a/d" >"$tmp/have"
after=$(requests)
same "with attributes"
# each link is read, and each directory opened, read and closed
others=$(awk '$3 == "l" { n++ } $3 == "d" { n += 3 } END { print n }' "$tmp/want")
took=$((after - before - others))
say "$entries entries in $took requests, and $others for links and directories"
[ $took -lt $((entries / 8)) ] || fail "an entry takes a request"
unmount "$tmp/a" $daemon

# Changes by others are visible immediately without a cache, and changes made here always. The
# process listed the directory before, or is still listing it.
cat >"$tmp/change.py" <<'END'
import os, sys
here, there = sys.argv[1:3]
os.chdir(here)
kinds = lambda n: int(n[-5:]) % 16 < 13
with os.scandir(".") as it:
    names = [e.name for e in it if kinds(e.name)]
late = names[-len(names) // 2::8]
changed = 0
with os.scandir(".") as it:
    for n, e in enumerate(it):
        if n == 3: # what is not listed yet, by our own hand or theirs
            for name in late:
                with open(os.path.join(there, name), "r+b") as f:
                    f.truncate(int(name[-5:]) + 5000)
        if e.name in late:
            size = e.stat(follow_symlinks=False).st_size
            assert size == int(e.name[-5:]) + 5000, (e.name, size)
            changed += 1
assert changed == len(late), (changed, len(late))
# a file that is being written has its current size
with open(os.path.join(there, names[0]), "r+b", buffering=0) as f:
    f.truncate(0)
    for size in 10000, 20000, 30000:
        f.seek(size - 1)
        f.write(b"x")
        with os.scandir(".") as it:
            have = {e.name: e.stat(follow_symlinks=False).st_size for e in it}
        assert have[names[0]] == size, (have[names[0]], size)
END
mount_at "$tmp/a" -o attr_timeout=3600,entry_timeout=3600
must python3 "$tmp/change.py" "$tmp/a/d" "$tmp/a/d"
unmount "$tmp/a" $daemon
for options in cache=none cache=open,attr_timeout=0,entry_timeout=0 \
	cache=open,attr_timeout=0,entry_timeout=3600; do
	mount_at "$tmp/a" -o $options
	first=$daemon
	mount_at "$tmp/b" -o $options
	must python3 "$tmp/change.py" "$tmp/a/d" "$tmp/b/d"
	unmount "$tmp/a" $first
	unmount "$tmp/b" $daemon
done
