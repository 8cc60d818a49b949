#!/usr/bin/env bash
# Changes policy.py and session.py in some 400 ways, and shows those that their tests do not notice.
# Needs mutmut 3.8 beside the workspace (uv pip install mutmut) and four minutes of one core.
# Not in CI: what survives wants a reader. It fails if less than 95 % are noticed.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A flat copy, because mutmut takes module names from paths below `src`.
mkdir -p "$work/src" "$work/tests/core"
cp -r packages/core/src/deferred_tools "$work/src/"
cp tests/core/{conftest,test_policy,test_session}.py "$work/tests/core/"
cat > "$work/pyproject.toml" <<'TOML'
[tool.pytest.ini_options]
addopts = "-q --strict-markers --import-mode=importlib -p no:cacheprovider"
filterwarnings = ["error"]

[tool.mutmut]
source_paths = ["src"]
only_mutate = ["src/deferred_tools/policy.py", "src/deferred_tools/session.py"]
pytest_add_cli_args = ["-x"]
pytest_add_cli_args_test_selection = ["tests/core/test_policy.py", "tests/core/test_session.py"]
TOML
cd "$work"
export CI=1  # Hypothesis then tries the same examples each time, and remembers none

"$python" -m mutmut run --max-children 1 > run.log || { tail -n 30 run.log; exit 1; }
for mutant in $("$python" -m mutmut results | sed -n 's/^ *\(.*\): survived$/\1/p'); do
    "$python" -m mutmut show "$mutant"
done
"$python" -m mutmut export-cicd-stats > /dev/null
"$python" - <<'PY'
import json
from pathlib import Path

stats = json.loads(Path("mutants/mutmut-cicd-stats.json").read_text())
share = stats["killed"] / stats["total"]
print(f"{stats['killed']} of {stats['total']} noticed: {share:.1%}")
raise SystemExit(share < 0.95)
PY
