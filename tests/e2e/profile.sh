#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# PVFS_PROFILE: each call is counted, in the library, under the preload library, in children and
# under ranks. pvfs-profile shows the counts, finds planted problems and nothing else, and rejects
# files that are no profile. A profile never breaks a program.
. "$(dirname "$0")/functions.sh"
requires tool python3

start_pvfs -n 2
cd "$tmp" || exit 1

# profiled NAME OP PATH COUNT SIZE: runs pvprofile; the profile is NAME
profiled() {
	PVFS_PROFILE=$1 must pvprofile "${@:2}"
	[ -s "$1" ] || fail "no $1"
}

# holds FILE CONDITION...: conditions on the profile d, its total t, its writes w and its reads r
holds() {
	python3 - "$@" <<'END' || fail "$*: $(cat "$1")"
import json, sys
d = json.load(open(sys.argv[1]))
t = d["total"]
c, r, w = t["calls"], t["reads"], t["writes"]
for condition in sys.argv[2:]:
    assert eval(condition), condition
END
}

# advised NAME FILE...: exactly these rules apply, separated by commas
advised() {
	local want=$1
	shift
	pvfs-profile -j "$@" >advice.json || fail "pvfs-profile $*"
	expect "$want" python3 -c '
import json
print(",".join(a["rule"] for a in json.load(open("advice.json"))["advice"]) or "-")'
}

# ---- the counts ----

profiled small write /pvfs/a 200 64
holds small 'c["open"] == c["close"] == 1' 'c["write"] == 200' 'c["read"] == 0' \
	'w["bytes"] == 12800' 'w["histogram"] == [200] + [0] * 9' \
	'w["consecutive"] == w["sequential"] == 199' 'w["strided"] == 0' \
	'w["sizes"] == [{"bytes": 64, "count": 200}]' 'w["strides"] == []' \
	'w["unaligned"] == 199 and w["large"] == 0' 't["errors"] == 0' \
	'[f["name"] for f in d["files"]] == ["/pvfs/a"]' \
	'd["files"][0]["writes"] == w and d["files"][0]["stripe"] == 65536' \
	'd["files"][0]["iods"] == 2 and d["files"][0]["opened"] == "rw"' \
	'0 < t["first_ns"] <= t["last_ns"] <= d["run_ns"]' \
	'0 < t["ns"]["write"] < d["run_ns"]' 't["slowest"]["ns"] > 0' \
	'd["program"] == "pvprofile" and "rank" not in d'
profiled back back /pvfs/a 16 65536
holds back 'c["write"] == 16' 'w["sequential"] == 0' 'w["strided"] == 14' \
	'w["strides"] == [{"bytes": -65536, "count": 15}]' \
	'w["large"] == 16 and w["large_unaligned"] == 0'
profiled apart apart /pvfs/a 120 4096
holds apart 'w["sequential"] == 119 and w["consecutive"] == 0' 'w["strided"] == 118' \
	'w["strides"] == [{"bytes": 8192, "count": 119}]'
profiled shift shift /pvfs/a 20 65536
holds shift 'w["unaligned"] == w["large_unaligned"] == 20'
profiled lists lists /pvfs/a 5 800
holds lists 'c["list_write"] == 5 and c["write"] == 0' 't["list_pieces"] == 40' \
	'w["bytes"] == 4000'
profiled open open /pvfs/b 30 1
holds open 'c["open"] == c["close"] == 30' 'len(d["files"]) == 1'
profiled stat stat /pvfs/b 1200 1
holds stat 'c["stat"] == 1200' 'd["files"] == []' 'd["names"]["calls"]["stat"] == 1200'
profiled sync sync /pvfs/b 20 65536
holds sync 'c["fsync"] == c["write"] == 20'
profiled aio aio /pvfs/b 10 1048576
holds aio 'c["aio"] == c["write"] == 10' 'w["bytes"] == 10 << 20' 'c["aio_wait"] == 10' \
	't["ns"]["write"] == 0 and t["ns"]["aio"] > 0'
profiled good write /pvfs/big 24 1048576
profiled read read /pvfs/big 24 1048576
holds read 'c["read"] == 24 and c["write"] == 0' 'r["consecutive"] == 23' \
	'd["files"][0]["opened"] == "r"'

