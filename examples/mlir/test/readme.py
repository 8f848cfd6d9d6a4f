#!/usr/bin/env python3
"""Run the example of the README, and demand that it says what comes out.

    readme.py --tools DIR --plugin dramalloc-mlir.so
"""

import argparse
import pathlib
import re
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--plugin", required=True)
    args = parser.parse_args()
    readme = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
    before, after = re.findall(r"```mlir\n(.*?)```", readme, re.DOTALL)
    (remark,) = re.findall(r"```text\n(.*?)```", readme, re.DOTALL)
    done = subprocess.run(
        [args.tools / "mlir-opt", f"--load-pass-plugin={args.plugin}",
         "--pass-pipeline=builtin.module(dramalloc{summary=true})"],
        input=before, capture_output=True, text=True)
    if done.stdout.strip() != after.strip() or remark.strip() not in done.stderr:
        sys.exit(f"the README says otherwise:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
