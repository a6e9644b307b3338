# SPDX-License-Identifier: MIT
# Reading perf.data: CPU time (user and system) of one thread over cached files, best of five; perf on the same file.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
speed=$BUILD/bench/perfdata_speed

# Seconds of CPU time of a command with discarded output, best of $1 runs.
cpu() { # RUNS COMMAND...
	python3 - "$@" <<'END'
import resource, subprocess, sys
best = None
for _ in range(int(sys.argv[1])):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    best = took if best is None else min(best, took)
print(best)
END
}

# The loop of bench/perfdata.c, in GB/s.
rate() { # MODE FILE
	for i in 1 2 3 4 5; do "$speed" "$1" "$2"; done | sort -g |
		awk -v bytes="$(stat -c %s "$2")" 'NR == 1 { printf "%.2f", bytes / $1 / 1e9 }'
}

row() { printf '%s\t%s\t%s\t%s\t%s\n' "$@"; }

for kind in plain chain events big; do
	"$speed" make $kind 200000000 "$dir/$kind"
done
row 'perf.data read, samples of 48 bytes' "$(rate read "$dir/plain")" GB/s '>= 1' 'every record iterated and decoded, 200 MB'
row 'perf.data read, chains of 24' "$(rate read "$dir/chain")" GB/s '>= 1' 'the same; the chain is summed'
row 'perf.data read, 8 events by id' "$(rate read "$dir/events")" GB/s '>= 1' 'the same; samples of 56 bytes'
row 'perf.data read, big-endian' "$(rate read "$dir/big")" GB/s '' 'the same; samples of 48 bytes'
row 'perf.data by time' "$(rate order "$dir/plain")" GB/s '' 'rounds of 10000 samples of 48 bytes, sorted'

# perf's own time for a file of half a million samples: to read it, and to print all of it.
command -v perf >/dev/null || exit 0
"$speed" make plain 24000000 "$dir/small"
tare=$BUILD/src/tare
ratio() { awk -v perf="$(cpu 2 "$1" report "$2" -i "$dir/small")" -v own="$(cpu 2 "$tare" dump $3 "$dir/small")" 'BEGIN { printf "%.1f", perf / own }'; }
row 'tare dump --counts against perf report --stats' "$(ratio perf --stats --counts)" 'times less CPU' '' '24 MB of samples of 48 bytes; perf also looks up maps'
row 'tare dump against perf report -D' "$(ratio perf -D '')" 'times less CPU' '' 'the same, printed to /dev/null; perf prints the bytes too'
row 'tare dump --raw against perf report -D' "$(ratio perf -D --raw)" 'times less CPU' '' 'the same, with the bytes'
