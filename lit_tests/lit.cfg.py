"""Configuration of lit: `lit lit_tests` runs every .mlir file below this directory.

Tools are taken from the Python that runs lit, and Cuvil from the tree that this file is in, so that a clean clone tests
itself whether or not it is installed.
"""

import os
import sys

import lit.formats
from lit.TestingConfig import TestingConfig

config: TestingConfig = globals()["config"]

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
tools = os.path.dirname(sys.executable)

config.name = "cuvil"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.join(root, "lit_tests")
config.test_exec_root = os.environ.get("CUVIL_LIT_OUTPUT", config.test_source_root)
config.suffixes = [".mlir"]
config.excludes = ["Inputs", "Output"]

python = f'"{sys.executable}"'
for tool in ("opt", "run"):
    # The lookahead spares file names such as lit_tests/tools/cuvil-opt/.
    config.substitutions.append((rf"(?<![\w/.-])cuvil-{tool}(?![\w/.-])", f"{python} -m cuvil.tools.cuvil_{tool}"))
config.substitutions.append((r"(?<![\w/.-])filecheck(?![\w/.-])", f"{python} -m filecheck"))
config.substitutions.append(("%python", python))
config.substitutions.append(("%root", root))

config.environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
config.environment["PATH"] = os.pathsep.join([tools, os.environ.get("PATH", "")])
# Colours in captured output would break every CHECK on it.
config.environment["NO_COLOR"] = "1"
config.environment["LIT_TESTS"] = config.test_source_root
