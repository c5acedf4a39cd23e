"""Our points, affected keys and changelog selection against the benchmark repository's own generator.

For pull requests drawn by a fixed seed, the generator is taken out of the history as it stood at the base
and at the head of each, run over the master configurations of that revision, and its rows are held against
ours. Needs a clone of the repository, PyYAML and pydantic; without a clone it says so and does nothing.

    python3 tests/oracle/matrix_oracle.py --git-dir CLONE [--pulls 60] [--seed 20261201] [--binary PATH]
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

# Where the generator and its inputs stood, newest first.
GENERATORS = (
    "inferencex-e2e/infx/matrix_logic/generate_sweep_configs.py",
    "infx/matrix_logic/generate_sweep_configs.py",
    "utils/matrix_logic/generate_sweep_configs.py",
)
CONFIGS = ("inferencex-e2e/configs/", "configs/", ".github/configs/")
CHANGELOGS = ("inferencex-e2e/perf-changelog.yaml", "perf-changelog.yaml")
# Of a row, what names it or belongs to a job rather than to a recipe.
NO_RECIPE = ("conc", "exp-name", "recipe-fingerprint", "run-eval", "eval-only", "line", "family", "eval-conc")


class Clone:
    def __init__(self, git_dir):
        self.git_dir = git_dir

    def git(self, *args):
        done = subprocess.run(["git", f"--git-dir={self.git_dir}", *args], capture_output=True, check=True)
        return done.stdout

    def paths(self, commit):
        return self.git("ls-tree", "-r", "--name-only", commit).decode().splitlines()

    def extract(self, commit, paths, into):
        for path in paths:
            target = Path(into) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(self.git("show", f"{commit}:{path}"))

    def merged(self, since):
        """Merged pull requests: number, head, base, oldest first."""
        lines = self.git("log", "--first-parent", "--reverse", f"--since={since}", "--format=%H %s").decode()
        for line in lines.splitlines():
            sha, subject = line.split(" ", 1)
            found = re.search(r"\(#(\d+)\)", subject)
            if found:
                yield int(found.group(1)), sha, f"{sha}^"

    def touches(self, base, head):
        """Whether a pull request changes a master configuration or the changelog."""
        names = self.git("diff", "--name-only", base, head).decode().split()
        return any(name.endswith("-master.yaml") or name in CHANGELOGS for name in names)


def normal(row):
    """A row of the generator in the form in which revisions compare."""
    row = {key: value for key, value in row.items() if value is not None}
    # Rows of one node name no disaggregation where they replay agents' sessions.
    for role in ("prefill", "decode"):
        if role in row:
            worker = {key: value for key, value in row[role].items() if value not in (None, [])}
            settings = worker.pop("additional-settings", [])
            kept = []
            for setting in settings:
                name, _, value = setting.partition("=")
                field = {"CONFIG_FILE": "srt-recipe", "EVAL_CONFIG_FILE": "eval-srt-recipe"}.get(name)
                if field:
                    row[field] = value
                else:
                    kept.append(setting)
            if kept:
                worker["additional-settings"] = kept
            for field in ("pp", "dcp-size", "pcp-size"):
                worker.setdefault(field, 1)
            row[role] = worker
    # Older generators left the way of speculating out where there was none, and named a backend alone.
    row.setdefault("spec-decoding", "none")
    # They also left out a budget of memory of which nothing is used.
    if row.get("kv-offloading") == "none" and row.get("total-cpu-dram-gb") == 0:
        del row["total-cpu-dram-gb"]
    if isinstance(row.get("kv-offload-backend"), str):
        row["kv-offload-backend"] = {"name": row["kv-offload-backend"]}
    if "prefill" not in row:
        for field in ("pp", "dcp-size", "pcp-size"):
            row.setdefault(field, 1)
    return row


def points(rows):
    """Each concurrency of each row with the fields of its recipe, counted.

    The generated name is left out: it is a label, and the generator has changed its form.
    """
    found = {}
    for row in map(normal, rows):
        conc = row.get("conc")
        recipe = {key: value for key, value in row.items() if key not in NO_RECIPE}
        for value in conc if isinstance(conc, list) else [conc]:
            key = json.dumps([value, recipe], sort_keys=True)
            found[key] = found.get(key, 0) + 1
    return found


def generated(clone, commit, keys, folder, *flags):
    paths = clone.paths(commit)
    script = next((path for path in GENERATORS if path in paths), None)
    configs = next((c for c in CONFIGS if f"{c}runners.yaml" in paths), None)
    if script is None or configs is None:
        return None, None
    logic = [path for path in paths if path.startswith(str(Path(script).parent) + "/")]
    masters = [p for p in paths if p.startswith(configs) and re.fullmatch(r"[^/]*-master\.yaml", p[len(configs):])]
    runners = f"{configs}runners.yaml"
    clone.extract(commit, [*logic, *masters, runners], folder)
    if keys is None:
        return masters, runners
    command = [sys.executable, script, "test-config", "--config-keys", *keys, "--config-files", *masters]
    command += ["--runner-config", runners, *flags]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1:]
    return json.loads(done.stdout), masters


def ours(binary, folder, masters, runners):
    entries = {}
    for master in masters:
        done = subprocess.run(
            [binary, "inspect", "master", f"{folder}/{master}", f"{folder}/{runners}"],
            capture_output=True, text=True, check=True,
        )
        for entry in json.loads(done.stdout)["entries"]:
            entries[entry["key"]] = entry
    return entries


def keys_of(folder, masters):
    whole = {}
    for master in masters:
        whole.update(yaml.safe_load((Path(folder) / master).read_text()))
    return whole


def compare_revision(clone, binary, commit, wanted, label):
    """The rows of some entries at one revision: whether both say the same, and what they disagree about."""
    with tempfile.TemporaryDirectory() as folder:
        masters, runners = generated(clone, commit, None, folder)
        if masters is None:
            return "no generator", []
        whole = keys_of(folder, masters)
        keys = sorted(key for key in wanted if key in whole)
        if not keys:
            return "nothing", []
        found = ours(binary, folder, masters, runners)
        rows, why = generated(clone, commit, keys, folder, "--no-evals")
        if rows is None:
            return f"the generator refuses: {why}", []
        mine = points([row for key in keys for row in found[key]["rows"]])
        theirs = points(rows)
        differ = [f"{label} only ours: {k}" for k in mine if mine[k] != theirs.get(k)]
        differ += [f"{label} only theirs: {k}" for k in theirs if theirs[k] != mine.get(k)]
        return len(theirs), differ


def changed_keys(clone, base, head):
    sides = []
    for commit in (base, head):
        with tempfile.TemporaryDirectory() as folder:
            masters, _ = generated(clone, commit, None, folder)
            sides.append(keys_of(folder, masters) if masters else {})
    before, after = sides
    return {k for k in before.keys() | after.keys() if before.get(k) != after.get(k)}, before, after


def declared(clone, base, head):
    """Keys that the added lines of the changelog select, as `process_changelog.py` selects them."""
    paths = clone.paths(head)
    log = next((path for path in CHANGELOGS if path in paths), None)
    diff = clone.git("diff", base, head, "--", log).decode()
    added = [l[1:] for l in diff.splitlines() if l.startswith("+") and not l.startswith("+++")]
    entries = yaml.safe_load("\n".join(added)) or []
    if not isinstance(entries, list):
        return None
    return [e for e in entries if isinstance(e, dict)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--git-dir")
    parser.add_argument("--pulls", type=int, default=60)
    parser.add_argument("--seed", type=int, default=20261201)
    parser.add_argument("--since", default="2026-07-01")
    parser.add_argument("--binary", default="target/release/countersign")
    args = parser.parse_args()
    if not args.git_dir or not Path(args.git_dir).exists():
        print("left out: there is no clone of the benchmark repository; give one with --git-dir")
        return
    clone = Clone(args.git_dir)
    pulls = [pull for pull in clone.merged(args.since) if clone.touches(pull[2], pull[1])]
    chosen = sorted(random.Random(args.seed).sample(pulls, min(args.pulls, len(pulls))))
    disagreements = total = 0
    for number, head, base in chosen:
        changed, before, after = changed_keys(clone, base, head)
        entries = declared(clone, base, head) or []
        selected = set()
        for entry in entries:
            for key in entry.get("config-keys") or []:
                pattern = re.compile(re.escape(key).replace(r"\*", ".*"))
                selected |= {k for k in after if pattern.fullmatch(k)}
        said = []
        for commit, label in ((base, "base"), (head, "head")):
            count, differ = compare_revision(clone, args.binary, commit, changed | selected, label)
            said.append(f"{label} {count}")
            total += count if isinstance(count, int) else 0
            for line in differ[:6]:
                print(f"  #{number} {line}")
            disagreements += len(differ)
        done = subprocess.run(
            [args.binary, "facts", "--git-dir", args.git_dir, "--base", base, "--head", head,
             "--repo", "SemiAnalysisAI/InferenceX", "--pr", str(number)],
            capture_output=True, text=True,
        )
        facts = json.loads(done.stdout) if done.returncode == 0 else {}
        ours_changed, ours_selected = set(), set()
        known = facts.get("configs", {}).get("known")
        if known is None:
            print(f"  #{number} no fact: {done.stderr.strip()[:200]} {facts.get('configs')}")
            disagreements += 1
        else:
            ours_changed = {c["key"] for c in known if c["change"] in ("added", "changed", "removed")}
            log = facts.get("changelog", {}).get("known") or {"added": []}
            ours_selected = {key for entry in log["added"] for key in entry["selected"]}
            for what, mine, theirs in (("changed", ours_changed, changed), ("selected", ours_selected, selected)):
                if mine != theirs:
                    print(f"  #{number} {what}: only ours {sorted(mine - theirs)}, only theirs {sorted(theirs - mine)}")
                    disagreements += 1
        print(f"#{number}: {len(changed)} changed, {len(selected)} selected; {'; '.join(said)}")
    print(f"{len(chosen)} pull requests of {len(pulls)}, {total} points, {disagreements} disagreements")
    sys.exit(1 if disagreements else 0)


if __name__ == "__main__":
    main()
