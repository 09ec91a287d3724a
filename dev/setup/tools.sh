#!/usr/bin/env bash
# Check that programs are there and new enough; name those that are not, and how to get them.
#
#     dev/setup/tools.sh git python java mvn browser
#     dev/setup/tools.sh --install java mvn browser     # install them, where apt-get is there and may
set -euo pipefail

complaints=
packages=()

# complain WHAT DEBIAN MACOS
complain() {
    complaints+=$(printf 'missing: %s\n    Debian, Ubuntu: sudo apt-get install %s\n    macOS:          brew install %s' "$@")$'\n'
    read -ra words <<<"$2"
    packages+=("${words[@]}")
}

# The number of a Java, 8 for "1.8"; nothing where it is none (macOS has a /usr/bin/java that only asks for one).
java_version() {
    "$1" -version 2>&1 | sed -nE 's/.* version "(1\.)?([0-9]+).*/\2/p' | head -n 1
}

check_java() {
    local java version
    # Spark takes the Java of JAVA_HOME first, so that one has to do.
    java=${JAVA_HOME:+$JAVA_HOME/bin/java}
    java=$(command -v "${java:-java}" || true)
    version=$([[ -z $java ]] || java_version "$java" || true)
    if [[ -z $version ]]; then
        complain "a JDK 17 (no java in ${JAVA_HOME:-the PATH} runs)" openjdk-17-jdk-headless openjdk@17
    elif ((version < 17)); then
        complain "a JDK 17 ($java is version $version; or set JAVA_HOME)" openjdk-17-jdk-headless openjdk@17
    fi
}

check_python() {
    local version
    dev/setup/python.sh >/dev/null && return
    version=$(python3 -c 'import sys; print("python3 is version %d.%d" % sys.version_info[:2])' 2>/dev/null || true)
    complain "Python 3.11 to 3.14 (${version:-no python3 runs})" "python3.11 python3.11-venv" python@3.11
}

# A Chromium for the tests of the console; HBSTORE_BROWSER names one that has another name (tests/console/browser.py).
check_browser() {
    local name
    for name in ${HBSTORE_BROWSER:-chromium-headless-shell chromium chromium-browser google-chrome}; do
        ! command -v "$name" >/dev/null || return 0
    done
    # Without a user interface, where there is a package of it, a page takes a third of the time.
    name=chromium-headless-shell
    apt-cache show "$name" >/dev/null 2>&1 || name=chromium
    complain "Chromium (or set HBSTORE_BROWSER to one)" "$name" "--cask chromium"
}

check() {
    complaints=
    packages=()
    local tool
    for tool in "$@"; do
        case $tool in
            java) check_java ;;
            python) check_python ;;
            browser) check_browser ;;
            mvn) command -v mvn >/dev/null || complain "Maven (mvn)" maven maven ;;
            *) command -v "$tool" >/dev/null || complain "$tool" "$tool" "$tool" ;;
        esac
    done
}

# Install the packages that are missing, as root or as whom sudo takes for root without asking; else do nothing.
install() {
    local as_root=()
    command -v apt-get >/dev/null || return 0
    if ((EUID != 0)); then
        sudo -n true 2>/dev/null || return 0
        as_root=(sudo -n)
    fi
    echo "installing with apt-get: ${packages[*]}" >&2
    "${as_root[@]}" apt-get update -qq || true # an old list may do
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null || true # checked below
    hash -r
}

if [[ ${1:-} == --install ]]; then
    shift
    check "$@"
    [[ -z $complaints ]] || install
fi
check "$@"
printf %s "$complaints" >&2
[[ -z $complaints ]]
