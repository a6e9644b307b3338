# Counts of the exact engine with each CPU model. Runs in an emulated machine, and on the host in a folder of the same files.
# Every count is a line "# count MODEL PROGRAM INSTRUCTIONS", which tests/guest-x86/isa_same compares between machines.

# `--engine exact` fails outright where it does not work, so a missing number is a failure.
count() { # MODEL NAME COMMAND...
	model=$1 name=$2
	shift 2
	if tare stat --engine exact -x, -e instructions:u --deterministic=+isa=$model,-pid,env=LD_LIBRARY_PATH -o /tmp/count -- "$@" >/tmp/out 2>/tmp/err </data; then
		echo "# count $model $name $(grep instructions /tmp/count | cut -d, -f1)"
	else
		sed 's/^/# /' /tmp/err
		grep -q 'cannot execute all of' /tmp/err && echo "# count $model $name refused"
	fi
}

cd /
for model in x86-64-v2 x86-64-v3; do
	count $model gzip gzip -c
	count $model sort sort --parallel=1 -S 1M
	count $model sha256sum sha256sum
	count $model perl perl -e 'my %h; $h{$_ % 97} .= "x" x ($_ % 50) for 1..500; print length join ",", map { "$_$h{$_}" } sort keys %h'
	count $model openssl openssl sha256
	count $model sqlite3 sqlite3 :memory: 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 500) select sum(i), group_concat(i) from n'
	count $model git git hash-object --stdin
	count $model static-glibc busybox sha256sum
	count $model nproc nproc --all
	[ ! -e /bin/cpus ] || count $model static-musl cpus
done
