# SPDX-License-Identifier: BSD-2-Clause
# copysets.sh - rings of copysets; sourced after functions.sh. The manager is that of this release,
# and names WIRE_FT_COPIES. It also gets commands:
#
#	copysets ring N		Makes a ring of N copysets.  Copyset 1024 + j is at iod j % iods.  New
#				files are in this ring.
#	copysets copies N	Makes a ring whose copysets have N members, which
#				mgr/copyset/copyset_design.h chooses.  New files are in this ring.
#	copysets move ID IOD	Copyset ID gets a new version, and this iod as its member.  Its objects
#				stay where they are.
#	copysets renew ID	Copyset ID gets a new version, and keeps its member.
#	copysets renew all	The same for all copysets.
#
# A command returns when the change is durable at the managers; the iods learn it then.

copyset_servers=$tmp/servers
mkdir "$copyset_servers"
for program in "$PVFS_BUILD"/tests/e2e/copysets/pvfs-mgr \
	"$PVFS_BUILD"/{server/pvfs-iod,client/tools/pvfs-ping}; do
	ln -s "$program" "$copyset_servers"
done
export PVFS_TEST_COMMANDS=$tmp/commands
command_number=0

eval "$(declare -f cluster | sed '1s/cluster/cluster_of_build/')"
cluster() { PVFS_BUILD=$copyset_servers cluster_of_build "$@"; }

command_has_ended() { mgr_log | grep -q ": command $command_number: "; }

copysets() {
	command_number=$((command_number + 1))
	echo "$command_number $*" >>"$PVFS_TEST_COMMANDS"
	until_true 30 command_has_ended
	mgr_log | grep -q ": command $command_number: done" ||
		fail "copysets $*: $(mgr_log | grep ": command $command_number: ")"
}

# copied_objects: prints "MD5 LEAF/NAME" for each object of a copyset at each iod, sorted. Empty
# objects are left out, because a missing object is the same.
copied_objects() {
	local iod

	for iod in "$state"/iod*; do
		(cd "$iod/objects" && find . -type f -name '*-????????' -size +0 -print0 |
			xargs -r0 md5sum)
	done | sort
}

# copies_equal N: each object is at N iods with the same bytes; what is wrong is in $tmp/unequal
copies_equal() {
	copied_objects | uniq -c | awk -v n="$1" '$1 != n' >"$tmp/unequal"
	[ ! -s "$tmp/unequal" ]
}
