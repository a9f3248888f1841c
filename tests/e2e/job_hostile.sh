#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-job stop ends the job after any fault, and leaves nothing. Each round has one fault.
# HOSTILE_ROUNDS is the number of rounds (default: each fault once); HOSTILE_FAULTS selects faults.
. "$(dirname "$0")/functions.sh"
. "$(dirname "$0")/jobbing.sh"

faults=(clients iods manager disk filled staging supervisor supervisor_killed head head_killed told
	launcher mount late strangers cut)
[ -z "${HOSTILE_FAULTS:-}" ] || read -ra faults <<<"$HOSTILE_FAULTS"
rounds=${HOSTILE_ROUNDS:-${#faults[@]}}
longest=0
others=()

# ---- hosts of their own, with a launcher that reaches them ----

spaces=()
remove_spaces() {
	local s

	for s in ${spaces[@]+"${spaces[@]}"}; do
		ip netns del "$s"
		ip link del "v$s" 2>/dev/null
	done
	ip link del "b$$" 2>/dev/null
	spaces=()
}
# Creates two hosts behind a bridge, or ends the round if that is not possible.
make_spaces() {
	local k s

	[ "$(id -u)" = 0 ] && command -v ip >/dev/null && command -v nsenter >/dev/null || return
	ip link add "b$$" type bridge 2>/dev/null || return
	ip addr add 10.213.$(($$ % 250)).1/24 dev "b$$" && ip link set "b$$" up
	for k in 0 1; do
		s=j$$.$k
		ip netns add "$s" || return
		spaces+=("$s")
		ip link add "v$s" type veth peer name eth0 netns "$s" &&
			ip link set "v$s" master "b$$" up &&
			ip -n "$s" addr add 10.213.$(($$ % 250)).$((k + 10))/24 dev eth0 &&
			ip -n "$s" link set eth0 up && ip -n "$s" link set lo up || return
	done
}
at_end remove_spaces
mkdir bin
cat >bin/srun <<-'END'
	#!/bin/bash
	# each node on its own host, or behind a proxy that holds back its last message
	while [[ $1 == -* ]]; do
	    case $1 in -N|-n) shift 2 ;; *) shift ;; esac
	done
	if [ -n "${STRANGERS:-}" ]; then
	    rm -f "$STRANGERS.held" # of another round
	    python3 "$STRANGERS" "${PVFS_JOB_HEAD##*:}" >"$STRANGERS.held" &
	    until [ -s "$STRANGERS.held" ]; do sleep 0.05; done
	    SLURM_PROCID=0 "$@" &
	fi
	k=0
	for s in ${SPACES:-}; do
	    SLURM_PROCID=$k nsenter --net="/run/netns/$s" "$@" &
	    k=$((k + 1))
	done
	if [ -n "${LATE:-}" ]; then
	    rm -f "$LATE.port"
	    python3 "$LATE" "${PVFS_JOB_HEAD##*:}" >"$LATE.port" &
	    until port=$(head -n 1 "$LATE.port" 2>/dev/null) && [ -n "$port" ]; do sleep 0.05; done
	    SLURM_PROCID=0 PVFS_JOB_HEAD=127.0.0.1:$port "$@" &
	fi
	trap 'kill $(jobs -p)' TERM
	wait
END
chmod +x bin/srun

cat >late.py <<-'END'
	import select, socket, sys
	listener = socket.create_server(("127.0.0.1", 0))
	listener.settimeout(60)
	print(listener.getsockname()[1], flush=True)
	node = listener.accept()[0]
	head = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
	other = {node: head, head: node}
	while True:
	    for s in select.select([node, head], [], [])[0]:
	        data = s.recv(65536)
	        if s is head and not data:
	            sys.exit()
	        if s is node:
	            data = data.replace(b"gone\n", b"")
	        if not data and s is node:
	            head.recv(1)
	            sys.exit()
	        other[s].sendall(data)
END

# A client connects to the head without a proof, and again after each disconnection.
cat >strangers.py <<-'END'
	import select, socket, sys, time
	held = set()
	while True:
	    while len(held) < 200:
	        held.add(socket.create_connection(("127.0.0.1", int(sys.argv[1]))))
	    print(len(held), flush=True)
	    for s in select.select(list(held), [], [])[0]:
	        try:
	            data = s.recv(4096)
	        except ConnectionError:
	            data = b""
	        if not data:
	            held.remove(s)
	            s.close()
	            time.sleep(0.005) # not the machine's time is wanted, but the head's
END

# ---- the faults: each begins a job, and says in $reached whether stop reaches all ----

