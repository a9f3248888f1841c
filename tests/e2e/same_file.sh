#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The path of a file in pvfstab and its path in a mount name one file. The tools, and programs with
# the preload library, do not copy it onto itself, nor a tree into itself.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

start_pvfs -n 3
mkdir "$tmp/point"
mount_at "$tmp/m"
mount_at "$tmp/m2" -o cache=open
mkdir "$tmp/bound"
mount --bind "$tmp/m" "$tmp/bound" || skip "cannot bind a mount"
shown=("$tmp/bound" "${shown[@]}") # unmounted before the mount itself
sed "s, /pvfs , $tmp/point ," "$PVFSTAB_FILE" >"$tmp/pvfstab"
export PVFSTAB_FILE=$tmp/pvfstab
p=$tmp/point m=$tmp/m

head -c 200000 /dev/urandom >"$tmp/data"
cp "$tmp/data" "$tmp/local"
fresh() {
	rm -rf "$m"/*
	mkdir -p "$m/d/sub"
	cp "$tmp/data" "$m/d/f"
	cp "$tmp/data" "$m/d/sub/g"
	ln "$m/d/f" "$m/d/hard"
	ln -s f "$m/d/soft"
}
whole() {
	cmp "$tmp/data" "$m/d/f" || fail "$why_whole: f is not what it was"
	cmp "$tmp/data" "$m/d/sub/g" || fail "$why_whole: g is not what it was"
}
# refused MESSAGE COMMAND...: fails with that message, and both files stay as they are
refused() {
	local message=$1
	shift
	why_whole=$*
	if [ "$1" = past ]; then must_fail past timeout 60 "${@:2}"
	else must_fail timeout 60 "$@"; fi
	grep -q -- "$message" "$tmp/output" ||
		fail "$*: '$(head -c 300 "$tmp/output")' instead of '$message'"
	whole
}
same() { refused "same file" "$@"; }

# ---- pvfs-cp, pvfs-mv ----

fresh
for other in "$m" "$tmp/m2" "$tmp/bound"; do
	for file in f $([ "$other" = "$m" ] && echo hard soft); do
		same pvfs-cp "$p/d/f" "$other/d/$file"
		same pvfs-cp "$other/d/f" "$p/d/$file"
		same pvfs-cp --verify "$p/d/$file" "$other/d/f"
		same pvfs-cp -p "$other/d/$file" "$p/d/f"
	done
	same pvfs-cp -r "$p/d" "$other/"
	same pvfs-cp -a "$other/d" "$p/"
	refused "into itself" pvfs-cp -r "$other/d" "$p/d/in"
	refused "into itself" pvfs-cp -r "$p/d" "$other/d/sub/in"
	rm -rf "$m/d/in" "$m/d/sub/in"
	same pvfs-mv "$p/d/f" "$other/d/f"
done
refused "input file is output file" bash -c 'pvfs-cat "$1" >>"$2"' bash "$p/d/f" "$m/d/f"
# a link to the target does not replace the target
same pvfs-cp -r "$m/d/soft" "$p/d/f"
same pvfs-cp -r "$p/d/soft" "$p/d/f"
[ -L "$m/d/soft" ] || fail "the link is gone"

# ---- programs with the preload library ----

has_one_dev() {
	local file=$1
	shift
	expect "$(past stat -c %d:%i "$p/d/$file")" past "$@"
}
for other in "$m" "$tmp/m2" "$tmp/bound"; do
	has_one_dev f stat -c %d:%i "$other/d/f"
	has_one_dev sub stat -c %d:%i "$other/d/sub"
	has_one_dev soft stat -c %d:%i "$other/d/soft"
	has_one_dev .. stat -c %d:%i "$other"
	has_one_dev f stat -L -c %d:%i "$other/d/soft"
	same past cp "$p/d/f" "$other/d/f"
	same past cp "$other/d/f" "$p/d/f"
	same past cp -r "$p/d" "$other/"
	same past mv "$p/d/f" "$other/d/f"
	same past mv "$other/d/f" "$p/d/f"
	refused "into itself" past cp -r "$other/d" "$p/d/in"
	rm -rf "$m/d/in"
	must past env test "$p/d/f" -ef "$other/d/f"
	must past bash -c '[ "$1" -ef "$2" ]' bash "$other/d/sub" "$p/d/sub"
	refused "input file is output file" \
		past bash -c 'cat "$1" >>"$2"' bash "$p/d/f" "$other/d/f"
	refused "input file is output file" \
		past bash -c 'cat "$1" >>"$2"' bash "$other/d/f" "$p/d/f"
done
if command -v python3 >/dev/null; then
	must past timeout 60 python3 - "$p/d" "$m/d" <<-'END'
	import os, sys
	p, m = sys.argv[1:]
	for name in "f", "sub", "soft":
	    assert os.path.samefile(p + "/" + name, m + "/" + name), name
	a, b = (os.open(x, os.O_RDONLY) for x in (p, m))
	path = os.open(m + "/f", os.O_PATH)
	here = os.open(m + "/f", os.O_RDONLY)
	want = os.stat("f", dir_fd=a)
	link = os.lstat("soft", dir_fd=a)
	def one(what, st, want=want):
	    assert (st.st_dev, st.st_ino) == (want.st_dev, want.st_ino), what
	one("path at a directory", os.stat("f", dir_fd=b))
	one("link at a directory", os.lstat("soft", dir_fd=b), link)
	one("descriptor", os.fstat(here))
	one("O_PATH", os.fstat(path))
	os.chdir(m)
	one("relative", os.stat("d/../f"[5:]))
	one("directory", os.stat("."), os.stat(p))
	# other mounts are not affected
	assert os.stat("/").st_dev != want.st_dev
	assert os.stat("/proc").st_dev != want.st_dev
	END
fi
if command -v rsync >/dev/null; then
	must past rsync -a "$p/d/" "$m/d/"
	why_whole=rsync whole
fi
# one file is counted once, and an archive does not contain itself
expect "$(past du -s "$p/d" | cut -f1)" eval 'past du -sc "$p/d" "$m/d" | tail -n 1 | cut -f1'
past tar cf "$p/d/self.tar" -C "$m" d 2>"$tmp/output"
grep -q "is the archive" "$tmp/output" || fail "tar: $(<"$tmp/output")"
why_whole=tar whole
expect "$(find "$m/d" | wc -l)" eval 'past find "$m/d" -xdev | wc -l'
expect 3 eval 'past find -L "$p/d" -samefile "$m/d/f" | wc -l'

# ---- the root of a mount ----

# all entries of a directory, "." and ".." too, with their numbers of readdir(3)
listed() { (cd "$1" && "${@:2}" ls -aiU1 | sed 's/^ *//' | sort); }
mkdir "$tmp/inner"
mount --bind "$m/d" "$tmp/inner"
shown=("$tmp/inner" "${shown[@]}")
count=$(find "$m" -type f | wc -l)
for how in env past; do
	for other in "$m" "$tmp/m2" "$tmp/bound"; do
		expect "$(pvfs-stat "$p" | awk '$1 == "handle" { print $2 }')" \
			eval 'printf "%016x\n" "$($how stat -c %i "$other")"'
		expect "$($how stat -c %d "$other/d")" $how stat -c %d "$other"
		expect "$($how stat -c %i "$other")" $how stat -c %i "$other/d/.."
		expect "$(cd "$other/d" && stat -c '%i %n' . .. * | sort)" \
			listed "$other/d" $how
		expect "$count" eval '$how find "$other" -xdev -type f | wc -l'
		mkdir "$tmp/out"
		must $how cp -ax "$other/." "$tmp/out"
		must diff -r "$other" "$tmp/out"
		rm -r "$tmp/out"
		expect "$(tar -c -C "$other" . | tar -t | wc -l)" \
			eval '$how tar -c --one-file-system -C "$other" . | tar -t | wc -l'
		expect "$($how du -s "$other" | cut -f1)" eval '$how du -sx "$other" | cut -f1'
		must $how mountpoint -q "$other"
		must_fail $how mountpoint -q "$other/d"
	done
	expect "$($how stat -c %d "$m")" $how stat -c %d "$tmp/inner"
	expect "$($how stat -c %i "$m/d")" $how stat -c %i "$tmp/inner"
	expect "$(find "$m/d" -type f | wc -l)" eval '$how find "$tmp/inner" -xdev -type f | wc -l'
done
must past env test "$p" -ef "$m"
must past env test "$tmp/bound" -ef "$p"
must past env test "$tmp/inner" -ef "$p/d"
if command -v rsync >/dev/null; then
	must past rsync -ax "$m/" "$tmp/out"
	must diff -r "$m" "$tmp/out"
	rm -r "$tmp/out"
fi

# ---- mounts come and go ----

if command -v python3 >/dev/null; then
	shown+=("$tmp/m3")
	must past timeout 60 python3 - "$p/d/f" "$tmp/m3" "$fuse" <<-'END'
	import os, subprocess, sys, time
	p, m, fuse = sys.argv[1:]
	root = os.path.dirname(os.path.dirname(p))
	os.mkdir(m)
	want = os.stat(p)
	alone = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
	def run(*args):
	    subprocess.run(args, check=True, env=alone)
	for turn in range(3):
	    run("mount", "-t", "tmpfs", "none", m)
	    tmpfs = os.stat(m).st_dev
	    run("umount", m)
	    daemon = subprocess.Popen([fuse, root, m, "-f"], env=alone)
	    while not os.path.ismount(m):
	        time.sleep(0.01)
	    st = os.stat(m + "/d/f")
	    assert st.st_dev == want.st_dev, "a number that tmpfs had"
	    run("umount", m)
	    assert not daemon.wait()
	    assert os.stat(m).st_dev != want.st_dev, "the mount has ended"
	    run("mount", "-t", "tmpfs", "none", m)
	    assert os.stat(m).st_dev != want.st_dev, "a number that PVFS had"
	    run("umount", m)
	END
fi
