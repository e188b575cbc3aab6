#!/usr/bin/env bash
# PostToolUse: appends a line for each tool that ran.
set -euo pipefail

input=$(cat)
cwd=$(jq -r '.cwd // .working_dir // ""' <<<"$input")
[ -n "$cwd" ] || { echo 'the event names no `cwd` to log in' >&2; exit 1; }
file=$(jq -r '.file // ".hookcell/tool-use.log"' <<<"${HOOKCELL_CONFIG:-{\}}")
names=$(jq -r '(.tool_name // "" | @json) + " " + (.session_id // "" | @json)' <<<"$input")
case $file in /*) ;; *) file=$cwd/$file ;; esac
printf '%s %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$names" >>"$file"
