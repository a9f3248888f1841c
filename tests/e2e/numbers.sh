#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A client that only knows the numbers of other clients' sessions connects to a restarted server
# before them, repeatedly. The clients and the manager reconnect all the same, with the state of
# their sessions.
. "$(dirname "$0")/functions.sh"
requires tcp
requires tool python3

export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
start_pvfs -n 1 --transport pvfs --set filesystem.auth=key \
	--set "filesystem.key_user=$(id -un)"
fsid=$(conf_value filesystem id)
sed -i "s|transport=[a-z]*|transport=tcp,auth=key,key=$state/key|" "$state/pvfstab"
mkfifo fifo
pvio hold /pvfs/held <fifo >holder 2>&1 & held=$!
helpers+=("$held")
exec 5>fifo
until_true 30 grep -q holding holder
expect ok pvio write /pvfs/file 0 1000 1

number() { # LOG WHO: of the session that it has there
	sed -n "s/.*$2): opens session \([0-9a-f]*\),.*/\1/p" "$(log_of "$1")" | tail -n 1
}
come() { # SERVER SESSION...
	rm -f comes
	python3 "$e2e/numbers.py" "$(port_of "$1")" "$fsid" 300 "${@:2}" >comes 5>&- & comes=$!
	helpers+=("$comes")
	until_true 30 grep -q ready comes
}
again() { [ "$(grep -c ":$held:pvio): opens session $his" "$(log_of iod0)")" = 2 ]; }
is_there() { until_true 30 grep -q "there $1" comes; }
was_there() { # SERVER
	until_true 30 metric_above 0 "$1" refused 'no ticket'
	kill $comes
	wait $comes
}
his=$(number mgr ":$held:pvio") mgr=$(number iod0 pvfs-mgr)
[ -n "$his" ] && [ -n "$mgr" ] || fail "no numbers in the logs"

stand_still "$held"
must cluster kill-iod 0
come iod.0 "$his" "$mgr"
must cluster start-iod 0 5>&-
is_there "$his"
is_there "$mgr"
kill -CONT "$held"
expect ok pvio check /pvfs/file 0 1000 1
until_true 30 again
was_there 0

stand_still "$held"
must cluster kill-mgr
come mgr "$his"
must cluster start-mgr 5>&-
is_there "$his"
kill -CONT "$held"
expect ok pvio check /pvfs/file 0 1000 1
until_true 30 grep -q ":$held:pvio): resumes session $his" "$(log_of mgr)"
was_there mgr
exec 5>&-
wait "$held" || fail "who holds a file: $(cat holder)"
