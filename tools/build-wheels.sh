#!/usr/bin/env bash
# Wheels for Linux in dist/: tools/build-wheels.sh [ARCHITECTURE...], by default this machine's own.
# They run with glibc 2.28 or later (Debian 10, RHEL 8), thanks to zig's linker, so one machine
# builds for both architectures (x86_64 aarch64); rustup fetches what Rust needs for the other. The
# wheel for this machine's architecture is tried away from any checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
own=$(uname -m)
PATH="$PWD/.venv/bin:$PATH"
python -m pip install --quiet --disable-pip-version-check 'ziglang>=0.13,<0.16'
for architecture in "${@:-$own}"; do
    target=$architecture-unknown-linux-gnu
    if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
        rustup --quiet target add "$target" ||
            { echo "build-wheels: Rust's library for $target is missing, and rustup could not fetch it" >&2; exit 1; }
    fi
    MATURIN_PEP517_ARGS="--compatibility manylinux_2_28 --zig --target $target" \
        python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
    [ "$architecture" = "$own" ] || continue
    installed=$(mktemp -d)
    trap 'rm -rf "$installed"' EXIT
    python -m pip install --quiet --disable-pip-version-check --no-deps --target "$installed" dist/*"_$own.whl"
    (cd "$installed" && XDG_CACHE_HOME=$installed/cache PYTHONPATH=$installed \
        python -c 'from joulemark.cli import main; main()' run --board telosb --primitive xtea --size 8 >/dev/null)
done
ls dist/*.whl
