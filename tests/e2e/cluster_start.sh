#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# cluster start: an impossible start fails with its cause, and a failed start does not prevent later
# ones.
. "$(dirname "$0")/functions.sh"

# refuse WORDS OPTION...: the start in a new folder fails with these words
refuse() {
	local words=$1
	shift

	must_fail cluster start -n 3 "$@"
	grep -qF -- "$words" "$tmp/output" ||
		fail "$*: no '$words' in: $(cat "$tmp/output")"
	[ ! -e "$state/pvfs.conf" ] || fail "$*: leaves a file system"
}

states+=("$state")
refuse '65535' --port 70000
refuse '65535' --port 65533
refuse 'no section [foo]' --port 0 --set foo.bar=1
refuse 'no section [iod.3]' --port 0 --set iod.3.sync=on
refuse 'no section [iod.x1]' --port 0 --set iod.x1.sync=on
refuse "unknown key 'bar'" --port 0 --set mgr.bar=1
refuse "storage" --port 0 --set iod.1.storage=relative
refuse '-d needs a value' -d '' --port 0
must cluster start -n 3 --port 0 --set iod.2.sync=on --set mgr.slots=8 \
	--set mgr.log_level=error --set iod.log_level=warn

# without -d, a folder of another name is not found
must_fail env PVFS_STATE="$state" "$top/scripts/cluster" stop "$tmp/meant"
grep -qF -- "'$tmp/meant'" "$tmp/output" || fail "stop DIR: $(cat "$tmp/output")"
must cluster status
cluster status >/dev/full 2>err && fail "status to a full disk exits 0"
must env -u HOME "$top/scripts/cluster" status -d "$state"
must cluster stop

# a start that fails does not touch older files
mkdir -p other/iod1 && echo data >other/iod1/mine
must_fail "$top/scripts/cluster" start -n 2 --port 0 -d "$tmp/other"
[ -e other/iod1/mine ] || fail "a failed start removed what it had not made"
[ ! -e other/iod0 ] || fail "a failed start leaves what it had made"

# nor the data of a file system in the folder
sed -i 's/^slots = .*/slots = many/' "$state/pvfs.conf"
must_fail cluster start
[ -e "$state/iod1/pvfs-stamp" ] || fail "a failed start removed a store"
sed -i 's/^slots = .*/slots = 8/' "$state/pvfs.conf"
must cluster start

# pvfstab is created again, and its clients find the file system
cp "$state/pvfstab" pvfstab && rm "$state/pvfstab"
must cluster start
must cmp "$state/pvfstab" pvfstab
: >"$state/pvfstab" # a loss of power, before there was any sync
must cluster start
must cmp "$state/pvfstab" pvfstab
PVFSTAB_FILE=$state/pvfstab must pvfs-ls /pvfs

# logs are found by the names that status prints
for which in mgr 1 iod1; do
	must cluster logs $which >logs
	[ "$(grep -c '^==> ' logs)" = 1 ] || fail "logs $which: $(cat logs)"
done
must_fail cluster logs iod7

# a port is taken at the last moment: the next try finds the stores of the first try
mkdir shim && ln -s "$PVFS_BUILD/server/pvfs-iod" shim
cat >shim/pvfs-mgr <<-END
	#!/bin/bash
	mkdir "$tmp/tried" 2>/dev/null || exec "$PVFS_BUILD/mgr/pvfs-mgr" "\$@"
	for i in {1..600}; do
		[ ! -e "$tmp/raced/iod1/pvfs-stamp" ] || break
		sleep 0.05
	done
	echo "pvfs-mgr: Address already in use" >&2
	exit 1
END
chmod +x shim/pvfs-mgr
must cluster stop
state=$tmp/raced
states+=("$state")
must cluster start -n 2 --port 0 -b "$tmp/shim"
[ -e tried ] || fail "the first try succeeded"
must cluster stop

# With the same random numbers, two starts at once take different ports, and do so at the first try.
# A third one does not take those of the second, which is stopped.
echo 'RANDOM=7' >seed
addresses() { sed -n 's/^address = //p' "$tmp"/{first,second,third}/pvfs.conf; }
for state in "$tmp"/{first,second}; do
	states+=("$state")
	BASH_ENV=$tmp/seed cluster start -n 2 --port 0 >"${state##*/}.output" 2>&1 &
	starts+=($!)
done
for start in "${starts[@]}"; do wait "$start" || fail "$(cat ./*.output)"; done
grep 'already in use' ./*.output && fail "two starts at once took the same port"
must cluster stop
state=$tmp/third
states+=("$state")
must env BASH_ENV="$tmp/seed" "$top/scripts/cluster" start -n 2 --port 0 -d "$state"
addresses | sort | uniq -d | grep . && fail "another file system took the ports of a stopped one"
for state in "$tmp"/{first,third}; do must cluster stop; done

# ^C during the wait for servers leaves no process and no file system
rm shim/pvfs-iod
cat >shim/pvfs-iod <<-END
	#!/bin/sh
	echo \$\$ >>"$tmp/iods"
	exec sleep 600
END
chmod +x shim/pvfs-iod
state=$tmp/given_up
states+=("$state")
: >iods
env --default-signal=INT setsid "$top/scripts/cluster" start -n 2 --port 0 -d "$state" \
	-b "$tmp/shim" >said 2>&1 &
start=$!
two_began() { [ "$(wc -l <iods)" = 2 ]; }
until_true 30 two_began
kill -INT -- -$start
wait $start && fail "interrupted, it says that all is well"
grep -q 'interrupted; not started; nothing was left running' said || fail "$(<said)"
[ ! -e "$state/pvfs.conf" ] || fail "interrupted, it leaves a file system"
must_fail kill -0 $(<iods)

# an IPv6 address with and without its brackets
if ip -6 addr show dev lo 2>/dev/null | grep -q ::1; then
	for host in ::1 '[::1]'; do
		state=$tmp/six$host
		states+=("$state")
		must cluster start -n 1 --port 0 --host $host
		grep -q '^\[::1\]:/ ' "$state/pvfstab" || fail "$(cat "$state/pvfstab")"
		PVFSTAB_FILE=$state/pvfstab must pvfs-ls /pvfs
		must cluster stop
	done
else
	say 'no IPv6 here'
fi
for script in cluster quickstart test report bench mkconf package romio-source; do
	"$top/scripts/$script" --help >/dev/full 2>err && fail "$script --help to a full disk exits 0"
done
true
