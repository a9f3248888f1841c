#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Clients read frequently used blocks from memory that the iods share; the transport simulates an
# adapter. A read always returns what a request would return, also while the data changes and while
# an iod is killed. The iods get few requests.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 3 --set iod.ends=all --set iod.share=4M
expect ok lib_warm /pvfs/rules rules </dev/null

before=$(requests_of READ)
must lib_warm /pvfs/read reads 2000 </dev/null >"$tmp/read"
asked=$(($(requests_of READ) - before))
read -r shared n < <(without_of "$tmp/read")
say "$n reads, $shared without a request, $asked requests"
[ "$shared" -ge $((n / 2)) ] || fail "too few were read"
[ "$asked" -le $((n / 2)) ] || fail "$asked requests for $n reads"

# race SECONDS: as above, while the blocks change
race() {
	lib_warm /pvfs/race race 3 "$1" >"$tmp/raced" 2>"$tmp/err" </dev/null ||
		{ cat "$tmp/raced" "$tmp/err"; return 1; }
	say "$(<"$tmp/raced")"
}
race 4 || fail "a wrong block"
read -r shared n < <(without_of "$tmp/raced")
[ "$shared" -gt 100 ] || fail "too few were read"

race 5 &
raced=$!
helpers+=($raced)
iod_comes_and_goes 1
wait $raced || fail "a wrong block, while an iod was killed"
must cluster stop

# tab OPTION...: a mount with these options in $tmp/tab
tab() {
	sed "s|pvfs port=\([0-9]*\),transport=[a-z]*|pvfs port=\1,$1|" \
		"$state/pvfstab" >"$tmp/$2"
}
logged() { grep -q -- "$1" "$(log_of iod0)" || fail "$(cat "$(log_of iod0)")"; }

# an object that is lent for writing to a program on this host is not shared meanwhile
if [ "$(stat -f -c %T "$tmp")" = tmpfs ]; then
	state=$tmp/lent
	start_pvfs -n 3 --transport pvfs --set iod.ends=all --set iod.share=4M
	tab transport=local local
	tab transport=tcp tcp
	PVFSTAB_FILE=$tmp/tcp expect ok lib_warm /pvfs/lent lent "$tmp/local" </dev/null
	must cluster stop
fi

# other users could not read it
state=$tmp/unread
start_pvfs -n 1 --transport tcp --set iod.share=4M
logged 'share = 4096 KiB is not used: no adapter'
must cluster stop

# sharing is off if a memory key would give access to more than a client may read; also for clients
# with the file system's key
export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
for auth in key munge; do
	state=$tmp/$auth
	start_pvfs -n 1 --transport pvfs --set "filesystem.auth=$auth" \
		--set filesystem.key_user=daemon --set iod.ends=all --set iod.share=4M
	logged 'share = 4096 KiB is not used: .*auth is not sys'
	grep 'open to RDMA Reads' "$(log_of iod0)" && fail "it is open with $auth"
	must cluster stop
done
