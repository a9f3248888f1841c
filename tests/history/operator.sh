# SPDX-License-Identifier: BSD-2-Clause
# operator.sh - an operator changes the group of managers while clients work, by pvfs-managers;
# sourced (bash).

replaced= # the manager that has an empty storage and is no voter yet

# order NAME COMMAND...: runs pvfs-managers COMMAND in the background, as the process NAME
order() {
	local name=$1

	shift
	{
		pause 0.2 # since the last attempt
		PVFSTAB_FILE=$dir/pvfstab.g0 on_host g0 \
			"$build/client/tools/pvfs-managers" -c "$dir/pvfs.conf" "$@" /pvfs
	} </dev/null >>"$dir/log/$name.log" 2>&1 &
	pid[$name]=$!
}

# transfer NUMBER: makes no new attempt while an earlier one waits
transfer() { [ -n "${pid[transfer]:-}" ] || order transfer -t 5000 transfer "$1"; }

# replace MANAGER: the operator removes the member whose storage is lost, and waits for its
# successor.  The long time limit prevents a second attempt, which would remove the successor.
replace() { order replace -t 100000 -w 100 replace "${1#m}"; }

# wipe MANAGER: kills it and empties its storage
wipe() {
	kill_one "$1"
	rm -rf "$dir/$1/store"
	mkdir "$dir/$1/store"
	replaced=$1
	: >"$dir/log/replace.log"
	replace "$1"
}

# ordered NAME STATUS: called when the command has ended
ordered() {
	[ "$1" = replace ] || return 0
	if [ "$2" = 0 ]; then
		replaced=
	elif grep -q 'is no member any more' "$dir/log/replace.log"; then
		order replace -t 100000 -w 100 add "${replaced#m}"
	else
		replace "$replaced"
	fi
}

# Called when all faults have ended.
await_replacement() {
	local limit=$((SECONDS + 120))

	while [ -n "$replaced" ]; do
		[ $SECONDS -lt $limit ] ||
			fail "$replaced is not replaced: $(tail -n 1 "$dir/log/replace.log")"
		supervise
		pause 0.1
	done
}