# errors of calls, and names that JSON must escape
mkdir away
(
	cd away || exit 1
	PVFS_PROFILE=../odd pvprofile read '/pvfs/none' 1 1 2>/dev/null &&
		fail "it is not there"
	PVFS_PROFILE=../odd must pvprofile write $'/pvfs/a"\\\t\xc3\xa4\xff' 1 1
)
holds odd 't["errors"] == 1 and d["names"]["calls"]["open"] == 1'
holds "$(ls odd.*)" 'd["files"][0]["name"] == "/pvfs/a\"\\\t\u00e4\ufffd"'

# ---- whose file it is ----

PVFS_PROFILE='p-%p-%r-%%' must pvprofile open /pvfs/b 1 1
ls p-[0-9]*-norank-% >/dev/null || fail "$(ls)"
PVFS_PROFILE=1 must pvprofile open /pvfs/b 1 1
ls pvfs-profile."$(hostname)".[0-9]*.json >/dev/null || fail "$(ls)"
profiled fork fork /pvfs/b 10 65536
holds fork 'c["write"] == 5' 'c["open"] == 1'
holds "$(ls fork.*)" 'c["write"] == 5' 'c["open"] == 0' 'c["close"] == 1' \
	'd["files"][0]["name"] == "/pvfs/b"'

# without the variable nothing is written; no existing file is lost; the exit status stays the same
must pvprofile open /pvfs/b 1 1
expect 0 sh -c 'ls | grep -c "^profile"'
cp small small.kept
profiled small write /pvfs/a 1 1
cmp small small.kept || fail "it was written over"
PVFS_PROFILE=none/out must pvprofile write /pvfs/a 3 100 2>err
expect 1 grep -c 'PVFS_PROFILE=.*none/out: No such file or directory: no profile is written' err
expect 1 sh -c 'wc -l <err'
# (over local the transport itself needs files)
[ "${PVFS_TEST_SCHEME:-tcp}" = local ] || {
	{ (ulimit -f 0 && PVFS_PROFILE=limit exec pvprofile write /pvfs/a 3 100) &&
		echo ended; } 2>&1 | cat >err
	grep -q '^ended' err || fail "a limit on files ends the program: $(cat err)"
	grep -q 'limit: File too large' err || fail "$(cat err)"
	[ ! -e limit ] || fail "half of a profile"
}

# ---- on the way, by a signal; the program's own handler stays ----

PVFS_PROFILE=way PVFS_PROFILE_SIGNAL=USR1 pvprofile wait /pvfs/a 7 64 >ready &
waits=$!
helpers+=("$waits")
until_true 60 grep -q ready ready
kill -USR1 "$waits"
until_true 60 test -s way
holds way 'c["write"] == 7'
# a FIFO with the name of the next file: nothing is written to it, and nothing hangs
mkfifo way.new
was=$(stat -c %i way)
renewed() { [ "$(stat -c %i way)" != "$was" ] && [ -f way ] && [ ! -e way.new ]; }
kill -USR1 "$waits"
until_true 60 renewed
holds way 'c["write"] == 7'
kill "$waits"
wait "$waits" 2>/dev/null
helpers=()
PVFS_PROFILE=own PVFS_PROFILE_SIGNAL=USR1 must pvprofile handle /pvfs/a 7 64 >handled 2>err
grep -q handled handled || fail "its handler was taken: $(cat err)"
holds own 'c["write"] == 7'
PVFS_PROFILE=own2 PVFS_PROFILE_SIGNAL=TERM must pvprofile open /pvfs/b 1 1 2>err
grep -q 'PVFS_PROFILE_SIGNAL=TERM: want' err || fail "$(cat err)"

# ---- under the preload library: programs that know nothing of it ----

if [ -e "$PVFS_BUILD/client/preload/libpvfs-preload.so" ]; then
	. "$e2e/preloading.sh"
	PVFS_PROFILE=dd must past dd if=/dev/zero of=/pvfs/dd bs=4096 count=10 status=none
	holds dd 'c["write"] == 10' 'w["bytes"] == 40960' 'd["files"][0]["name"] == "/pvfs/dd"'
	# the profile is written before another program replaces this one
	PVFS_PROFILE=exec must past sh -c 'echo hello >/pvfs/exec; exec cat /pvfs/exec'
	cat exec exec.* >all 2>/dev/null
	grep -q '"program": "sh"' all || fail "$(cat all)"
	grep -q '"program": "cat"' all || fail "$(cat all)"
fi

# ---- ranks ----

