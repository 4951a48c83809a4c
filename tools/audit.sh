#!/usr/bin/env bash
# Licences, origins and known flaws of what Joulemark is built from. Flaws are looked up in public
# databases; where one cannot be reached, that is said and is no failure.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
cargo deny --offline check --hide-inclusion-graph licenses bans sources
if timeout 60 cargo deny fetch db >/dev/null 2>&1; then
    cargo deny check --hide-inclusion-graph advisories
else
    echo "audit: the database of Rust's advisories cannot be reached: not checked" >&2
fi
found=$(mktemp)
trap 'rm -f "$found"' EXIT
timeout 120 pip-audit --requirement requirements.lock --disable-pip --require-hashes \
    --progress-spinner off --format json >"$found" 2>/dev/null || true
python - "$found" <<'PYTHON'
"""Fail if a package has a known flaw; say how many could not be looked up."""

import json
import sys
from pathlib import Path

text = Path(sys.argv[1]).read_text(encoding="utf-8")
packages = json.loads(text)["dependencies"] if text else []
flawed = [p for p in packages if p.get("vulns")]
for package in flawed:
    flaws = ", ".join(flaw["id"] for flaw in package["vulns"])
    print(f"audit: {package['name']} {package['version']}: {flaws}", file=sys.stderr)
skipped = sum("skip_reason" in p for p in packages)
if not packages or skipped:
    what = f"{skipped} of {len(packages)} packages" if packages else "Python's packages"
    print(f"audit: {what} could not be looked up: not checked", file=sys.stderr)
sys.exit(bool(flawed))
PYTHON
