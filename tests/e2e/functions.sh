# SPDX-License-Identifier: BSD-2-Clause
# functions.sh - the fixture of the end-to-end tests; sourced by each (bash).
#
# A test gets a folder of its own ($tmp, removed at the end whatever happens),
# its own servers on free ports and PVFSTAB_FILE set.  It fails at the first
# `fail`, a failed check, or when a sanitizer wrote a report into a log.
# `requires` skips the whole test aloud.  PVFS_BUILD names the build folder,
# PVFS_TEST_SCHEME the transport (tcp), PVFS_TEST_AUTH=key or munge how clients prove who
# they are in tests that say nothing of it, PVFS_TEST_MANAGERS=3 the number of managers; with E2E_IN_MEMORY the folder is in /dev/shm, if
# there is room.
set -u

name=$(basename "$0" .sh)
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
e2e=$top/tests/e2e
: "${PVFS_BUILD:?run it with meson test, or set PVFS_BUILD to a build folder}"
export PVFS_BUILD
export PATH=$PVFS_BUILD/client/tools:$PVFS_BUILD/tests/bench:$PVFS_BUILD/tests/e2e:$PATH
sanitized=${E2E_SANITIZED:-0}
# AddressSanitizer looks for leaks when a program ends, which takes longer than the rest of a short
# run.  So only the servers, the mounts and the programs of tests/e2e/lib have this check.
leak_check=detect_leaks=1
case $0 in
*/lib/*) ;;
*)	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 ;;
esac
. "$e2e/metric.sh"
mounts=()
states=()
helpers=()
ends=()
started_at=$SECONDS

# The output of the test, also in a command whose own output goes to a file.
exec {test_output}>&1
say() { echo "$name: $*" >&"$test_output"; }

why=
fail() {
	why="$*"
	say "FAIL: $why"
	exit 1
}

skip() {
	echo "skip: $*"
	exit 77
}

gib_free() { df -Pk "$1" | awk 'END { print int($4 / 1048576) }'; }

# requires root | space GIB DIR | tool NAME | tcp (the test connects to a port itself) | mounts (the
# test mounts file systems, which a chroot does not permit if its / is no mount point)
requires() {
	case $1 in
	tcp)	[ "${PVFS_TEST_SCHEME:-tcp}" = tcp ] || skip "is about tcp" ;;
	root)	[ "$(id -u)" = 0 ] || skip "needs root" ;;
	tool)	command -v "$2" >/dev/null || skip "needs the program $2" ;;
	mounts)	unshare -m --propagation private true 2>"$tmp/err" ||
			skip "no mount namespace: $(tail -n 1 "$tmp/err")" ;;
	space)	[ "$(gib_free "$3")" -ge "$2" ] ||
			skip "needs $2 GiB free in $3" ;;
	esac
}

# leave_mounts: a test in its own mount namespace detaches the file systems of other tests.
# Otherwise their umount would wait for this test.
leave_mounts() {
	awk '$3 ~ /^fuse/ { print $2 }' /proc/self/mounts | xargs -r umount -l
}

# ---- the file system under test ----

# With PVFS_TEST_MANAGERS, commands for the manager apply to the leader.
cluster() {
	if [ -n "${PVFS_TEST_MANAGERS:-}" ]; then
		case $*,$1 in
		kill-mgr,*|stop-mgr,*)	stopped_mgr=$(leader); set -- "$1" "$stopped_mgr" ;;
		start-mgr,*)	set -- "$1" "$stopped_mgr" ;;
		'pid mgr',*)	set -- pid "mgr.$(leader)" ;;
		esac
	fi
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}$leak_check "$top/scripts/cluster" "$@" -d "$state"
}

# small_disk DIR MIB: mounts a tmpfs of that size at DIR, until the test ends
small_disk() {
	requires root
	mkdir -p "$1"
	mount -t tmpfs -o "size=$2m,mode=700" pvfs-e2e "$1" 2>"$tmp/err" ||
		skip "cannot mount a tmpfs: $(cat "$tmp/err")"
	mounts+=("$1")
}

# Sets the authentication: `in` has settings of servers, `proof` has options of clients.
prove_by() {
	proof=auth=$1,key=$state/key
	sets+=(--set filesystem.auth="$1")
	export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
	if [ "$1" = key ]; then
		sets+=(--set filesystem.key_user="$(id -un)")
		return
	fi
	requires tool munged
	(umask 077; head -c 128 /dev/urandom >"$tmp/munge.key")
	munged --foreground --force --key-file="$tmp/munge.key" --socket="$tmp/munge" \
		--pid-file="$tmp/munge.pid" --log-file="$tmp/munge.log" \
		--seed-file="$tmp/munge.seed" >"$tmp/munge.output" 2>&1 &
	helpers+=("$!")
	until_true 30 munge -s x -S "$tmp/munge" >/dev/null 2>&1
	proof=auth=munge,munge_socket=$tmp/munge
	sets+=(--set "filesystem.munge_socket=$tmp/munge")
}

# start_pvfs [OPTION OF cluster start...]; $proof: the options of a
# mount for the identity of clients, if auth needs them.
start_pvfs() {
	local set sets=()

	proof=

	[[ -z ${PVFS_TEST_AUTH:-} || "$*" = *filesystem.auth=* ]] || prove_by "$PVFS_TEST_AUTH"
	for set in ${PVFS_TEST_SET:-}; do sets+=(--set "$set"); done
	[ -z "${PVFS_TEST_MANAGERS:-}" ] || set -- --managers "$PVFS_TEST_MANAGERS" "$@"
	states+=("$state")
	cluster start --port 0 --transport "${PVFS_TEST_SCHEME:-tcp}" \
		${sets[@]+"${sets[@]}"} "$@" ||
		fail "the servers do not start"
	[ -z "$proof" ] || sed -i "s|pvfs port=|pvfs $proof,port=|" "$state/pvfstab"
	export PVFSTAB_FILE=$state/pvfstab
}

restart_pvfs() {
	cluster stop || fail "the servers do not stop"
	cluster start || fail "the servers do not start again"
}

# log_of SERVER: prints the name of its log; mgr is the leader, which may change: see mgr_log()
log_of() {
	local name=$1

	[ "$1" != mgr ] || [ -z "${PVFS_TEST_MANAGERS:-}" ] || name=mgr$(leader)
	echo "$state/log/$name.log"
}

# mgr_log: the logs of all managers.
mgr_log() { cat "$state"/log/mgr*.log; }

# conf_value SECTION KEY: prints a setting of the configuration; mgr is the leader
conf_value() {
	local section=$1

	case ${PVFS_TEST_MANAGERS:-},$1,$2 in
	?*,mgr,address|?*,mgr,storage)	section=mgr.$(leader) ;;
	esac
	awk -F ' *= *' -v s="[$section]" -v k="$2" '
		/^\[/ { on = ($0 == s) } on && $1 == k { print $2 }' \
		"$state/pvfs.conf"
}
port_of() {
	local uri

	uri=$(conf_value "$1" address)
	echo "${uri##*:}"
}

# role_of N: prints leads or follows, as manager N logged last
role_of() {
	tail -n +"$(cut -d ' ' -f 3 "$state/run/mgr$1.pid")" "$(log_of "mgr$1")" |
		sed -n 's/.*: ready: .* inodes, .*/leads/p; s/.* follows manager .*/follows/p
			s/.*does not lead any more.*/lost/p' | tail -n 1
}
follows() { [ "$(role_of "$1")" = follows ]; }
# find_leader: prints the number of the running manager that leads
find_leader() {
	local n pid

	for n in 0 1 2; do
		pid=$(cluster pid "mgr.$n" 2>/dev/null) && ! stands "$pid" &&
			[ "$(role_of "$n")" = leads ] && echo "$n" && return
	done
	return 1
}
leader() {
	local n

	for n in {1..600}; do find_leader && return; sleep 0.1; done
	fail "no manager leads" >&2
}

