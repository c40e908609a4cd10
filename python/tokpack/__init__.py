"""tokpack in Python. `tokpack.torch_ops` has the PyTorch operators; it is the only part so far."""
