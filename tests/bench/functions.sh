# SPDX-License-Identifier: BSD-2-Clause
# functions.sh - functions of the scripts that compare two measurements; sourced (bash) with $build,
# a release build.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tmp=$(mktemp -d /dev/shm/pvfs-bench.XXXXXX) || exit 1
trap finish EXIT

finish() {
	stop
	rm -rf "$tmp"
}

stop() {
	[ -d "$tmp/state" ] || return 0
	PVFS_BUILD=$build "$top/scripts/cluster" stop -d "$tmp/state" >/dev/null
	rm -rf "$tmp/state"
}

# start [CLUSTER-OPTION...]: a file system with 4 iods in memory, at /pvfs, in
# place of the one before.
start() {
	stop
	PVFS_BUILD=$build "$top/scripts/cluster" start -d "$tmp/state" -n 4 \
		--port 0 "$@" >"$tmp/log" 2>&1 || { cat "$tmp/log" >&2; exit 1; }
	export PVFSTAB_FILE=$tmp/state/pvfstab
}

# start_munged: a munged of its own, with socket $tmp/socket, until stop_munged.
start_munged() {
	(umask 077; head -c 128 /dev/urandom >"$tmp/key")
	munged --foreground --force --key-file="$tmp/key" --socket="$tmp/socket" \
		--pid-file="$tmp/pid" --log-file="$tmp/munged.log" --seed-file="$tmp/seed" \
		>"$tmp/munged.out" 2>&1 & munged=$!
	for ((k = 0; k < 100; k++)); do
		munge -s x -S "$tmp/socket" >/dev/null 2>&1 && return
		sleep 0.1
	done
	cat "$tmp/munged.out" "$tmp/munged.log" >&2
	exit 1
}

stop_munged() {
	[ -n "${munged:-}" ] || return 0
	kill "$munged"
	wait "$munged" || true
}

# start_memfs: a FUSE file system in memory at $tmp/f.
start_memfs() {
	mkdir "$tmp/f"
	"$build/tests/bench/mount/memfs" "$tmp/f" &
	memfs=$!
	until mountpoint -q "$tmp/f"; do
		kill -0 "$memfs" 2>/dev/null || { echo "memfs does not mount" >&2; exit 1; }
		sleep 0.1
	done
}

stop_memfs() {
	umount "$tmp/f"
	wait "$memfs"
}

# as LETTER COMMAND...: its lines, each behind the round ($k) and the letter.
as() {
	local letter=$1
	shift
	"$@" | sed "s/^/$k $letter /"
}

# micros COMMAND...: runs it, and says how many microseconds that took.
micros() {
	local since=${EPOCHREALTIME/[.,]/}

	"$@" >/dev/null || { echo "$0: $* failed" >&2; exit 1; }
	echo $((${EPOCHREALTIME/[.,]/} - since))
}

# table PROGRAM: lines as of as(), the figure behind the row's name, by an awk
# program that has median(list); of[ROUND, LETTER, ROW], all[LETTER, ROW],
# order[1..rows] and last (round).
table() {
	awk '
	function median(list, a, n, i, j, t) {
		n = split(list, a, " ")
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && a[j - 1] + 0 > a[j] + 0; j--) {
				t = a[j]; a[j] = a[j - 1]; a[j - 1] = t
			}
		return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
	}
	# The median of the rounds x / y.
	function ratio(x, y, row, list, r) {
		for (r = 0; r <= last; r++)
			list = list " " of[r, x, row] / of[r, y, row]
		return median(list)
	}
	function more(x, y, row, list, r) { # x - y
		for (r = 0; r <= last; r++)
			list = list " " of[r, x, row] - of[r, y, row]
		return median(list)
	}
	!($3 in seen) { seen[$3] = 1; order[++rows] = $3 }
	{ all[$2, $3] = all[$2, $3] " " $4
	  of[$1, $2, $3] = $4
	  if ($1 > last) last = $1 }
	END { if (!rows) exit 1 }'"$1"
}
