# SPDX-License-Identifier: MIT
# Precise samples: how fast they are read and summed up, compared with Debian's perf on the same files. bench/accesses.c makes the
# recordings: four threads with random accesses to 1 GiB of memory, so neither tare's nor perf's caches help.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
speed=$BUILD/bench/accesses_speed
tare=$BUILD/src/tare

# Seconds of CPU time and MiB of a command, best of $1 runs.
cost() { # RUNS COMMAND...
	python3 - "$@" <<'PY'
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
PY
}

row() { printf '%s\t%s\t%s\t%s\t%s\n' "$@"; }
best() { for i in 1 2 3 4 5; do "$speed" read "$1"; done | sort -g | awk 'NR == 1 { print $1 }'; }

for kind in pebs ibs spe; do
	"$speed" make $kind 2000000 "$dir/$kind"
done
row 'SPE decoded to accesses' "$(best "$dir/spe" | awk '{ printf "%.0f", 128 / $1 }')" MB/s '>= 300' '2 M records of 64 bytes, one core, CPU time, best of five'
row 'IBS decoded to accesses' "$(best "$dir/ibs" | awk '{ printf "%.1f", 2 / $1 }')" 'M/s' '>= 5' '2 M op samples with 8 registers'
row 'PEBS decoded to accesses' "$(best "$dir/pebs" | awk '{ printf "%.1f", 2 / $1 }')" 'M/s' '' '2 M samples of 72 bytes'

"$speed" make pebs 10000000 "$dir/big"
for by in line symbol page; do
	set -- $(cost 1 "$tare" memory --by $by "$dir/big")
	row "tare memory --by $by, 10 M accesses" "$1" 's CPU' "$([ $by = line ] && echo '<= 10')" "$2 MiB"
	row "tare memory --by $by: memory" "$2" MiB '<= 1024' 'the same'
done
set -- $(cost 1 "$tare" sharing "$dir/big")
row 'tare sharing, 10 M accesses' "$1" 's CPU' '' '6 M lines'
row 'tare sharing: memory' "$2" MiB '<= 1024' 'the same'

command -v perf >/dev/null || exit 0
"$speed" make pebs 500000 "$dir/small"
beside() { # WHAT OURS... -- PERF...
	what=$1 ours=$2 theirs=$3
	set -- $(cost 2 $ours "$dir/small") $(cost 2 $theirs -i "$dir/small")
	row "$what" "$(echo "$3 $1" | awk '{ printf "%.1f", $1 / $2 }')" 'times less CPU' '' "500,000 samples: $1 s and $2 MiB, perf $3 s and $4 MiB"
}
beside 'tare memory --by instruction against perf mem report' "$tare memory --by instruction" 'perf mem report --stdio'
beside 'tare sharing against perf c2c report' "$tare sharing" 'perf c2c report --stdio'
for kind in spe ibs; do
	"$speed" make $kind 200000 "$dir/dump"
	set -- $(cost 2 "$tare" dump --raw "$dir/dump") $(cost 2 perf report -D -i "$dir/dump")
	row "tare dump --raw against perf report -D, $kind" "$(echo "$3 $1" | awk '{ printf "%.1f", $1 / $2 }')" 'times less CPU' '' "200,000 records: $1 s, perf $3 s"
done
