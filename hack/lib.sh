# Shared by the scripts of this folder; sourced, not run.

# Works from the repository's root, whatever folder the caller is in.
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# install_packages NAME...: with Debian's package manager, as root or through sudo.
install_packages() {
  echo "installing $*"
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq -y --no-install-recommends "$@" >/dev/null
}

# need COMMAND PACKAGE...: installs the packages when the command is not there.
need() {
  command -v "$1" >/dev/null || install_packages "${@:2}"
}

# need_tools: cargo and a C compiler, which Rust links with, are there.
need_tools() {
  if ! command -v cargo >/dev/null; then
    echo "cargo is not on the PATH: install Rust first (rustup)" >&2
    exit 1
  fi
  need cc gcc libc6-dev
}
