#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Where the servers' key is while servers and a client work: in no core file, no log and no
# environment. Also: the files that another user can read on the disk of a server's host.
. "$(dirname "$0")/functions.sh"
requires root
requires tcp
requires tool python3
requires tool setpriv

export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
start_pvfs -n 2 --transport pvfs --set filesystem.auth=key \
	--set filesystem.key_user=root --set filesystem.seal=encrypt \
	--set filesystem.capabilities=on \
	--set mgr.log_level=debug --set iod.log_level=debug
sed "s|pvfs port=\([0-9]*\),transport=[a-z]*|pvfs port=\1,transport=tcp,auth=key,key=$state/key|" \
	"$state/pvfstab" >"$tmp/tab"
export PVFSTAB_FILE=$tmp/tab
expect ok pvio write /pvfs/file 0 1000000 1
mkfifo fifo
PVFS_LOG=debug pvio hold /pvfs/file <fifo >holder 2>&1 & held=$!
helpers+=("$held")
exec 5>fifo
until_true 30 grep -q holding holder

# ---- core files ----

key=$(head -n 1 "$state/key" | tr -d ' \n')
# the key as HMAC pads it
padded() { python3 -c "print(bytes(b ^ $1 for b in bytes.fromhex('$key')).hex())"; }
inner=$(padded 0x36)
outer=$(padded 0x5c)
for pid in "$(cluster pid mgr)" "$(cluster pid 0)" "$(cluster pid 1)" "$held"; do
	found=$(python3 "$e2e/in_core.py" "$pid" "$key" "$inner" "$outer") ||
		fail "in_core.py: $found"
	case $found in
	"0 0")	fail "the key of $pid is not seen where it must be" ;;
	"0 "*)	;;
	*)	fail "a core file of $pid has the key: $found" ;;
	esac
done

# ---- core files have no ticket's secret ----

secrets=$(python3 "$e2e/ticket_secret.py" "$held" "$key" "$(conf_value filesystem id)") ||
	fail "ticket_secret.py: $secrets"
[ -n "$secrets" ] || fail "the client's ticket is not found in its memory"
for pid in "$(cluster pid mgr)" "$(cluster pid 0)" "$held"; do
	found=$(python3 "$e2e/in_core.py" "$pid" $secrets) ||
		fail "in_core.py: $found"
	[[ $found = "0 "* ]] || fail "a core file of $pid has the ticket's secret: $found"
	[[ $pid != "$held" || $found != "0 0" ]] ||
		fail "the ticket's secret is not seen where it must be"
done

# ---- logs and environments ----

grep -l "$key" "$state"/log/* holder && fail "a log has the key"
for pid in "$(cluster pid mgr)" "$(cluster pid 0)" "$held"; do
	grep -q "$key" "/proc/$pid/environ" "/proc/$pid/cmdline" &&
		fail "the environment or the command of $pid has the key"
done
exec 5>&-
wait "$held" || fail "$(cat holder)"

# ---- the disk of a server's host ----

chmod 755 "$tmp"
as_user 1 1 '' find "$state"/{mgr,iod*,key,log} -type f -readable \
	>readable 2>/dev/null
[ ! -s readable ] || fail "another user reads $(head -n 5 readable)"
as_user 1 1 '' find "$state"/{mgr,iod*,key,log} -writable >writable 2>/dev/null
[ ! -s writable ] || fail "another user writes $(head -n 5 writable)"
