#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Users in more than 64 groups, up to the 65,536 of Linux. Each group is checked, for and against
# its user, by the library, pvfs-preload and the mount, over local and tcp, and with auth = sys, key
# and munge.
[ "${IN_OWN_MOUNTS:-}" ] || IN_OWN_MOUNTS=1 exec unshare --mount "$0" "$@"
. "$(dirname "$0")/functions.sh"
leave_mounts
requires root
requires tool python3
requires tool setfacl
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

first=100000	# the groups of the user: so many from here on

# in_groups N COMMAND...: runs it as user 1001 in the groups first to first + N - 1
in_groups() {
	python3 -c '
import os, sys
first, n = int(sys.argv[1]), int(sys.argv[2])
os.setgroups(range(first, first + n))
os.setgid(1001)
os.setuid(1001)
os.execvp(sys.argv[3], sys.argv[3:])' "$first" "$@"
}
by_library() {
	in_groups "$1" env LD_LIBRARY_PATH="$tmp/public" "$tmp/public/pvio" read "/pvfs/$2"
}
by_preload() { preloaded "$1" head -c 1 "/pvfs/$2"; }
preloaded() { # N COMMAND...
	in_groups "$1" env LD_PRELOAD="$before$tmp/public/libpvfs-preload.so" "${@:2}"
}
by_mount() { in_groups "$1" head -c 1 "$m/$2"; }

# file NAME GROUP MODE [ACL]: creates a file of another user
file() {
	must pvio write "/pvfs/$1" 0 10 1 >"$tmp/output"
	must pvfs-chown "0:$2" "/pvfs/$1"
	must pvfs-chmod "$3" "/pvfs/$1"
}

# files N: creates files for access by the last and by the 65th of N groups, and by another group
files() {
	local last=$((first + $1 - 1))

	file "allowed$1" "$last" 640
	file "denied$1" "$last" 604
	file "middle$1" $((first + 64)) 640
	file "beside$1" $((first + $1)) 640
	file "others$1" $((first + $1)) 604
	file "listed$1" 0 600
	file "barred$1" 0 644
}
lists() {	# through the mount: setfacl knows no other way
	local last=$((first + $1 - 1))

	must setfacl -m "g:$last:r" "$m/listed$1"
	must setfacl -m "g:$last:-" "$m/barred$1"
}

# rights BY N: checks the same in each way
rights() {
	allowed "$1" "$2" "allowed$2"
	allowed "$1" "$2" "middle$2"
	allowed "$1" "$2" "others$2"
	allowed "$1" "$2" "listed$2"
	denied "$1" "$2" "denied$2"
	denied "$1" "$2" "beside$2"
	denied "$1" "$2" "barred$2"
	# without the last group
	denied "$1" $(($2 - 1)) "allowed$2"
	allowed "$1" $(($2 - 1)) "denied$2"
}
# pvio prints the error and exits with 0
allowed() {
	"$@" >"$tmp/output" 2>&1 || fail "exit $?: $*: $(cat "$tmp/output")"
	! grep -q '^E[A-Z0-9]*$' "$tmp/output" || fail "$*: $(cat "$tmp/output")"
}
denied() {
	"$@" >"$tmp/output" 2>&1
	grep -Eq 'EACCES|Permission denied' "$tmp/output" ||
		fail "$* is not denied: $(cat "$tmp/output")"
}

tab() {
	sed "s|pvfs port=\([0-9]*\),transport=[a-z]*|pvfs port=\1,$1|" "$state/pvfstab" \
		>"$tmp/tab"
	export PVFSTAB_FILE=$tmp/tab
}

numbers='65 1000 65536'
public pvio
cp "$preload" "$tmp/public"
chmod 755 "$tmp" "$tmp/public"
start_pvfs -n 1 --transport pvfs
chmod 755 "$state"
must pvfs-chmod 755 /pvfs
tab transport=tcp
for n in $numbers; do files "$n"; done
m=$tmp/lists
mount_at "$m"
for n in $numbers; do lists "$n"; done

tab transport=tcp
m=$tmp/checked	# by the kernel as well
mount_at "$m" -o default_permissions
rights by_mount 65
for transport in local tcp; do
	tab "transport=$transport"
	chmod 644 "$tmp/tab"
	m=$tmp/$transport
	mount_at "$m" -o no_default_permissions
	for n in 65 65536; do
		rights by_mount "$n"
		rights by_library "$n"
	done
done
rights by_library 1000
for n in $numbers; do rights by_preload "$n"; done

# ---- a restarted manager does not have the lists ----

twice() { # N: opens files, and when it is told to locks one, and opens them again
	tab transport=tcp
	preloaded "$1" python3 -c '
import fcntl, sys
n = sys.argv[1]
f = open("/pvfs/allowed" + n)
def tries(name):
    try:
        open("/pvfs/" + name + n).close()
        return "in"
    except PermissionError:
        return "out"
print(tries("allowed"), tries("denied"), flush=True)
sys.stdin.readline()
fcntl.lockf(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
print(tries("allowed"), tries("denied"), tries("listed"), tries("barred"), flush=True)' "$1"
}
coproc again { twice 1000 2>"$tmp/twice"; }
again_pid=$again_PID
read -r -t 60 line <&"${again[0]}"
[ "$line" = "in out" ] || fail "before: '$line' $(cat "$tmp/twice")"
must cluster stop-mgr
must cluster start-mgr
for n in 1000 65536; do rights by_mount "$n"; done
echo >&"${again[1]}"
read -r -t 60 line <&"${again[0]}"
[ "$line" = "in out in out" ] || fail "behind a restart: '$line' $(cat "$tmp/twice")"
wait "$again_pid"
unmount_all
must cluster stop

# ---- groups that the manager's name service knows ----

# known_groups USER N: adds the user to N groups in the groups file of this host, for this test
known_groups() {
	awk -v n="$2" -v first="$first" -v user="$1" 'BEGIN {
		for (i = 0; i < n; i++) print "many" i ":x:" first + i ":" user }' |
		cat "$tmp/group" - >"$tmp/group.$1.$2"
	must mount --bind "$tmp/group.$1.$2" /etc/group
}
# ticketed N COMMAND...: reads a file that the members of N groups may read
ticketed() {
	local n=$1
	shift

	allowed "$@" pvio read "/pvfs/allowed$n"
	allowed "$@" pvio read "/pvfs/others$n"
	denied "$@" pvio read "/pvfs/denied$n"
	denied "$@" pvio read "/pvfs/beside$n"
}
cp /etc/group "$tmp/group"
export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
# by_ticket MODE USER OPTIONS COMMAND...: as that user with a ticket, for each number of groups
by_ticket() {
	local mode=$1 user=$2 options=$3 n
	shift 3

	for n in 65 65536; do
		state=$tmp/$mode.$n
		known_groups "$user" "$n"
		start_pvfs -n 1 --transport pvfs --set "filesystem.auth=$mode" ${sets[@]+"${sets[@]}"}
		tab transport=local
		must pvfs-chmod 755 /pvfs
		files "$n"
		options_now=${options//STATE/$state}
		tab "transport=tcp,auth=$mode,$options_now"
		ticketed "$n" "$@"
		must cluster stop
		must umount /etc/group
	done
}
sets=(--set filesystem.key_user=daemon)
by_ticket key daemon key=STATE/key

