#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-conf finds no mistake in the output of pvfs-mkconf.  It finds each planted mistake, prints
# its remedy, and starts nothing.
. "$(dirname "$0")/functions.sh"
pvfs_conf=$PVFS_BUILD/conf/pvfs-conf mkconf=$top/scripts/mkconf

hosts() { "$mkconf" "$@" | sed -n 's|^address = pvfs://||p' | paste -sd ' '; }

# ---- lists of hosts ----
expect 'n1:3000 n1:7000' hosts n1
expect 'n1:3000 n1:7000 n2:7000 n3:7000 n7:7000' hosts 'n{1-3,7}'
expect 'a-08.x:3000 a-08.x:7000 a-09.x:7000 a-10.x:7000' hosts 'a-{08-10}.x'
expect 'ra-1:3000 ra-1:7000 ra-2:7000 rb-1:7000 rb-2:7000' hosts 'r{a,b}-{1-2}'
expect 'h:3100 n1:7100 n1:7101 n2:7100 n2:7101' \
	hosts --mgr h --each 2 --port 3100 --iod-port 7100 'n{1-2}'
expect 'h:7000 n:7000' hosts --mgr h --port 7000 n
expect '[fe80::1]:3000 [fe80::1]:7000' hosts fe80::1
expect 'h1:3000 h2:3000 h3:3000 n:7000' hosts --mgr 'h{1-3}' n
expect $'h1,h2,h3:/\t/pvfs\tpvfs\tport=3000\t0\t0' "$mkconf" --pvfstab --mgr 'h{1-3}' n
expect $'h:/\t/pvfs\tpvfs\tport=3000\t0\t0' "$mkconf" --pvfstab --mgr h 'n{1-2}'
for bad in 'n{' 'n{1-}' 'n{3-1}' 'n{1}{2' 'n{1-99999}' 'n{1-1000}-{1-1000}' '--each 2 n{1-513}' '{}' 'n{1,,2}' 'n;x' 'n{$(x)}' \
	--what '--each 0 n' '--port 99999 n' '--storage x n' 'n n' '--iod-port 65535 --each 3 n' \
	'--port 7002 --each 3 n' '--mgr n2 --port 7000 n{1-2}' '--mgr h{1-2} n' '--mgr {a,b,a} n'; do
	must_fail "$mkconf" $bad
	grep -qE '^(mkconf: |usage)' output || fail "$bad: $(cat output)"
done
# a file that could not be written whole
for option in '' --pvfstab; do
	"$mkconf" $option n >/dev/full 2>err && fail "mkconf $option to a full disk exits 0"
done
[ "$("$mkconf" n | grep ^id)" != "$("$mkconf" n | grep ^id)" ] || fail "not a new id"

# ---- nothing is wrong ----
good() { "$mkconf" --storage "$tmp/none" --mgr head 'node{1-4,7}'; }
good >pvfs.conf
expect 'pvfs.conf: a manager and 5 iods: nothing is wrong' "$pvfs_conf" check pvfs.conf
sed 's|//[a-z0-9]*\.example|&|' "$top/conf/pvfs.conf" >example.conf
must "$pvfs_conf" check example.conf
[ ! -e none ] || fail "a check made storage"

# finds WORDS SED-EDIT: $lines lines contain all of WORDS
lines=1
finds() {
	good | sed "$2" >pvfs.conf
	"$pvfs_conf" check pvfs.conf >found 2>err
	[ $? = 1 ] || fail "$2: nothing found"
	[ "$(wc -l <found)" = $lines ] || fail "$2: $(cat found)"
	for word in $1; do
		grep -qF -- "$word" found || fail "$2: no '$word' in $(cat found)"
	done
}
lines=1
finds 'add address' '/^\[mgr\]/,/^$/d'
finds '[filesystem] id' '/^id = /d'
finds 'pvfs.conf: stripe_sise' 's/^id = /stripe_sise = 1\n&/'
finds '[iod.3] address' '/^\[iod.3\]/,/^$/{/address/d}'
finds '[iod.4] 5 gap' 's/^\[iod.4\]/[iod.5]/'
finds '[iod.1] [iod.0] another port' 's/node2:/node1:/'
finds '[iod.0] storage' '/^\[iod.0\]/,/^$/{s/^storage.*/storage = relative/}'
finds 'key /etc/pvfs/key' '/^key = /d'
finds '127.0.0.1 [iod.2] its host' 's/node3/127.0.0.1/'
finds '[mgr] [iod.0] storage own' "s/head/node1/; s|$tmp/none/iod0|$tmp/none/mgr|"
finds '[mgr] [iod.0] storage own' "s/head/node1/; s|$tmp/none/iod0|$tmp/none/mgr/0|"
finds '[mgr] [iod.0] storage own' "s/head/node1/; s|$tmp/none/mgr|/|"
finds '[iod.0] [mgr] storage own' "s/head/node1/; s|$tmp/none/iod0|/|"
# several servers have the mistake
lines=2
finds '[iod.1] [iod.4] threads' 's/^\[iod.[14]\]/&\nthreads = none/'
lines=1
finds 'threads' 's/^\[iod.0\]/[iod]\nthreads = none\n\n&/'
# transports that no build supports
finds '[iod] fabric "tpc" local, verbs and tcp' 's/^\[iod.0\]/[iod]\nfabric = verbs:tpc\n\n&/'
finds '[mgr] fabric "on"' 's/^\[mgr\]/&\nfabric = strict:on/'
# the other servers would reject this server; names are not resolved
finds '[iod.2] 10.2.0.3 allow' 's/^id = /allow = 10.1.0.0\/16\n&/; s/node3/10.2.0.3/; s/node4/10.1.0.4/'
# several managers
"$mkconf" --storage "$tmp/none" --mgr 'head{0-2}' 'node{1-2}' >several
expect 'several: 3 managers and 2 iods: nothing is wrong' "$pvfs_conf" check several
sed 's/^\[mgr.1\]/&\nslots = none/' several >one
"$pvfs_conf" check one >found 2>&1
grep -qF 'in [mgr.1]' found && [ "$(wc -l <found)" = 1 ] || fail "$(cat found)"
sed 's/^\[mgr.1\]/[mgr.3]/' several >gap
"$pvfs_conf" check gap >found 2>&1
grep -qF '[mgr.1] address: missing' found || fail "$(cat found)"
# a key file that others can read
echo x >key
chmod 644 key
finds 'chmod 600' "s|^key = .*|key = $tmp/key|"

# ---- usage ----
"$pvfs_conf" check none.conf >found 2>&1
[ $? = 1 ] && grep -q "none.conf.*pvfs-mkconf" found && ! grep -q -e --config found || fail "$(cat found)"
for bad in '' start 'check a b' --what; do
	"$pvfs_conf" $bad >found 2>&1
	[ $? = 2 ] || fail "pvfs-conf $bad: $(cat found)"
done
exit 0
