#!/usr/bin/env bash
# PreToolUse: denies dangerous commands, by looking for their text.
set -euo pipefail

command=$(jq -r '.tool_input.command // ""')
for pattern in 'rm -rf' 'rm -fr' 'mkfs' 'of=/dev/sd' 'of=/dev/nvme'; do
    if [[ $command == *"$pattern"* ]]; then
        reason="This command is blocked: it holds the text $pattern."
        jq -n --arg reason "$reason" '{decision: "deny", reason: $reason}'
        echo "$reason" >&2
        exit 2
    fi
done
