# SPDX-License-Identifier: MIT
# tare report compared with Debian's perf report on the same files: CPU time (user and system), best of three each, and the largest memory.
# Recordings are made here, of this machine at work, and made longer by repeating their samples.
command -v perf >/dev/null || exit 0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tare=$BUILD/src/tare
src="src/event/parse.c -Isrc -Iinclude -D_GNU_SOURCE"

# Seconds of CPU time and MiB of a command, best of $1 runs.
cost() { # RUNS COMMAND...
	python3 - "$@" <<'END'
import os, subprocess, sys
best, most = None, 0
for _ in range(int(sys.argv[1])):
    p = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, use = os.wait4(p.pid, 0)
    if status:
        sys.exit(f"{sys.argv[2:]}: status {status}")
    took = use.ru_utime + use.ru_stime
    best = took if best is None else min(best, took)
    most = max(most, use.ru_maxrss / 1024)
print(f"{best:.3f} {most:.0f}")
END
}

row() { printf '%s\t%s\t%s\t%s\t%s\n' "$@"; }

# WHAT FILE LEAST: times faster than perf report, at least; and the memory.
beside() {
	set -- "$1" "$2" "$3" $(cost 3 "$tare" report "$2") $(cost 3 perf report --stdio --no-inline -i "$2")
	row "tare report, $1" "$4" 's CPU' '' "perf report --stdio: $6 s"
	row "tare report, $1: how much faster" "$(echo "$6 $4" | awk '{ printf "%.1f", $1 / $2 }')" times ">= $3" 'CPU time of perf report over that of tare report'
	row "tare report, $1: memory" "$(echo "$5 $7" | awk '{ printf "%.2f", $1 / $2 }')" "of perf's" '<= 0.5' "$5 MiB, perf $7 MiB"
}

"$tare" record -q -e cpu-clock -F 5000 -g -o "$dir/fp" -- sh -c "for i in 1 2 3 4 5 6 7 8; do gcc -O2 -c $src -o $dir/x.o; done" 2>/dev/null
samples=$("$tare" dump --counts "$dir/fp" | awk '$1 == "SAMPLE" { print $2 }')
python3 bench/repeat_samples.py "$dir/fp" "$dir/fp1m" $((1000000 / samples + 1))
beside '1 M samples with call chains' "$dir/fp1m" 10

perf record -q -e cpu-clock:u -F 5000 --call-graph dwarf -o "$dir/dwarf" -- gcc -O2 -c $src -o "$dir/x.o" 2>/dev/null
python3 bench/repeat_samples.py "$dir/dwarf" "$dir/dwarf10" 10
beside '15,000 samples with stacks to unwind' "$dir/dwarf10" 3

# Names of 20,000 different addresses of a program with uncached symbols: the largest one on this machine.
for program in /usr/lib/chromium/chromium "$tare"; do
	[ -f "$program" ] || continue
	python3 bench/cold_symbols.py "$program" 20000 "$dir/cold"
	set -- $(cost 3 "$tare" report -n 0 "$dir/cold")
	row "20,000 addresses of ${program##*/}, $(($(stat -Lc %s "$program") >> 20)) MiB, cold" "$1" 's CPU' '< 5' "$2 MiB"
done

# A recording without rounds, which is sorted by looking ahead.
fixture=${TARE_FIXTURES:-../shared/fixtures}/perfdata/x86-callchain.perf.data
[ -f "$fixture" ] || exit 0
python3 bench/repeat_samples.py "$fixture" "$dir/unrounded" 566
beside '1 M samples without rounds' "$dir/unrounded" 10
