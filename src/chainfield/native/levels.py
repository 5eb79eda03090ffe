"""Levels of processors that kernels are compiled for."""

from __future__ import annotations

import platform

X86 = ("x86-64-v2", "x86-64-v3", "x86-64-v4")  # ascending
GENERIC = "generic"
# What a level must have, in LLVM's words: v3 is AVX2 with fused multiply-add, v4 AVX-512.
_NEEDS = {
    "x86-64-v2": {"sse4.2", "ssse3", "popcnt"},
    "x86-64-v3": {"avx2", "bmi", "bmi2", "fma"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}


def platform_levels() -> tuple[str, ...]:
    """All levels of this platform."""
    return X86 if platform.machine().lower() in ("x86_64", "amd64") else (GENERIC,)


def host_level() -> str:
    """The highest level of the processor at hand; the lowest of the platform if it has none."""
    from llvmlite import binding

    features = {name for name, there in binding.get_host_cpu_features().items() if there}
    best = platform_levels()[0]
    for level in platform_levels():
        if not _NEEDS.get(level, set()) <= features:
            break
        best = level
    return best


def chosen(asked: str) -> list[str]:
    """What CHAINFIELD_LEVELS asks for: nothing (the processor at hand), "all", or names with commas between them."""
    if not asked:
        return [host_level()]
    if asked == "all":
        return list(platform_levels())
    names = [name.strip() for name in asked.split(",")]
    unknown = [name for name in names if name not in platform_levels()]
    if unknown:
        raise ValueError(
            f"CHAINFIELD_LEVELS names {', '.join(unknown)}, but this platform has {', '.join(platform_levels())}."
        )
    return sorted(set(names))


def cpu(level: str) -> str:
    """The level's name for the compiler."""
    return "" if level == GENERIC else level
