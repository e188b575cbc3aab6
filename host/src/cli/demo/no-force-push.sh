#!/bin/sh
# A hook as people have them today: the event on stdin, exit code 2 for a block.
if grep -Eq 'git push[^"]*(--force|-f)'; then
    echo 'force pushes rewrite what others have pulled' >&2
    exit 2
fi
