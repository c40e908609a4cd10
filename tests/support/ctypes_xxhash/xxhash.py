"""The three functions of PyPI's `xxhash` that the spec's tools use, over the system's libxxhash.so.0.

Put this folder on PYTHONPATH where the package itself is not installed. Importing fails with ImportError, as a
missing package would, when the library is missing too.
"""
import ctypes

try:
    _lib = ctypes.CDLL("libxxhash.so.0")
except OSError as error:
    raise ImportError(str(error)) from error


class _Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


_lib.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
_lib.XXH3_64bits.restype = ctypes.c_uint64
_lib.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
_lib.XXH3_128bits.restype = _Hash128


def xxh3_64_intdigest(data):
    data = bytes(data)
    return _lib.XXH3_64bits(data, len(data))


def xxh3_128_intdigest(data):
    data = bytes(data)
    result = _lib.XXH3_128bits(data, len(data))
    return result.high << 64 | result.low
