#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs keep the descriptor of a lent object, and are evicted. Their writes to this descriptor
# reach no file, even if the iod was restarted later, once or repeatedly, or ended during the
# eviction.
export E2E_IN_MEMORY=1
. "$(dirname "$0")/functions.sh"
requires tool python3

# keeps NAME: starts a program that keeps its object; its session is in $id
declare -A end
keeps() {
	mkfifo "$1"
	pvkeep "/pvfs/$1.f" <"$1" >"$1.said" 2>"$1.err" & kept=$!
	helpers+=("$kept")
	exec {end[$1]}>"$1"
	until_true 60 grep -q . "$1.said"
	grep -qx kept "$1.said" || fail "$1: $(cat "$1.said" "$1.err")"
	id=$(pvfs-evict --list --json /pvfs | python3 -c '
import json, sys
print(*(o["session"] for o in json.load(sys.stdin) if ":%s:" % sys.argv[1] in o["program"]))' "$kept")
}
writes() { # NAME WHAT: by its descriptor; then the file has that
	echo -n x >&"${end[$1]}"
	until_true 30 grep -qx written "$1.said"
	expect "$2" pvfs-cat "/pvfs/$1.f"
}

# with NAME: starts other servers, and a program that keeps its object
with() {
	state=$tmp/of.$1
	start_pvfs -n 1 --transport pvfs
	[ "$(stat -f -c %T "$state")" = tmpfs ] || skip "nothing is lent for writing: no tmpfs"
	pvfs-ping | grep -q 'lends objects, for writing too' || skip "nothing is lent for writing"
	keeps $1.in
}
evicted() { expect "1 session evicted" pvfs-evict -s "$id" /pvfs; }
again() { # HOW it ends
	must cluster "$1-iod" 0
	must cluster start-iod 0
}

# ---- a client that is not evicted breaks the rules ----

with free
writes free.in FIRST

# ---- evicted clients ----

with plain
evicted
writes plain.in first

# ---- an iod that was restarted before, killed or not ----

for how in kill stop; do
	with $how
	again $how
	evicted
	writes $how.in first
done

# ---- twice: the one in the middle had lent nothing ----

with twice
again kill
again stop
evicted
writes twice.in first

# ---- an iod that does not run: writes until it runs are there, later ones are not ----

with down
must cluster kill-iod 0
must pvfs-evict -s "$id" /pvfs >said 2>&1
grep -q 'iod 0 cannot be reached from here (.*start the iod, or end these programs' said || fail "$(cat said)"
must cluster start-iod 0
writes down.in first

# ---- one that is killed before it has answered ----

with middle
stand_still "$(cluster pid 0)"
must_fail pvfs-evict -t 2000 -s "$id" /pvfs
again kill
until_true 60 eval 'pvfs-evict -s "$id" /pvfs 2>&1 | grep -q "no such session"'
writes middle.in first
