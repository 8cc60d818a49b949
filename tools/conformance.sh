#!/usr/bin/env bash
# The official MCP conformance suite, against our source, a test server and that server behind the
# gateway. Fetches the suite from npm into the user's cache at first; needs npm and Node.
# Usage: tools/conformance.sh [--only PATTERN]
set -euo pipefail
cd "$(dirname "$0")/.."
exec python -m tests.conformance.mcp "$@"
