"""The invalid vectors: for every error that page 0 can give at least one file with that one fault and everything
else, checksums and digest included, right; then files that open and are wrong inside."""
import invalid_vector
import vectors_invalid_boundaries  # noqa: F401 (each adds its own)
import vectors_invalid_contents  # noqa: F401
import vectors_invalid_metadata  # noqa: F401
import vectors_invalid_page_0  # noqa: F401
import vectors_invalid_sections  # noqa: F401


def all_vectors():
    return invalid_vector.ALL
