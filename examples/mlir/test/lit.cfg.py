# How lit runs the .mlir files of this folder; CMakeLists.txt gives the parameters.

import os

import lit.formats

config.name = "dramalloc-mlir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["out"]

config.environment["PATH"] = os.pathsep.join([lit_config.params["tools"], os.environ["PATH"]])
config.environment["DRAMALLOC_LIBRARY"] = lit_config.params["library"]
config.substitutions.append(("%opt", "mlir-opt --load-pass-plugin=" + lit_config.params["plugin"]))
config.substitutions.append(
    ("%run", f"{lit_config.params['python']} {config.test_source_root}/execute.py"
             f" --tools {lit_config.params['tools']} --plugin {lit_config.params['plugin']}"))
