#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Which users may evict, and see sessions. Programs on an evicted mount lose only their open files.
# Clients on this host that read and write without requests are evicted, too.
export E2E_IN_MEMORY=1 # what is lent can be set aside there
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
requires tool python3

start_pvfs -n 2 --transport pvfs
logged() { grep -q -- "$2" "$(log_of "$1")"; }

# ---- permission ----

if command -v setpriv >/dev/null; then
	chmod 755 "$tmp" "$state" && chmod 644 "$state/pvfstab"
	public pvfs-evict
	for words in "-l" "-u 0" "-H local" "-s 1234"; do
		must_fail as_user 12345 12345 '' pvfs-evict $words /pvfs
		grep -q 'only root and the user that the manager runs as may do that' "$tmp/output" ||
			fail "$words: $(cat "$tmp/output")"
		grep '^session ' "$tmp/output" && fail "$words: a heading of nothing"
	done
fi

# ---- a mount: its open files, and it stays ----

mount_at "$tmp/m"
echo first >"$tmp/m/file"
exec 6>>"$tmp/m/file"
exec 7<"$tmp/m/file"
must eval 'echo second >&6'
id=$(pvfs-evict -l /pvfs | awk '/:pvfs-fuse$/ { print $1 }')
expect "1 session evicted" pvfs-evict -s "$id" /pvfs
must_fail eval 'echo third >&6'
must_fail eval 'dd bs=1 count=1 <&7'
# a client that opens the file now can read it, even if others had it open before
expect "first
second" cat "$tmp/m/file"
must eval 'echo third >>"$tmp/m/file"'
must_fail eval 'echo fourth >&6'
exec 6>&- 7<&-
expect 3 eval 'grep -c . "$tmp/m/file"'
grep -q 'an administrator ended the session that had it open' "$state/log/fuse0.log" ||
	fail "$(cat "$state/log/fuse0.log")"
unmount "$tmp/m" $daemon

# ---- lent objects are replaced ----

must pvio write /pvfs/lent 0 60000 1
pvio flood /pvfs/lent 60000 >said 2>err & flood=$!
helpers+=("$flood")
until_true 30 grep -q holding said
lent() { pvfs-ping | grep -c 'lends objects, for writing too'; }
without() { # requests: it has a loan
	local before=$(requests_of WRITE)

	sleep 0.2
	[ "$(requests_of WRITE)" = "$before" ]
}
lends=
if [ "$(stat -f -c %T "$state")" = tmpfs ] && [ "$(lent)" = 2 ]; then
	lends=1
	until_true 30 without
else
	say "nothing is lent for writing here"
fi
expect "1 session evicted" pvfs-evict -u "$(id -u)" /pvfs
must pvfs-cat /pvfs/lent >before
wait $flood && fail "the writer goes on"
grep -Eqx 'ESTALE|ECONNABORTED' said || fail "$(cat said err)"
must pvfs-cat /pvfs/lent >behind
cmp before behind || fail "written after the answer"
set_aside() { cat "$(log_of iod0)" "$(log_of iod1)" | grep -q 'replaced by a copy, because it was lent to evicted session'; }
[ -z "$lends" ] || until_true 30 set_aside
