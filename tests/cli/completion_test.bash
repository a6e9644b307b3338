#!/usr/bin/env bash
# completions/tare in a bash without readline, and those of fish and zsh: completion_test.bash TARE COMPLETION. Prints TAP.
set -u
PATH=$(dirname "$1"):$PATH
compopt() { :; }
. "$2"
n=0 failed=0

# The words of a line (the last is being written) and one that must be offered; "!word" must not be.
offers() {
	local wanted=$1 ok=1 got
	shift
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_tare
	got=$(printf '%s\n' "${COMPREPLY[@]-}")
	case $wanted in
	'!'*) grep -qxF -- "${wanted#!}" <<<"$got" && ok=0 ;;
	*) grep -qxF -- "$wanted" <<<"$got" || ok=0 ;;
	esac
	n=$((n + 1))
	if [ $ok = 1 ]; then
		echo "ok $n $* -> $wanted"
	else
		failed=1
		echo "not ok $n $* -> $wanted; offered:" $got
	fi
}

offers events tare ev
offers compare tare com
offers --threshold tare compare --th
offers gate tare ga
offers accept tare gate a
offers --measure-base tare gate --me
offers bisect tare bi
offers --first-parent tare bisect --fi
offers history tare hi
offers show tare history s
offers --notes tare history --no
offers exact tare compare --engine e
offers stat tare ''
offers '!tare' tare ''
offers --sysfs-root tare events --s
offers -e tare stat -
offers instructions tare stat -e instr
offers 'cycles,page-faults' tare stat -e cycles,page-f
offers '{cycles,branches' tare stat -e '{cycles,branche'
offers '!cycles' tare stat -e instr
offers instructions tare events explain instr
offers skl tare events --cpu s
offers plan tare msr p
offers msr-safe tare msr read --via msr
offers TSC_AUX tare msr read TSC_
offers skl tare msr plan --cpu s
offers --device-root tare msr read --d
offers '!skl' tare stat --cpu s
offers --cold tare bench --c
offers --like tare scan --l
offers csv tare scan --format c
offers page-faults tare scan --like page-f
offers flush tare bench --cold f
offers clock tare bench --engine c
offers kdb tare bench --format k
offers perf tare stat --engine p
offers exact tare stat --engine e
offers doctor tare help d
offers --pre tare stat --pr
offers record tare r
offers dwarf tare record --call-graph d
offers --switch-events tare record --sw
offers cpu-clock tare record -e cpu-c
offers json tare events --format j
offers --folded tare report --fo
offers comm,line tare report --sort comm,li
offers json tare report --format j
offers median tare summarize --sort m
offers percent tare diff --sort p
offers --check tare aggregate --ch
offers --per-thread tare summarize --per
offers --intel tare annotate --in
offers annotate tare ann
offers launch tare verify l
offers counts tare verify c
offers skid tare verify s
offers --format tare verify skid --f
offers --skid tare report --sk
offers --deterministic tare verify launch --d
offers --deterministic tare run --d
offers level tare memory --by l
offers sharing tare sh
offers --line-size tare sharing --li
offers --every tare diverge --e

# The other shells: their files are beside bash's. TEXT: a whole line of what FUNCTION prints, or what is offered.
said() { # NAME GOT TEXT
	n=$((n + 1))
	if grep -qF -- "$3" <<<"$2"; then
		echo "ok $n $1 -> $3"
	else
		failed=1
		echo "not ok $n $1 -> $3; offered:" $2
	fi
}

skipped() { # SHELL
	n=$((n + 1))
	echo "ok $n # SKIP $1 is not installed"
}

folder=$(dirname "$2")
if command -v fish >/dev/null; then
	in_fish() { said "fish: $1" "$(fish -N -c "source $folder/tare.fish; complete -C'$1'" 2>&1)" "$2"; }
	in_fish 'tare bis' "bisect	find the commit"
	in_fish 'tare stat --per-p' "--per-process	a row per process"
	in_fish 'tare bench -' "--unroll	copies of the code"
	in_fish 'tare stat -e page-f' page-faults
else
	skipped fish
fi
if command -v zsh >/dev/null; then
	in_zsh() { said "zsh: $1" "$(zsh -fc "source $folder/_tare; $1" 2>&1)" "$2"; }
	in_zsh _tare_commands "bisect:find the commit"
	in_zsh '_tare_options stat' "--per-process:a row per process"
	in_zsh '_tare_options stat' "-e:what to count"
	in_zsh '_tare_options stat' "--deterministic:fix items"
else
	skipped zsh
fi
echo "1..$n"
exit $failed
