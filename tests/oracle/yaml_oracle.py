"""Our YAML reading against PyYAML's, over the repository's files and over damaged copies of them.

Every text is read by both; either both refuse it, or both give the same value. Where only we refuse it,
the reason has to be one of those that `src/bench/yaml/mod.rs` lists.
"""

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml


class Loader(yaml.SafeLoader):
    """SafeLoader, whose dates stay as written once they were found valid."""


def timestamp(loader, node):
    yaml.SafeLoader.construct_yaml_timestamp(loader, node)
    return node.value


Loader.add_constructor("tag:yaml.org,2002:timestamp", timestamp)

# What we refuse on purpose, by a part of the message.
ON_PURPOSE = (
    "is not read here",
    "inside of what it stands for",
    "no integer of 64 bits",
    "is not allowed",
    "values",
    "levels",
    "has over",
    "a key is empty",
    "comments must be separated",
)

# What only we read, by a part of PyYAML's message: YAML 1.2 allows it, no tool of the repository gets that far.
LENIENT = (
    "expected alphabetic or numeric character, but found",
    "but found '<document end>'",
    "expected '<document start>'",
    "while parsing a flow mapping",
    "while parsing a flow sequence",
)


def name(key):
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool):
        return str(key)
    return repr(key) if isinstance(key, float) else str(key)


def plain(value):
    """As `inspect yaml` prints it."""
    if isinstance(value, dict):
        return {name(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return str(value)
    return value


def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def theirs(text):
    try:
        return True, plain(yaml.load(text, Loader=Loader))
    except (yaml.YAMLError, ValueError, IndexError, KeyError, RecursionError, OverflowError, AttributeError, TypeError) as error:
        return False, str(error).replace("\n", " ")[:200]


def ours(binary, folder, text):
    path = Path(folder) / "file.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    done = subprocess.run([binary, "inspect", "yaml", str(path)], capture_output=True, text=True, timeout=20)
    if done.returncode == 0:
        return True, json.loads(done.stdout)["value"]
    return False, done.stderr.strip().replace("\n", " ")


PIECES = [
    ":", ": ", " ", "\n", "-", "- ", "\t", "#", " #", "[", "]", "{", "}", ",", "'", '"', "|", ">", "&a ", "*a", "<<: ",
    "!!str ", "!", "? ", "\n\n", "  ", "=", "%", "@", "`", "\\", "yes", "0x1", "1:30", "1_0", "~", ".5", "---\n", "...",
    "2026-08-22", "\u00e9", "|-\n", ">+\n", "a: b\n", "1e5", "0o7", "\u0085",
]


def damage(rng, text):
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    text = "\n".join(lines[at : at + rng.randrange(1, 25)])
    for _ in range(rng.randrange(0, 4)):
        at = rng.randrange(len(text) + 1)
        kind = rng.randrange(3)
        if kind == 0:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + rng.randrange(1, 4) :]
        else:
            text = text[:at] + rng.choice(PIECES) + text[at + rng.randrange(1, 4) :]
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--git-dir", required=True)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--damaged", type=int, default=500)
    parser.add_argument("--whole", type=int, default=40, help="whole files, drawn at random; the masters are always read")
    args = parser.parse_args()

    def git(*command):
        return subprocess.run(["git", "--git-dir", args.git_dir, *command], capture_output=True, check=True).stdout

    paths = [p for p in git("ls-tree", "-r", "--name-only", "HEAD").decode().splitlines() if p.endswith((".yaml", ".yml"))]
    rng = random.Random(args.seed)
    always = [p for p in paths if p.endswith(("-master.yaml", "runners.yaml")) or p == "perf-changelog.yaml"]
    drawn = always + rng.sample(paths, min(args.whole, len(paths)))
    texts = [(p, git("show", f"HEAD:{p}").decode()) for p in drawn]
    cases = list(texts)
    for number in range(args.damaged):
        path, text = rng.choice(texts)
        cases.append((f"{path}, damaged copy {number}", damage(rng, text)))

    wrong, refused, lenient = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for label, text in cases:
            good, value = theirs(text)
            our_good, our_value = ours(args.binary, folder, text)
            if good and our_good:
                if not same(value, our_value):
                    wrong.append((label, text, "other value", value, our_value))
            elif good != our_good:
                if good and any(part in our_value for part in ON_PURPOSE):
                    refused += 1
                elif our_good and any(part in value for part in LENIENT):
                    lenient += 1
                else:
                    wrong.append((label, text, "only PyYAML reads it" if good else "only we read it", value, our_value))
    for label, text, kind, value, our_value in wrong[:30]:
        print(f"--- {kind}: {label}\n{text if len(text) < 1500 else text[:300]}\nPyYAML: {str(value)[:400]}\nours:   {str(our_value)[:400]}")
    print(f"{len(cases)} texts, {len(wrong)} disagreements, {refused} refused and {lenient} read on purpose")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
