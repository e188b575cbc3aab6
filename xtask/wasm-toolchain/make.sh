#!/usr/bin/env bash
# Makes a Rust compiler with std for wasm32-wasip1 and wasm32-wasip2 on a Debian machine whose
# rustup cannot download those targets. Prints the folder of the finished toolchain on stdout
# (use it as RUSTC=<folder>/bin/rustc) and what it does on stderr.
#
#   xtask/wasm-toolchain/make.sh [CACHE-FOLDER]
#
# Where the parts come from:
#   compiler, std source     Debian's rustc-web, libstd-rust-web-dev, rust-web-src (one version)
#   libc, start files        Debian's wasi-libc, plus the three small files beside this script
#   std's own dependencies   the Rust registry, at the versions that std's lock file names
#   linkers                  rust-lld and wasm-component-ld of the Rust toolchain in use
#   preview1 adapter         the crate wasi-preview1-component-adapter-provider
#
# Packages are unpacked beside the system, never installed into it, and apt works on lists of its
# own in the work folder: root is not needed, and nothing outside the cache folder changes.
#
# The toolchain is made in a work folder and moved to its final name in one step at the end, so a
# folder of that name is always whole, whenever an earlier run was killed. The name is a digest of
# this folder's files and of the linkers' version: a change to either makes a new toolchain.
set -euo pipefail

ADAPTER_VERSION=48.0.8
TARGETS=(wasm32-wasip1 wasm32-wasip2)

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/hookcell/wasm-toolchain}
started=$SECONDS

say() { echo "wasm-toolchain: [$((SECONDS - started)) s] $*" >&2; }
fail() {
  echo "wasm-toolchain: $1" >&2
  shift
  for hint in "$@"; do echo "  hint: $hint" >&2; done
  exit 1
}

# What the machine must have.
for program in apt-get apt-cache dpkg dpkg-query dpkg-deb; do
  command -v "$program" > /dev/null ||
    fail "this recipe takes Debian's packages, and there is no $program here" \
      "on a machine with the internet: rustup target add ${TARGETS[*]}"
done
for program in ar cc flock sha256sum tar; do
  command -v "$program" > /dev/null ||
    fail "the program $program is missing" "apt-get install binutils gcc util-linux coreutils tar"
done
for program in cargo rustc; do
  command -v "$program" > /dev/null ||
    fail "the program $program is missing" "install Rust's stable toolchain with rustup"
done

# The linkers of the Rust toolchain in use. Found through rustc, so that rustup is not needed.
linker_version=$(rustc -vV)
host=$(sed -n 's/^host: //p' <<< "$linker_version")
sysroot=$(rustc --print sysroot)
linkers=$sysroot/lib/rustlib/$host/bin
for linker in rust-lld gcc-ld wasm-component-ld; do
  [ -e "$linkers/$linker" ] ||
    fail "the Rust toolchain in use has no $linker" \
      "install Rust's stable toolchain with rustup and make it the default: rustup default stable"
done

mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
name=$({
  cat "$here"/make.sh "$here"/*.rs "$here"/wasm-component-ld
  echo "$linker_version $sysroot"
} | sha256sum | cut -c1-16)
finished=$cache/$name

# One maker at a time; a second one waits and then finds the work done.
exec 9> "$cache/lock"
if ! flock --nonblock 9; then
  say "waiting for another run, which is making it"
  flock 9
fi
if [ -d "$finished" ]; then
  echo "$finished"
  exit 0
fi
say "making a Rust toolchain for ${TARGETS[*]} in $finished (once; some minutes)"
rm -rf "$cache"/making.*
making=$(mktemp -d "$cache/making.XXXXXX")
chmod 755 "$making"
trap 'rm -rf "$making"' EXIT
work=$making/work
toolchain=$making/toolchain
mkdir -p "$work"/{packages,unpacked} "$toolchain"/{bin,lib}

# 1. Debian's packages.
mkdir -p "$work"/apt/{lists,cache}/partial
apt_options=(
  -o "Dir::State::lists=$work/apt/lists"
  -o "Dir::Cache=$work/apt/cache"
  -o "APT::Sandbox::User=$(id -un)"
  -o Acquire::Languages=none
  -o Acquire::http::Timeout=30
  -o Acquire::https::Timeout=30
  -o Acquire::Retries=2
)
# A source of the machine's that cannot be reached is no reason to stop: what counts is whether the
# packages are known afterwards.
apt-get "${apt_options[@]}" -qq update > "$work/apt/update.log" 2>&1 || true

candidate() { apt-cache "${apt_options[@]}" policy "$1" | sed -n 's/^ *Candidate: //p'; }
dependencies() { apt-cache "${apt_options[@]}" depends "$1" | sed -n 's/^ *Depends: \([^<].*\)$/\1/p'; }

packages=(rustc-web libstd-rust-web-dev rust-web-src wasi-libc)
for package in "${packages[@]}"; do
  version=$(candidate "$package")
  if [ -z "$version" ] || [ "$version" = "(none)" ]; then
    cat "$work/apt/update.log" >&2
    fail "apt knows no package $package" \
      "it is in Debian 12's main and security archives: are both in this machine's apt sources, and reachable?"
  fi
done
compiler_version=$(candidate rustc-web)
libc_version=$(candidate wasi-libc)
for package in libstd-rust-web-dev rust-web-src; do
  [ "$(candidate $package)" = "$compiler_version" ] ||
    fail "$package is of another version than rustc-web $compiler_version" \
      "the archive is being updated; try again later"
done
packages+=("$(dependencies libstd-rust-web-dev | grep '^libstd-rust-web-[0-9]')")
llvm=$(dependencies rustc-web | grep '^libllvm' || true)
[ -n "$llvm" ] || llvm=$(dependencies "${packages[-1]}" | grep '^libllvm')
packages+=("$llvm")
# LLVM's own libraries, where the machine lacks them.
libraries=()
while read -r package; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)" = installed ] ||
    libraries+=("$package")
done < <(apt-cache "${apt_options[@]}" depends --recurse --no-recommends --no-suggests --no-conflicts \
  --no-breaks --no-replaces --no-enhances "$llvm" | grep '^[a-z]' | grep -vxF "$llvm" | sort -u)

(
  cd "$work/packages"
  apt-get "${apt_options[@]}" -qq download "${packages[@]}" "${libraries[@]}" > ../apt/download.log 2>&1
) || {
  cat "$work/apt/download.log" >&2
  fail "apt could not download ${packages[*]} ${libraries[*]}" "is the Debian archive reachable?"
}
say "Debian's packages are here ($(du -sh "$work/packages" | cut -f1)): rustc-web $compiler_version, wasi-libc $libc_version"

# unpack PACKAGE [PATTERN…]: the files of a package that match, into the work folder.
unpack() {
  dpkg-deb --fsys-tarfile "$work/packages/$1"_*.deb | tar -x -C "$work/unpacked" --wildcards "${@:2}"
}
unpack rustc-web './usr/bin/rust*'
unpack libstd-rust-web-dev
unpack rust-web-src './usr/src/*/library'
unpack wasi-libc './usr/lib/wasm32-wasi'
for package in "${packages[@]:4}" "${libraries[@]}"; do
  # Only its shared libraries; a package that has none (documentation, data) is passed over.
  unpack "$package" '*.so*' 2> /dev/null || true
done
mv "$work/unpacked/usr/bin/rustc" "$toolchain/bin/rustc.real"
mv "$work/unpacked/usr/lib/rustlib" "$toolchain/lib/rustlib"
rm -rf "$toolchain/lib/rustlib/src"
find "$work/unpacked" -path '*-linux-gnu*' -name '*.so*' -exec mv -n -t "$toolchain/lib" {} +
cat > "$toolchain/bin/rustc" << 'WRAPPER'
#!/bin/sh
# Debian's compiler, with the libraries that were unpacked beside it.
bin=$(dirname "$(readlink -f "$0")")
LD_LIBRARY_PATH=$bin/../lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$bin/rustc.real" "$@"
WRAPPER
chmod +x "$toolchain/bin/rustc"
compiler=$toolchain/bin/rustc
"$compiler" -vV > "$work/compiler" || fail "the unpacked compiler does not start"
[ "$(readlink -f "$("$compiler" --print sysroot)")" = "$(readlink -f "$toolchain")" ] ||
  fail "the unpacked compiler looks for its libraries in $("$compiler" --print sysroot)"

# 2. The linkers.
tools=$toolchain/lib/rustlib/$host/bin
mkdir -p "$tools"
ln -s "$linkers/rust-lld" "$linkers/gcc-ld" "$tools/"
ln -s "$linkers/wasm-component-ld" "$tools/wasm-component-ld.real"
cp "$here/wasm-component-ld" "$tools/wasm-component-ld"
chmod +x "$tools/wasm-component-ld"

# 3. The preview1 adapter, out of its crate.
mkdir -p "$work/adapter/src" "$toolchain/lib/wasi-adapter"
touch "$work/adapter/src/lib.rs"
cat > "$work/adapter/Cargo.toml" << MANIFEST
[package]
name = "adapter"
version = "0.0.0"
edition = "2024"
[dependencies]
wasi-preview1-component-adapter-provider = "=$ADAPTER_VERSION"
[workspace]
MANIFEST
(cd "$work/adapter" && cargo vendor --quiet vendor > /dev/null) ||
  fail "the crate wasi-preview1-component-adapter-provider $ADAPTER_VERSION could not be fetched" \
    "is the Rust registry reachable?"
for kind in command reactor; do
  cp "$work/adapter/vendor/wasi-preview1-component-adapter-provider/artefacts/wasi_snapshot_preview1.$kind.wasm" \
    "$toolchain/lib/wasi-adapter/$kind.wasm"
done

# 4. std. Every path that could end up in it is replaced, so that its bytes, and those of all that
#    is linked with it, are the same on each machine. Settings of the user's cargo stay outside.
while read -r variable; do unset "$variable"; done < <(
  compgen -e | grep -E '^(CARGO_(BUILD|PROFILE|TARGET|ENCODED|INCREMENTAL)|RUSTC|RUSTFLAGS|RUSTDOCFLAGS)' || true
)
library=$(echo "$work"/unpacked/usr/src/*/library)
export RUSTC_BOOTSTRAP=1
# Before the build, since the registry's folder must exist to be replaced in paths.
(cd "$library" && cargo fetch --quiet --locked --target "${TARGETS[0]}") ||
  fail "std's own dependencies could not be fetched" "is the Rust registry reachable?"
flags=(-Zforce-unstable-if-unmarked -Cembed-bitcode=yes "--remap-path-prefix=$library=/rust/library")
flags+=("--remap-path-prefix=$work/target=/rust/target")
for registry in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do
  flags+=("--remap-path-prefix=$registry=/rust/registry")
done
say "building std with $("$compiler" -V)"
(
  cd "$library/std"
  export RUSTC=$compiler CARGO_INCREMENTAL=0 __CARGO_DEFAULT_LIB_METADATA=hookcell
  CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && echo "${flags[*]}")
  export CARGO_ENCODED_RUSTFLAGS
  cargo build --quiet --release --locked --features panic-unwind --target-dir "$work/target" \
    "${TARGETS[@]/#/--target=}" 2> "$work/std.log"
) || {
  tail -40 "$work/std.log" >&2
  fail "std did not build"
}

# 5. libc and the start files, with what newer std needs and this libc lacks.
for target in "${TARGETS[@]}"; do
  lib=$toolchain/lib/rustlib/$target/lib
  mkdir -p "$lib/self-contained"
  cp "$work/target/$target/release/deps/"*.rlib "$lib/"
  cp "$work/unpacked/usr/lib/wasm32-wasi/"{crt1-reactor.o,libc.a} "$lib/self-contained/"
  for source in crt1-command libc-gaps cabi-realloc; do
    "$compiler" --edition 2024 --target "$target" --crate-type lib --emit obj \
      -Copt-level=2 -Cpanic=abort -Ccodegen-units=1 --crate-name "${source//-/_}" \
      "--remap-path-prefix=$here=/rust/wasm-toolchain" \
      -o "$work/$source.o" "$here/$source.rs"
  done
  cp "$work/crt1-command.o" "$lib/self-contained/"
  ar rcD "$lib/self-contained/libc.a" "$work/libc-gaps.o"
  if [ "$target" = wasm32-wasip2 ]; then
    cp "$work/cabi-realloc.o" "$lib/self-contained/"
  fi
done

# 6. What it was made of, for those who compare bytes; then the one step that makes it exist.
{
  echo "rustc = $(sed -n 's/^release: //p' "$work/compiler") $(sed -n 's/^commit-hash: //p' "$work/compiler")"
  echo "package = rustc-web $compiler_version"
  echo "libc = wasi-libc $libc_version"
  echo "adapter = $ADAPTER_VERSION"
  echo "linker = $(sed -n 's/^release: //p' <<< "$linker_version") $(sed -n 's/^commit-hash: //p' <<< "$linker_version")"
} > "$toolchain/IDENTITY"
mv -T "$toolchain" "$finished"
say "done: $(du -sh "$finished" | cut -f1)"
echo "$finished"
