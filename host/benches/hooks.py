"""The block-dangerous-commands hook as people write it in Python today: the benches' third runner."""

import json
import re
import sys

event = json.load(sys.stdin)
command = event.get("tool_input", {}).get("command", "")
if re.search(r"\brm\s+-(rf|fr)\b", command):
    json.dump({"decision": "deny", "reason": "rm -rf is blocked"}, sys.stdout)
    sys.exit(2)