for rank in 0 1 2 3; do
	size=65536
	[ $rank != 2 ] || size=4194304
	PMI_RANK=$rank PMI_SIZE=4 PVFS_PROFILE=rank.%r must pvprofile write /pvfs/shared 10 $size
done
holds rank.3 'd["rank"] == 3 and d["ranks"] == 4'
must pvfs-profile rank.* >text
grep -q '^pvprofile: 4 processes of 4 ranks' text || fail "$(cat text)"
grep -Eq ' 40M .* rank 2( |$)' text || fail "$(cat text)"
grep -Eq ' 4 shared /pvfs/shared$' text || fail "$(cat text)"
[ "$(grep -c '(slowest)' text)" = 1 ] || fail "$(cat text)"
grep -q '^advice: rank 2 moves 96 % of the bytes' text || fail "$(cat text)"
holds <(pvfs-profile -j rank.*) 't["writes"]["bytes"] == 30 * 65536 + 10 * (4 << 20)' \
	'[p["rank"] for p in d["processes"]] == [0, 1, 2, 3]' \
	'len(d["files"]) == 1 and d["files"][0]["processes"] == 4'

if command -v mpiexec.mpich >/dev/null && ldd "$(command -v pvfs-test)" | grep -q libmpich; then
	PVFS_PROFILE=mpi.%r must mpiexec.mpich -n 4 \
		"$(command -v pvfs-test)" -b 262144 -i 3 -f /pvfs/mpi >text
	expect "mpi.0 mpi.1 mpi.2 mpi.3" echo mpi.*
	holds mpi.2 'd["rank"] == 2 and d["ranks"] == 4' 'w["bytes"] > 0' \
		'w["sizes"][0]["bytes"] == 262144' 'c["write"] == w["sizes"][0]["count"]'
	holds <(pvfs-profile -j mpi.*) 'len(d["processes"]) == 4' \
		'len({p["writes"]["bytes"] for p in d["processes"]}) == 1'
	advised - mpi.*
fi

# ---- advice: each one that is planted, none without ----

advised small-writes small.kept
PVFS_PROFILE=sr must pvprofile read /pvfs/a 200 64
advised small-reads sr
advised small-writes,strided apart
advised unaligned-writes shift
advised metadata stat
advised reopened open
advised flushes sync
advised one-rank rank.*
advised - good read
advised - back lists aio
must pvfs-profile small.kept >text
grep -q '^advice: 100 % of your writes are of 64 bytes' text || fail "$(cat text)"

# ---- a picture ----

must pvfs-profile --svg out.svg rank.* >/dev/null
python3 - <<'END' || fail "$(cat out.svg)"
import xml.dom.minidom
d = xml.dom.minidom.parse("out.svg")
bars = [r for r in d.getElementsByTagName("rect")]
assert len(bars) == 10 * 2 + 4 * 2 + 4, len(bars)
text = " ".join(t.firstChild.data for t in d.getElementsByTagName("text"))
assert "rank 3" in text and "64K" not in text and "100K-1M" in text, text
assert "prefers-color-scheme:dark" in open("out.svg").read()
END
must_fail pvfs-profile --svg none/out.svg small.kept

# ---- files that are no profile ----

refused() {
	must_fail pvfs-profile "$1"
	grep -q "^pvfs-profile: $1: no profile: ." "$tmp/output" || fail "$1: $(cat "$tmp/output")"
}
head -c 500 small.kept >half && refused half
grep -q 'ends in the middle' "$tmp/output" || fail "$(cat "$tmp/output")"
: >empty && refused empty
echo '[]' >array && refused array
python3 -c 'print("[" * 100000)' >deep && refused deep
python3 -c 'print("{\"a\":" * 100000)' >deeper && refused deeper
truncate -s 100G huge && refused huge
head -c 100000 /dev/urandom >noise && refused noise
refused /pvfs-none
mkfifo fifo && refused fifo
refused .
sed 's/"calls": {"open": 1/"calls": {"open": -1/' small.kept >minus && refused minus
sed 's/"histogram": \[/"histogram": [1, /' small.kept >long && refused long
sed 's/"slowest": {"call": "[a-z]*"/"slowest": {"call": "x"/' small.kept >kind && refused kind
sed 's/"name": "[^"]*"/"name": 5/' small.kept >name && refused name
must_fail pvfs-profile small.kept half
grep -q '^pvprofile: 1 process' "$tmp/output" || fail "$(cat "$tmp/output")"
