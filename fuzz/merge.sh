#!/usr/bin/env bash
# Rebuilds fuzz/corpus: fuzz/merge.sh [TARGET...]. `make fuzz-corpus` first builds the targets and creates the seeds. To keep the
# corpus small, an input stays only if it takes a new branch; how often it takes one does not count. Seeds at a limit always stay.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
built=target/fuzz/$(rustc -vV | sed -n 's/^host: //p')/release
work=target/fuzz/work

targets=("$@")
(( $# )) || mapfile -t targets < <(sed -n 's/^path = "fuzz_targets\/\(.*\)\.rs"$/\1/p' fuzz/Cargo.toml)
for target in "${targets[@]}"; do
	merged=$work/merged/$target
	sources=()
	mkdir -p "$merged"
	for folder in "fuzz/corpus/$target" "$work/corpus/$target" "$work/seeds/$target"; do
		[[ -d $folder ]] && sources+=("$folder")
	done
	"$built/$target" -set_cover_merge=1 -use_counters=0 -max_len=2560 "-artifact_prefix=$work/" \
		"$merged" "${sources[@]}" > "$work/$target.merge.log" 2>&1 || { tail -20 "$work/$target.merge.log"; exit 1; }
	find "$work/seeds/$target" -name 'limit-*' -exec cp {} "$merged" \; 2>/dev/null || true
	rm -rf "fuzz/corpus/$target"
	mkdir -p fuzz/corpus
	mv "$merged" "fuzz/corpus/$target"
	printf '    %-20s %5d inputs, %7d bytes\n' "$target" \
		"$(find "fuzz/corpus/$target" -type f | wc -l)" "$(cat "fuzz/corpus/$target"/* | wc -c)"
done
