#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The page of pvfs-exporter in a real browser: figures appear, text from users is shown as text,
# nothing is loaded from elsewhere, and the browser's policy blocks nothing of the page.
. "$(dirname "$0")/functions.sh"
. "$e2e/exporting.sh"
requires tool chromium

start_pvfs -n 3
sed 's|/pvfs |/pv"<b>x</b>\&y |' "$state/pvfstab" >evil
PVFSTAB_FILE=$PWD/evil start_exporter --timeout 30000 --users 5
export PVFS_DIRECT=off PVFS_JOB_ID='<i>evil&job'
for ((i = 0; ; i++)); do
	pvio write "/pvfs/f$((i % 9))" 0 300000 1 && pvio check "/pvfs/f$((i % 9))" 0 1000 1
	pvio mkdir /pvfs/d
	sleep 0.1
done >/dev/null 2>&1 &
helpers+=($!)

# browse NAME [OPTION...]: saves the page as it is after some polls
browse() {
	local out=$1
	shift
	HOME=$tmp timeout 300 chromium --headless --no-sandbox --disable-gpu \
		--no-proxy-server --disable-dev-shm-usage --user-data-dir="$tmp/chromium" \
		--enable-logging=stderr --virtual-time-budget=12000 "$@" "$url/" \
		>"$out" 2>browser || fail "chromium: exit $?: $(tail -n 5 browser)"
}
# On a busy machine nothing may have been written between two polls: tries again.
looks_right() {
	browse dom --dump-dom
	python3 - 2>why <<'END'
import html, re
dom = open("dom").read()
body = dom[dom.index("<body"):]
steps = int(re.search(r'data-steps="(\d+)"', body).group(1))
assert steps >= 2, steps
shown = re.sub(r"<script>.*?</script>", "", body, flags=re.S)
assert 'id="mount">/pv"&lt;b&gt;x&lt;/b&gt;&amp;y<' in shown, shown[:500]
assert "<b>x" not in shown
# users and jobs: most was written by this test, whose user and job are known
jobs = re.search(r'<section id="jobs" class="wide"><h2>Users and jobs</h2>(.*?)</section>', shown, re.S)
assert jobs, "no jobs"
cells = re.findall(r"<td[^>]*>(.*?)</td>", next(r for r in jobs.group(1).split("<tr>") if "&lt;i&gt;evil&amp;job" in r))
assert len(cells) == 7 and cells[0].isdigit() and re.search(r"[KM]iB$", cells[5]), cells
assert "<i>" not in shown
text = html.unescape(re.sub(r"<[^>]*>", "|", shown))
text = re.sub(r"\|+", "|", text)
assert "|servers up|4 of 4|" in text, text
assert "|all servers answer|" in text, text
for name in ("iod0", "iod1", "iod2", "mgr", "WRITE", "MKDIR"):
    assert f"|{name}|" in text, (name, text)
assert re.search(r"\|written\|[0-9.]+ [KM]iB/s\|", text), text
assert re.search(r"\|requests\|[0-9.]+( k)?/s\|", text), text
assert re.search(r"MKDIR: \d+ of \d+ were answered with an error", text), text
assert shown.count('class="heat"') >= 4, shown.count('class="heat"')
assert re.search(r'<path class="in" d="M[0-9. L-]+"', shown), "no throughput"
assert not re.search(r"NaN|undefined|Infinity|\[object", text), text
END
}
for ((i = 1; ; i++)); do
	looks_right && break
	[ $i -lt 8 ] || fail "$(cat why)"
done
! grep -E 'Content Security Policy|Uncaught|SyntaxError|TypeError' browser || fail "$(grep CONSOLE browser)"

# An unavailable server is red.
must cluster stop-iod 1
browse dom --dump-dom
grep -qE '>1 of 4 servers away<' dom && grep -q '<li class="bad">iod1 (tcp://' dom || fail "$(tail -c 3000 dom)"
exit 0
