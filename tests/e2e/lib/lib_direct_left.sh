#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Clients get signals, cancel threads and fork while they write to borrowed objects. Afterwards no
# client is marked as inside a write, unless a handler jumped out of it. Such a client keeps its
# session and loses nothing.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 1
lent=$(echo "$state"/iod0*/lent)
for way in handle cancel fork; do
	expect ok timeout 100 lib_direct_left /pvfs $way "$lent"
done
cat >"$tmp/again" <<EOF
#!/bin/bash
"$top/scripts/cluster" -d "$state" kill-iod 0 && "$top/scripts/cluster" -d "$state" start-iod 0
EOF
chmod +x "$tmp/again"
expect ok timeout 100 lib_direct_left /pvfs jump "$lent" "$tmp/again >/dev/null"
must grep -q 'was replaced by a copy' "$state"/log/iod0.log
