#!/usr/bin/env bash
# UserPromptSubmit: tells the model which branch and commit the project is at.
set -euo pipefail

input=$(cat)
cwd=$(jq -r '.cwd // .working_dir // ""' <<<"$input")
[ -n "$cwd" ] && [ -e "$cwd/.git" ] || exit 0

# Not --short, which says heads/x where a tag is named x too.
branch=$(git -C "$cwd" symbolic-ref --quiet HEAD || true)
branch=${branch#refs/heads/}
commit=$(git -C "$cwd" rev-parse --verify --quiet HEAD || true)
if [ -n "$branch" ] && [ -n "$commit" ]; then
    text="The git branch is $branch, at commit $commit."
elif [ -n "$branch" ]; then
    text="The git branch is $branch, without commits."
elif [ -n "$commit" ]; then
    text="The git HEAD is detached, at commit $commit."
else
    exit 0
fi
jq -n --arg text "$text" \
    '{additionalContext: $text, hookSpecificOutput: {hookEventName: "UserPromptSubmit", additionalContext: $text}}'
