# Shared by the scripts of this folder; sourced, not run.

# Works from the repository's root, whatever folder the caller is in.
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# need_tools: cargo and a C compiler are there; the compiler is installed with Debian's package manager when it is not.
need_tools() {
  if ! command -v cargo >/dev/null; then
    echo "cargo is not on the PATH: install Rust first (rustup)" >&2
    exit 1
  fi
  command -v cc >/dev/null && return
  echo "installing a C compiler (package gcc), which Rust links with"
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" apt-get install -qq -y --no-install-recommends gcc libc6-dev >/dev/null
}
