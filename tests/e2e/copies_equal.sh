#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Files with two copies: four clients change files of their own and shared files at the same time, by
# libpvfs, by programs that bypass the mount, and by the mount. Then both copies of each object are
# equal, and contain what the clients wrote.
. "$(dirname "$0")/functions.sh"
. "$e2e/copysets.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

# ---- the clients ----

sizes="1 100 3901 4096 65536 65537 300000 1048576 4200000"

# change_shared FILE SEED: programs change a file that all clients change.
change_shared() {
	local file=$1 seed=$2 n

	for n in 70000 1 262144 5000 900000; do
		dd if="$tmp/source" of="$file" bs=$n count=1 conv=notrunc \
			oflag=seek_bytes seek=$((seed * 17777 + n % 1000)) status=none || return
		truncate -s $((300000 + seed * 1000 + n)) "$file" || return
		fallocate -p -o $((seed * 4096)) -l $((n + 10000)) "$file" || return
		fallocate -o $((seed * 100000)) -l $n "$file" || return
	done
}

# use_programs DIR SEED LOG: programs make files of their own in DIR, and append to a log of all
# clients.
use_programs() {
	local dir=$1 seed=$2 log=$3 n i

	mkdir "$dir" || return
	for n in $sizes; do
		head -c $n "$tmp/source" >"$tmp/own$seed"
		cp "$tmp/own$seed" "$dir/$n" || return
		cp "$dir/$n" "$dir/copy" || return
		cmp "$dir/copy" "$tmp/own$seed" || return
		rm "$dir/copy" || return
	done
	for i in {1..60}; do
		dd if="$tmp/record" of="$log" oflag=append conv=notrunc status=none ||
			return
	done
}

# use_libpvfs LOG SEED
use_libpvfs() {
	local n

	pvfs-mkdir /pvfs/lib && change_shared_by_libpvfs || return
	for n in $sizes; do
		pvio write /pvfs/lib/$n 0 $n 5 && pvio check /pvfs/lib/$n 0 $n 5 &&
			pvfs-cp -q /pvfs/lib/$n /pvfs/lib/copy &&
			pvio check /pvfs/lib/copy 0 $n 5 && pvfs-rm /pvfs/lib/copy || return
	done
	pvio append "$1" 60 100 record && lib_append /pvfs &&
		lib_copy /pvfs "$tmp" &&
		lists "$2" $cases /pvfs/lists "$tmp/lists$2" &&
		lib_counter /pvfs/rules rules </dev/null
}
change_shared_by_libpvfs() {
	local n

	for n in 70000 1 262144 5000 900000 3000000; do
		pvio write /pvfs/shared $((n % 1000)) $n $n &&
			pvio truncate /pvfs/shared $((400000 + n)) || return
	done
}

use_mount() { use_programs "$m/mount" 1 "$m/log" && change_shared "$m/shared" 1; }
use_preload() {
	past_all
	use_programs "$m/preload" 2 "$m/log" && change_shared "$m/shared" 2
}
# use_model SEED: with libpvfs, then in the mount
use_model() {
	model "$1" $steps "/pvfs/model$1" "$tmp/model$1" &&
		model "$1" $steps "$m/model$1.mounted" "$tmp/model$1.mounted"
}

# ---- the test ----

clients=()
start_client() {
	"$@" >"$tmp/client.$1" 2>&1 &
	clients+=($!)
}
await_clients() {
	local failed=

	for client in "${clients[@]}"; do wait "$client" || failed=1; done
	clients=()
	[ ! "$failed" ] || fail "a client failed: $(tail -n 5 "$tmp"/client.*)"
}

# check_own DIR: the files that use_programs made
check_own() {
	local n

	for n in $sizes; do
		pvfs-cat "$1/$n" | cmp - <(head -c "$n" "$tmp/source") || fail "$1/$n differs"
	done
}

check_log() {
	must pvfs-cat /pvfs/log >"$tmp/log"
	[ "$(grep -ac '^record ' "$tmp/log")" = 180 ] || fail "records are lost"
	[ "$(wc -c <"$tmp/log")" = 18000 ] || fail "bytes of the log are lost"
}

check_copies() {
	until_true 60 copies_equal 2
	[ "$(copied_objects | wc -l)" -gt 50 ] || fail "there are too few objects"
}

head -c 4200000 /dev/urandom >"$tmp/source"
printf 'record %-92s\n' of >"$tmp/record"
m=$tmp/m
steps=400 cases=60
# a tmpfs does not support FALLOC_FL_ZERO_RANGE
[ "$(stat -f -c %T "$tmp")" != tmpfs ] || export MODEL_NO_ZEROING=1
export PVFS_TIMEOUT=120

for iods in 3 4; do
	start_pvfs -n $iods
	copysets copies 2
	mount_at "$m"
	expect ok pvio write /pvfs/shared 0 100 1
	start_client use_libpvfs /pvfs/log $iods
	start_client use_mount
	start_client use_preload
	start_client use_model $iods
	await_clients
	check_copies
	check_own /pvfs/mount
	check_own /pvfs/preload
	check_log
	pvfs-cat /pvfs/shared | cmp - "$m/shared" || fail "the shared file differs in the mount"
	must rm -r "$m"/*
	no_objects() { [ "$(objects)" = 0 ]; }
	until_true 60 no_objects
	unmount "$m" $daemon
	must cluster stop
	state=$tmp/next
done
