"""What the extension module holds that is written in C (native/)."""

def flatten(
    sequences: list[object] | tuple[object, ...],
    start: int,
    limit: int,
    deepest: int,
    padding: int,
    numbers: tuple[type, ...],
    /,
) -> tuple[int, bytearray, bytearray, bytearray, bytearray, bytearray | None]: ...
