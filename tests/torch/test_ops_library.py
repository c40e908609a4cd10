"""The operators' files stand alone: what they name as needed, and nothing of the machine that built them."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(os.environ["TOKPACK_TORCH_OPS"]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = sorted(FOLDER.glob("libtokpack_ops*.so"))
SYSTEM = {"libstdc++.so.6", "libgcc_s.so.1", "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}


def test_both_or_the_first_are_there():
    assert [path.name for path in LIBRARIES] in (
        ["libtokpack_ops.so"],
        ["libtokpack_ops.so", "libtokpack_ops_cuda.so"],
    )


@pytest.mark.skipif(not shutil.which("readelf"), reason="no readelf")
@pytest.mark.parametrize("path", LIBRARIES, ids=lambda path: path.name)
def test_needed_libraries(path):
    dynamic = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    torch = {"libtorch_cpu.so"} | ({"libtorch_cuda.so"} if "cuda" in path.name else set())
    assert torch <= needed and needed - torch <= SYSTEM, needed
    assert "(RUNPATH)" not in dynamic and "(RPATH)" not in dynamic


@pytest.mark.parametrize("path", LIBRARIES, ids=lambda path: path.name)
def test_no_path_of_the_build_stays(path):
    data = path.read_bytes()
    for words in (str(ROOT), "site-packages", str(FOLDER)):
        assert words.encode() not in data, words


def load(folder, home):
    program = "from tokpack import torch_ops; print('loaded')"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "TOKPACK_TORCH_OPS": str(folder)}
    return subprocess.run([sys.executable, "-c", program], env=environment, cwd=home, capture_output=True, text=True)


def test_loads_from_any_folder_without_the_cuda_file(tmp_path):
    shutil.copy(FOLDER / "libtokpack_ops.so", tmp_path)
    done = load(tmp_path, tmp_path)
    assert done.stdout == "loaded\n", done.stderr


def test_a_missing_library_is_an_import_error_that_says_how_to_build_it(tmp_path):
    done = load(tmp_path / "none", tmp_path)
    assert done.returncode != 0
    assert "ImportError" in done.stderr and "-DTOKPACK_BUILD_TORCH_OPS=ON" in done.stderr
