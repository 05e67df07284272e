#!/usr/bin/env bash
# Runs fuzz targets that are already built, several at a time: fuzz/run.sh SECONDS [TARGET...]. Without names it runs all
# targets. A target stops at its first finding and leaves the input in fuzz/artifacts. `make fuzz` builds them first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
built=target/fuzz/$(rustc -vV | sed -n 's/^host: //p')/release
work=target/fuzz/work

# An input that takes ten seconds or a gigabyte is a finding. Decoders of signatures and tokens accept at most 8 KiB, everything
# else at most 2 KiB, so there is no point in trying much longer inputs.
run_one() {
	local target=$1 seconds=$2 status=0 runs dictionary=() longest=2304
	[[ $target == sign* || $target == token ]] && longest=12288
	mkdir -p "$work/corpus/$target" "$work/results" "fuzz/artifacts/$target" "fuzz/corpus/$target"
	local log=$work/$target.log
	for name in "$target" "${target%%_*}"; do
		[[ -e fuzz/dictionaries/$name.dict ]] && dictionary=("-dict=fuzz/dictionaries/$name.dict") && break
	done
	"$built/$target" "-max_total_time=$seconds" -timeout=10 -rss_limit_mb=1024 "-max_len=$longest" -print_final_stats=1 \
		"-artifact_prefix=fuzz/artifacts/$target/" "${dictionary[@]}" \
		"$work/corpus/$target" "fuzz/corpus/$target" > "$log" 2>&1 || status=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
	echo "${runs:-0} $(( status != 0 ))" > "$work/results/$target"
	if (( status == 0 )); then
		printf '    %-20s %12d runs\n' "$target" "${runs:-0}"
	else
		printf '    %-20s %12d runs, A FINDING (the whole log: %s):\n' "$target" "${runs:-0}" "$log"
		grep -aA 2 'panicked at' "$log" | cut -c1-800 | sed 's/^/        /' || true
		grep -aoE 'SUMMARY.*|Test unit written.*|^Base64.*' "$log" | sed 's/^/        /' || true
	fi
}

if [[ ${1:-} == --one ]]; then
	run_one "$3" "$2"
	exit
fi

seconds=${1:?how many seconds for each target}
shift
targets=("$@")
(( $# )) || mapfile -t targets < <(sed -n 's/^path = "fuzz_targets\/\(.*\)\.rs"$/\1/p' fuzz/Cargo.toml)
rm -rf "$work/results"
printf '%s\n' "${targets[@]}" | xargs -P "${FUZZ_JOBS:-$(nproc)}" -n 1 "$0" --one "$seconds"
awk -v targets="${#targets[@]}" '
	{ runs += $1; findings += $2 }
	END {
		printf "fuzz: %d targets, %d runs, %d findings\n", NR, runs, findings
		exit NR != targets || findings > 0
	}' "$work"/results/*
