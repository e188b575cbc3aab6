#!/usr/bin/env bash
# Stop: lets the agent stop once a summary is written.
set -euo pipefail

input=$(cat)
[ "$(jq -r '.stop_hook_active // false' <<<"$input")" = true ] && exit 0
cwd=$(jq -r '.cwd // .working_dir // ""' <<<"$input")
[ -n "$cwd" ] || { echo 'the event names no `cwd` to look in' >&2; exit 1; }
file=$(jq -r '.file // "summary.md"' <<<"${HOOKCELL_CONFIG:-{\}}")
case $file in /*) path=$file ;; *) path=$cwd/$file ;; esac
[ -f "$path" ] && exit 0

reason="Write a summary of the work to $file before you stop."
jq -n --arg reason "$reason" '{decision: "block", reason: $reason}'
echo "$reason" >&2
exit 2