one() { head -n 1 <<<"$1"; }
busy_client() {
	(while :; do pvfs-cp -q "$tmp/data" "/pvfs/c$1" || sleep 0.1; done) >>"$tmp/client" 2>&1 &
	others+=($!)
}
fault_clients() {
	begin -n 3
	busy_client a
	busy_client b
	pvkill /pvfs 2 stop </dev/zero >"$tmp/stopped" 2>&1 &
	others+=($!)
	until_true 60 grep -qs 'stopped 2' "$tmp/stopped"
	kill -KILL "${others[0]}"
}
fault_iods() {
	begin -n 3
	busy_client a
	set -- $(of pvfs-iod)
	stand_still "$1"
	must kill -KILL "$2"
}
fault_manager() {
	begin -n 3
	busy_client a
	stand_still $(of pvfs-mgr)
}
fault_disk() {
	begin -n 3
	# pvfs-cp would remove a file that does not fit
	pvio write /pvfs/large 0 200000000 1 >/dev/null && pvio write /pvfs/large2 0 200000000 1 >/dev/null &&
		fail "it is not full"
	must kill -KILL "$(of pvfs-mgr)"
}
# The key, the logs and the folders are on a disk without a free byte.
fault_filled() {
	[ "$(id -u)" = 0 ] || return
	small_disk "$tmp/disk.full" 200
	begin -n 3 --storage "$tmp/disk.full" --log "$tmp/disk.full"
	busy_client a
	head -c 300000000 /dev/zero >"$tmp/disk.full/fill" 2>/dev/null
	pvio write /pvfs/large 0 200000000 1 >/dev/null && fail "it is not full"
}
# During a staging, while a copier waits for a stopped iod.
fault_staging() {
	local iod

	begin -n 3
	iod=$(one "$(of pvfs-iod)")
	stand_still "$iod"
	mkdir -p tree && for k in 1 2 3 4 5 6; do ln -f large "tree/$k"; done
	pvfs-job stage-in -q -i "$job" --manifest "$tmp/manifest" tree /pvfs/tree >"$tmp/staged" 2>&1 &
	others+=($!)
	until_true 60 eval '[ -n "$(of "pvfs-job copier")" ]'
	stand_still "$(one "$(of 'pvfs-job copier')")"
	kill -CONT "$iod"
}
fault_supervisor() {
	begin -n 3
	stand_still "$(one "$(of 'pvfs-job node')")"
	reached=
}
fault_supervisor_killed() {
	begin -n 3 --storage "$tmp/disk"
	must kill -KILL "$(one "$(supervisors)")"
	reached=
}
# Prints the supervisors without their sweepers, which have their own sessions.
supervisors() {
	local p

	for p in $(of 'pvfs-job node'); do
		[ "$(cat "/proc/$p/comm")" = pvfs-job-sweep ] || echo "$p"
	done
}
heads() {
	local p

	for p in $(of 'pvfs-job start'); do
		[ "$(cat "/proc/$p/comm")" = pvfs-job-head ] && echo "$p"
	done
}
fault_head() {
	begin -n 3
	stand_still "$(heads)" "$(one "$(supervisors)")"
	reached=
}
fault_head_killed() {
	begin -n 3 --storage "$tmp/disk"
	must kill -KILL "$(heads)"
	reached=ended
}
fault_told() {
	begin -n 3
	must kill -TERM "$(one "$(supervisors)")"
}
fault_launcher() {
	command -v mpiexec.hydra >/dev/null || return
	begin -n 3 --launcher mpiexec
	must kill -KILL "$(one "$(of mpiexec.hydra)")"
	reached=any
}
fault_mount() {
	[ "$(id -u)" = 0 ] && [ -c /dev/fuse ] && [ -x "$PVFS_BUILD/client/fuse/pvfs-fuse" ] || return
	begin -n 3 --mount "$tmp/m"
	cp large m/ 2>/dev/null
	sleep 1000 <m/large &
	others+=($!)
	stand_still $(of pvfs-fuse) $(of pvfs-mgr)
	cat m/other >/dev/null 2>&1 &
	others+=($!)
}
# A node was told to end, and takes longer than the command waits.
fault_late() {
	LATE=$tmp/late.py PATH=$tmp/bin:$PATH begin --launcher srun
}
fault_strangers() {
	STRANGERS=$tmp/strangers.py PATH=$tmp/bin:$PATH begin --launcher srun
}
fault_cut() {
	make_spaces || { say "no hosts of their own here"; remove_spaces; return; }
	SPACES="${spaces[*]}" PATH=$tmp/bin:$PATH begin -n 2 --launcher srun --lost 2
	busy_client a
	ip link set "v${spaces[1]}" down
	reached=
}

# ---- rounds ----

end_others() {
	local p

	for p in ${others[@]+"${others[@]}"}; do
		kill -CONT "$p" 2>/dev/null
		pkill -KILL -P "$p" 2>/dev/null
		kill -KILL "$p" 2>/dev/null
		wait "$p" 2>/dev/null
	done
	others=()
}
at_end end_others

ends() {
	local from ms code

	from=$(date +%s%N)
	timeout 60 pvfs-job stop -i "$job" >"$tmp/stop.out" 2>&1
	code=$?
	ms=$((($(date +%s%N) - from) / 1000000))
	[ $ms -le $longest ] || longest=$ms
	say "$1: $ms ms, exit $code $(tr '\n' ' ' <"$tmp/stop.out")"
	case $code-$reached in
	0-all|1-ended|[01]-any) ;;
	1-)	grep -qE 'was not reached|stood still' "$tmp/stop.out" ||
			fail "$1: it names nobody: $(cat "$tmp/stop.out")" ;;
	*)	fail "$1: exit $code: $(cat "$tmp/stop.out")" ;;
	esac
	gone
}

mkdir disk
head -c 3000000 /dev/urandom >data
head -c 200000000 /dev/zero | tr '\0' x >large
for ((round = 0; round < rounds; round++)); do
	fault=${faults[round % ${#faults[@]}]}
	job=e2e.$$.$round reached=all
	"fault_$fault"
	[ ! -d "$PVFS_JOB_DIR/$job" ] && [ "$reached" = all ] && continue
	ends "$fault"
	end_others
	[ "$fault" != cut ] || remove_spaces
	[ "$fault" != filled ] || { umount -l "$tmp/disk.full" && unset 'mounts[-1]'; }
done
say "$rounds rounds, the longest stop $longest ms"
