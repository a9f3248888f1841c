#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The systemd units: systemd accepts them and rates them as sandboxed, and the programs accept their
# options.
. "$(dirname "$0")/functions.sh"

# unit FILE PROGRAM INSTANCE: writes the unit for this instance, with the program of this build
unit() {
	local built=$PVFS_BUILD/conf/$1 command instance=${3#*@}

	grep -qE "^ExecStart=/.*/${2##*/}( |$)" "$built" || fail "$1: $(cat "$built")"
	sed "s|^ExecStart=[^ ]*|ExecStart=$PVFS_BUILD/$2|" "$built" >"$3"
	command=$(sed -n "s/^ExecStart=//p" "$3")
	must ${command//%i/${instance%.service}} --help >help
	grep -qi '^usage' help || fail "$command: $(cat help)"
	${command//%i/X} --no-such-option >help 2>&1
	grep -qxE "RestartPreventExitStatus=$?( 78)?" "$3" || fail "$1: starts again"
}
unit pvfs-mgr.service mgr/pvfs-mgr pvfs-mgr.service
unit pvfs-mgr@.service mgr/pvfs-mgr pvfs-mgr@2.service
unit pvfs-iod@.service server/pvfs-iod pvfs-iod@7.service
files=(pvfs-mgr.service pvfs-mgr@2.service pvfs-iod@7.service)
if [ -f "$PVFS_BUILD/conf/pvfs-exporter.service" ]; then
	unit pvfs-exporter.service client/tools/pvfs-exporter pvfs-exporter.service
	files+=(pvfs-exporter.service)
fi

requires tool systemd-analyze
for file in "${files[@]}"; do
	systemd-analyze verify --man=no "$PWD/$file" >verified 2>&1
	grep -F "$file" verified && fail "systemd refuses $file"
done
say "$(systemd-analyze --version | head -n 1) takes them"

# rated UNIT MOST: checks the exposure of the unit, with the drop-ins of the installation
rated() {
	local dir=root/usr/lib/systemd/system rate

	mkdir -p "$dir/$1.d"
	cp "$1" "$dir/" || fail "cp"
	case $1 in
	pvfs-mgr*|pvfs-iod*) cp "$top/conf/sandbox.conf" "$dir/$1.d/" || fail "cp" ;;
	esac
	rate=$(systemd-analyze security --offline=true --root="$PWD/root" --no-pager "$1" |
		sed -n 's/^→ Overall exposure level for .*: \([0-9.]*\) .*/\1/p')
	[ -n "$rate" ] || fail "$1 is not rated"
	say "$1: $rate, at most $2"
	awk -v have="$rate" -v most="$2" 'BEGIN { exit !(have <= most) }' || fail "$1 is open"
}
grep -hE '^PrivateUsers=' "$top"/conf/*.conf "$PVFS_BUILD"/conf/*.service &&
	fail "SO_PEERCRED does not work with PrivateUsers"
systemd-analyze security --help | grep -q -e --offline || skip "needs systemd 250"
rated pvfs-mgr.service 2.0
rated pvfs-mgr@2.service 2.0
rated pvfs-iod@7.service 3.0
[ ! -f pvfs-exporter.service ] || rated pvfs-exporter.service 1.6
