"""Finds the package in python/; TOKPACK_TORCH_OPS names the folder of the built operators."""

import os
import pathlib
import sys

import pytest
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))
if not os.environ.get("TOKPACK_TORCH_OPS"):
    raise pytest.UsageError("set TOKPACK_TORCH_OPS to the folder that has libtokpack_ops.so")
torch.set_num_threads(2)


def pytest_report_header():
    return f"torch {torch.__version__}, CUDA {torch.version.cuda}, GPU: {torch.cuda.is_available()}"


def devices():
    import tokpack.torch_ops  # noqa: F401

    kernel = torch._C._dispatch_has_kernel_for_dispatch_key("tokpack::attention_mask", "CUDA")
    return ["cpu", "cuda"] if torch.cuda.is_available() and kernel else ["cpu"]


def pytest_generate_tests(metafunc):
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", devices())
