#!/bin/sh
# Makes sure that the system has what Joulemark needs: tools/system-packages.sh run|test
#
# Debian and Ubuntu: missing packages are installed where we are root or sudo asks no password.
# Elsewhere, and where we may not, one message says what to install. Rust and Python are checked
# by version, because a distribution's own may be too old.
set -eu

RUST_MINIMUM=$(sed -n 's/^rust-version = "\([0-9.]*\)".*/\1/p' "$(dirname "$0")/../Cargo.toml")
PYTHON_MINIMUM=3.11 # tomllib

# command=package; what `make run` needs, and what `make test` needs beyond it.
run_tools="clang-19=clang-19 ld.lld-19=lld-19 arm-none-eabi-gcc=gcc-arm-none-eabi cc=gcc python3=python3"
test_tools="g++=g++ gdb-multiarch=gdb-multiarch git=git mspdebug=mspdebug chromium=chromium clang-format-19=clang-format-19 llvm-objcopy-19=llvm-19 qemu-system-arm=qemu-system-arm qemu-arm=qemu-user riscv64-unknown-elf-gcc=gcc-riscv64-unknown-elf i686-linux-gnu-gcc=gcc-i686-linux-gnu arm-linux-gnueabi-ar=binutils-arm-linux-gnueabi tshark=tshark valgrind=valgrind"

wanted=$run_tools
[ "${1:-run}" = run ] || wanted="$wanted $test_tools"

missing=
for pair in $wanted; do
    command -v "${pair%%=*}" >/dev/null 2>&1 || missing="$missing ${pair#*=}"
done
python3 -c 'import venv, ensurepip' 2>/dev/null || missing="$missing python3-venv"
# Libraries, which no command shows: ARM's newlib; the sanitizers' and the fuzzer's runtime; Crypto++;
# OpenSSL; PostgreSQL's server.
newlib=$(arm-none-eabi-gcc -print-file-name=libc.a 2>/dev/null || true)
[ "${newlib#/}" != "$newlib" ] || missing="$missing libnewlib-arm-none-eabi"
if [ "${1:-run}" = test ]; then
    runtime=$(clang-19 -print-resource-dir 2>/dev/null || true)
    [ -n "$(find "$runtime/lib" -name 'libclang_rt.fuzzer*' 2>/dev/null)" ] ||
        missing="$missing libclang-rt-19-dev"
    [ -f /usr/include/cryptopp/cryptlib.h ] || missing="$missing libcrypto++-dev"
    [ -f /usr/include/openssl/evp.h ] || missing="$missing libssl-dev"
    # What programs for Linux boards are linked with.
    for board in arm-linux-gnueabi=armel arm-linux-gnueabihf=armhf aarch64-linux-gnu=arm64 i686-linux-gnu=i386; do
        [ -f "/usr/${board%%=*}/lib/libc.a" ] || missing="$missing libc6-dev-${board#*=}-cross"
        ls /usr/lib/gcc-cross/"${board%%=*}"/*/libgcc.a >/dev/null 2>&1 ||
            missing="$missing libgcc-12-dev-${board#*=}-cross"
    done
    [ -x /usr/sbin/sshd ] || missing="$missing openssh-server"
    # Debian keeps the server's programs where no command is looked for.
    command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 ||
        missing="$missing postgresql"
fi

if [ -n "$missing" ]; then
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "joulemark: missing:$missing (Debian's names; install your system's packages of them)" >&2
        exit 1
    elif [ "$(id -u)" = 0 ]; then
        sudo=
    elif sudo -n true 2>/dev/null; then
        sudo="sudo -n"
    else
        echo "joulemark: packages are missing; run: sudo apt-get install$missing" >&2
        exit 1
    fi
    echo "joulemark: installing$missing" >&2
    $sudo apt-get update -qq
    # shellcheck disable=SC2086 # a list of words
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

# version_at_least HAVE WANT
version_at_least() {
    [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

python=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if ! version_at_least "$python" "$PYTHON_MINIMUM"; then
    echo "joulemark: python3 is $python; Python $PYTHON_MINIMUM or newer is needed" >&2
    exit 1
fi
rust=$(cargo --version 2>/dev/null | cut -d ' ' -f 2 || true)
if [ -z "$rust" ] || ! version_at_least "$rust" "$RUST_MINIMUM"; then
    echo "joulemark: cargo is ${rust:-missing}; Rust $RUST_MINIMUM or newer is needed to build the engine: https://rustup.rs" >&2
    exit 1
fi