# group_members: prints a line for each member of the group: its id, its HOST:PORT, "voter" or "-"
group_members() {
	pvfs-managers status /pvfs 2>/dev/null |
		awk '$1 ~ /^(leader|follower|joining)$/ { print $NF, $2, $1 == "joining" ? "-" : "voter" }'
}
group_votes() { group_members | grep -c ' voter$'; }
# manage COMMAND...: runs pvfs-managers; COMMAND may name a manager by its number
manage() { pvfs-managers -c "$state/pvfs.conf" "$@" /pvfs; }
# all_up: all three managers of the group are up; the output is in $tmp/status
all_up() { manage status >"$tmp/status" 2>&1 && [ "$(grep -c ' up ' "$tmp/status")" = 3 ]; }

# managers: prints the names of all managers, as scripts/cluster knows them
managers() {
	local n

	[ -n "${PVFS_TEST_MANAGERS:-}" ] || { echo mgr; return; }
	for ((n = 0; n < PVFS_TEST_MANAGERS; n++)); do echo "mgr.$n"; done
}

# free_port: prints a free port for a server that the test starts itself. The port is random,
# because the same test may run concurrently, and not in the ranges of the kernel and of cluster.
free_port() {
	local try port

	for try in {1..50}; do
		port=$((2000 + RANDOM % 8000))
		{ : 3<>"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null || break
	done
	echo "$port"
}

# objects: prints the number of objects on the iods
objects() {
	find "$state"/iod*/objects -type f | wc -l
}

# requires_mpich: sets $mpiexec to that of MPICH, whichever mpiexec is the default
requires_mpich() {
	mpiexec=$(. "$top/scripts/functions.sh" && mpich_exec) ||
		skip "needs MPICH's mpiexec (package mpich)"
}

# ---- checks ----

# expect WANTED COMMAND...: the command must print WANTED on stdout.
expect() {
	local want=$1 have
	shift

	have=$("$@" 2>"$tmp/stderr")
	[ "$have" = "$want" ] && return
	sed 's/^/    /' "$tmp/stderr" >&"$test_output"
	fail "$*: '$have' instead of '$want'"
}

# must COMMAND...: exits 0.
must() {
	"$@" || fail "exit $?: $*"
}

# must_fail COMMAND...: must fail; its output is in $tmp/output.
must_fail() {
	"$@" >"$tmp/output" 2>&1 && fail "did not fail: $*"
	return 0
}

# until_true SECONDS COMMAND...: repeats the command until it succeeds. The limit is only against a
# hang; a loaded machine gets four times SECONDS.
until_true() {
	local limit=$((SECONDS + 4 * $1))
	shift

	until "$@"; do
		[ $SECONDS -lt $limit ] || fail "not within its bound: $*"
		sleep 0.1
	done
}

# stand_still PID...: stops the processes, and returns when all their threads are stopped. A stopped
# process may run until one of its threads is scheduled next.
stands() { ! grep -L '^State:.T' "/proc/$1/task/"*/status | grep -q .; }
stand_still() {
	local pid

	for pid in "$@"; do
		must kill -STOP "$pid"
		until_true 30 stands "$pid"
	done
}

# copy_on: copies the file "data" to /pvfs repeatedly, until the file "enough" exists; returns 1
# when a copy fails
copy_on() {
	local i

	for i in $(seq 1000); do
		[ ! -e enough ] || return 0
		pvfs-cp -q --verify data "/pvfs/copy$((i % 4))" || return 1
	done
}

# iod_comes_and_goes K: iod K is killed and restarted, twice.
iod_comes_and_goes() {
	local i

	for i in 1 2; do
		sleep 1
		must cluster kill-iod "$1"
		must cluster start-iod "$1"
	done
}

# requests_of OPERATION: prints the number of these requests to the servers; $tmp/stats has all
requests_of() {
	pvfs-stats >"$tmp/stats" 2>"$tmp/err" || fail "pvfs-stats: $(<"$tmp/err")"
	awk -v op="$1" '$3 == op { n += $4 } END { print n + 0 }' "$tmp/stats"
}

# without_of OUTPUT: prints the two numbers of "N of M without"
without_of() { sed -n 's/^\([0-9]*\) of \([0-9]*\) without.*/\1 \2/p' "$1"; }

# stop_clients N: stops N processes while /pvfs moves their data, until go_on continues them
stop_clients() {
	mkfifo "$tmp/hold"
	rm -f "$tmp/stopped"
	pvkill /pvfs "$1" stop <"$tmp/hold" >"$tmp/stopped" &
	stopped=$!
	exec 5>"$tmp/hold"
	rm "$tmp/hold"
	until_true 60 grep -q "stopped $1" "$tmp/stopped"
}
go_on() {
	exec 5>&-
	wait "$stopped" || fail "those that were stopped do not go on"
}

# public PROGRAM: copies it and libpvfs to $tmp/public, where every user may
# run it; the build may lie in a home that is closed to others.
public() {
	mkdir -p "$tmp/public" &&
		cp "$(command -v "$1")" "$PVFS_BUILD"/client/lib/libpvfs.so.1 \
			"$tmp/public" || fail "cannot copy $1"
}

# as_user UID GID GROUPS COMMAND...: runs what public() copied as that user.
as_user() {
	local uid=$1 gid=$2 groups=$3
	shift 3

	if [ -n "$groups" ]; then groups=--groups=$groups
	else groups=--clear-groups; fi
	setpriv --reuid="$uid" --regid="$gid" "$groups" -- \
		env LD_LIBRARY_PATH="$tmp/public" PATH="$tmp/public:$PATH" "$@"
}

# manifest DIR: prints every name with all properties that a copy must preserve
manifest() {
	(cd "$1" && find . -printf '%P %y %m %U:%G %l' \
		\( -type d -o -type l -o -printf ' %s %T@' \) -printf '\n' |
		LC_ALL=C sort)
}

# same_tree A B: compares bytes, types, modes, owners, symlinks and times
same_tree() {
	diff <(manifest "$1") <(manifest "$2") >"$tmp/diff" || {
		head -n 20 "$tmp/diff"
		fail "$1 and $2 differ in names or attributes"
	}
	diff -r --no-dereference "$1" "$2" >"$tmp/diff" || {
		head -n 20 "$tmp/diff"
		fail "$1 and $2 differ in data"
	}
}

# ---- cleanup ----

reports='AddressSanitizer|LeakSanitizer|ThreadSanitizer|runtime error:'

# at_end FUNCTION: runs at the end of the test, the last one first.
at_end() { ends=("$1" ${ends[@]+"${ends[@]}"}); }

# Runs at the end of every test, and removes everything that it has made.
finish() {
	local code=$? m h

	trap '' INT TERM
	exec >&"$test_output" 2>&1
	for h in ${ends[@]+"${ends[@]}"}; do "$h"; done
	for h in ${helpers[@]+"${helpers[@]}"}; do
		kill -CONT "$h" 2>/dev/null
		kill "$h" 2>/dev/null
	done
	for state in ${states[@]+"${states[@]}"}; do
		cluster stop >"$tmp/stop" 2>&1 && continue
		cat "$tmp/stop"
		[ $code != 0 ] || code=1
	done
	if grep -qE "$reports" "$tmp"/*/log/*.log 2>/dev/null; then
		say "FAIL: a sanitizer reported:"
		grep -hE -A 30 "$reports" "$tmp"/*/log/*.log | head -n 80
		code=1
	fi
	case $code in
	0)	say "passed in $((SECONDS - started_at)) s" ;;
	77)	;;
	*)	tail -n 15 "$tmp"/*.log "$tmp"/*/log/*.log 2>/dev/null
		say "FAILED: ${why:-exit $code}" ;;
	esac
	for m in ${mounts[@]+"${mounts[@]}"}; do umount -l "$m"; done
	[ -n "${E2E_KEEP:-}" ] && echo "kept: $tmp" || rm -rf "$tmp"
	exit $code
}

folder=${E2E_TMPDIR:-${TMPDIR:-/var/tmp}}
if [ -n "${E2E_IN_MEMORY:-}" ]; then
	if [ "$(gib_free /dev/shm)" -ge 4 ]; then folder=/dev/shm
	else say "on disk: /dev/shm has less than 4 GiB free"; fi
fi
tmp=$(mktemp -d "$folder/pvfs-e2e.XXXXXX") || exit 1
chmod 755 "$tmp"
state=$tmp/state
trap finish EXIT
trap 'exit 1' INT TERM
cd "$tmp" || exit 1
