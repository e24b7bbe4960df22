#!/bin/sh
# Installs the newest release of switchyard, or updates it: no root is needed.
#
#   install.sh [--version X.Y.Z] [--prefix DIR]    installs DIR/bin/switchyard
#   install.sh --uninstall [--prefix DIR]          takes it away again
#
# DIR is ~/.local when it is not given. Releases are read from $SWITCHYARD_BASE_URL: DIR of a
# release is v<version> there, and the file `latest` names the newest. Nothing that is not as its
# checksum says gets in, and whatever stops the script leaves the machine as it was. The checksums are
# signed: where minisign is installed and the public key is known, the signature is verified.
set -eu

# A release fills in the address that it is published at, and the key that it is signed with.
default_base_url=''
default_public_key=''

die() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}

usage() {
  cat <<'TEXT'
install.sh [--version X.Y.Z] [--prefix DIR]
install.sh --uninstall [--prefix DIR]

  --version    the release to install; the newest when not given
  --prefix     switchyard goes to DIR/bin; ~/.local when not given
  --uninstall  removes DIR/bin/switchyard

SWITCHYARD_BASE_URL is the address that releases are read from. SWITCHYARD_PUBLIC_KEY is the minisign
key that must have signed the release; with it, minisign is needed.
TEXT
}

wrong_usage() {
  printf 'install.sh: %s See "install.sh --help".\n' "$*" >&2
  exit 2
}

# What was begun and not finished goes away again, folders that were made for it included.
clean_up() {
  [ -z "$work" ] || rm -rf -- "$work"
  [ -z "$new" ] || rm -f -- "$new"
  if [ -n "$existing" ]; then
    folder=$bin
    while [ "$folder" != "$existing" ]; do
      rmdir -- "$folder" 2>/dev/null || break
      folder=$(dirname -- "$folder")
    done
  fi
}

# The machine as it stands in the names of archives.
name_machine() {
  system=$(uname -s)
  machine=$(uname -m)
  case $system in
    Linux)
      case $(ldd --version 2>&1 || :) in
        *musl*) die "switchyard needs glibc, and this system has musl." ;;
      esac
      os=linux
      ;;
    Darwin) os=darwin ;;
    *) die "There is no switchyard for $system; Linux and macOS have one." ;;
  esac
  case $machine in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) die "There is no switchyard for the architecture $machine; x64 and arm64 have one." ;;
  esac
  # A shell that runs translated on an arm64 Mac says x86_64.
  if [ "$os" = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || :)" = 1 ]; then
    arch=arm64
  fi
}

# Only https, so that nobody on the way can exchange archive and checksum; tests have loopback.
check_address() {
  protocol='=https' is_loopback=no
  case $base_url in
    '') die "Set SWITCHYARD_BASE_URL to the address that releases are read from." ;;
    *[!0-9A-Za-z:/._~%-]*) die "SWITCHYARD_BASE_URL holds what no address of releases holds." ;;
    https://?*) ;;
    http://127.0.0.1 | http://127.0.0.1[:/]* | http://localhost | http://localhost[:/]*)
      protocol='=http' is_loopback=yes
      ;;
    *) die "SWITCHYARD_BASE_URL must begin with https://." ;;
  esac
  base_url=${base_url%/}
}

check_version() {
  case $version in
    '' | *[!0-9A-Za-z.+-]* | .* | -*) die "\"$version\" is not a version." ;;
  esac
}

# fetch PATH FILE: wget follows no redirect, as it could not be held to https. A server that falls
# silent is given up. No proxy gets to this machine's loopback; elsewhere the user's settings count.
fetch() {
  path=$1 file=$2
  if command -v curl >/dev/null 2>&1; then
    set -- --fail --silent --location --proto "$protocol" --connect-timeout 30 \
      --speed-limit 1 --speed-time 60
    [ "$is_loopback" = no ] || set -- "$@" --noproxy '*'
    curl "$@" --output "$file" "$base_url/$path"
  elif command -v wget >/dev/null 2>&1; then
    set -- --quiet --tries=1 --timeout=30 --max-redirect=0
    [ "$is_loopback" = no ] || set -- "$@" --no-proxy
    wget "$@" -O "$file" "$base_url/$path"
  else
    die "curl or wget is needed to download switchyard."
  fi
}

digest() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum <"$1" | cut -d' ' -f1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 <"$1" | cut -d' ' -f1
  else
    die "sha256sum or shasum is needed to check the download."
  fi
}

# Sets `verified` to the sentence that is printed at the end. A key that the user names must be used; the
# key of this script is used where minisign is installed.
check_key() {
  public_key=${SWITCHYARD_PUBLIC_KEY:-$default_public_key}
  case $public_key in
    '') verified='The release was not verified by a signature: no public key is known.' ;;
    RW*[!0-9A-Za-z+/=]*) die "The public key is no minisign key." ;;
    RW??????????????????????????????????????????????????????) verified='' ;;
    *) die "The public key is no minisign key." ;;
  esac
  if [ -n "$public_key" ] && ! command -v minisign >/dev/null 2>&1; then
    [ -z "${SWITCHYARD_PUBLIC_KEY:-}" ] ||
      die "SWITCHYARD_PUBLIC_KEY is set, and minisign is not installed to use it."
    verified='The release was not verified by its signature: minisign is not installed.'
  fi
}

check_signature() {
  [ -z "$verified" ] || return 0
  fetch "v$version/SHA256SUMS.minisig" "$work/SHA256SUMS.minisig" ||
    die "Release $version has no signature; nothing was installed."
  minisign -V -q -P "$public_key" -m "$work/SHA256SUMS" -x "$work/SHA256SUMS.minisig" \
    >/dev/null 2>&1 ||
    die "The signature of release $version is not good; nothing was installed."
  verified='The release was verified by its signature.'
}

# Before anything is downloaded: may this user write there?
check_permission() {
  existing=$bin
  while [ ! -e "$existing" ]; do existing=$(dirname -- "$existing"); done
  [ -d "$existing" ] || die "$existing is not a folder; choose another --prefix."
  [ -w "$existing" ] ||
    die "There is no permission to write to $existing; choose another --prefix."
  [ ! -d "$bin/switchyard" ] || die "$bin/switchyard is a folder; choose another --prefix."
}

install_release() {
  base_url=${SWITCHYARD_BASE_URL:-$default_base_url}
  check_address
  check_key
  [ -z "$version" ] || check_version
  name_machine
  check_permission

  work=$(mktemp -d 2>/dev/null) || die "There is no place for temporary files."
  if [ -z "$version" ]; then
    fetch latest "$work/latest" || die "The newest version could not be read from $base_url/latest."
    version=$(head -n 1 "$work/latest")
    check_version
  fi

  archive=switchyard-$version-$os-$arch.tar.gz
  fetch "v$version/SHA256SUMS" "$work/SHA256SUMS" ||
    die "There is no release $version at $base_url."
  check_signature
  expected=$(awk -v name="$archive" '$2 == name { print $1; exit }' "$work/SHA256SUMS")
  [ -n "$expected" ] || die "Release $version has no $archive."
  fetch "v$version/$archive" "$work/archive" ||
    die "$archive could not be downloaded whole; nothing was installed."
  actual=$(digest "$work/archive")
  [ "$actual" = "$expected" ] ||
    die "$archive is not what its checksum says; nothing was installed."

  mkdir -p -- "$bin" 2>/dev/null || die "$bin could not be made; choose another --prefix."
  # Beside the old one, so that the last step is one rename, also over a program that runs.
  new=$(mktemp "$bin/.switchyard.XXXXXX" 2>/dev/null) || die "There is no permission to write to $bin."
  tar -xzOf "$work/archive" switchyard >"$new" 2>/dev/null ||
    die "$archive could not be unpacked into $bin."
  chmod 755 "$new"
  # What it leaves when it does not start goes away with the rest.
  said=$(TMPDIR=$work "$new" --version 2>/dev/null </dev/null || :)
  [ "$said" = "switchyard $version" ] ||
    die "The downloaded program does not run on this machine; nothing was installed."
  mv -f -- "$new" "$bin/switchyard" || die "$bin/switchyard could not be replaced."
  new='' existing=''

  printf 'switchyard %s is installed: %s\n' "$version" "$bin/switchyard"
  printf '%s\n' "$verified"
  case :${PATH-}: in
    *:"$bin":*) ;;
    *) printf 'Add %s to PATH to call it by its name.\n' "$bin" ;;
  esac
}

uninstall() {
  if [ ! -e "$bin/switchyard" ] && [ ! -L "$bin/switchyard" ]; then
    printf 'There is no switchyard in %s.\n' "$bin"
    return
  fi
  rm -f -- "$bin/switchyard" 2>/dev/null || die "$bin/switchyard could not be removed."
  printf 'switchyard is removed from %s. Configuration files were left alone.\n' "$bin"
}

main() {
  version='' prefix='' action=install_release work='' new='' existing=''
  while [ $# -gt 0 ]; do
    case $1 in
      --version | --prefix)
        [ $# -gt 1 ] || wrong_usage "$1 needs a value."
        [ -n "$2" ] || wrong_usage "$1 needs a value."
        if [ "$1" = --prefix ]; then
          prefix=$2
        else
          version=${2#v}
          [ -n "$version" ] || die "\"$2\" is not a version."
        fi
        shift
        ;;
      --uninstall) action=uninstall ;;
      -h | --help)
        usage
        return
        ;;
      *) wrong_usage "There is no option $1." ;;
    esac
    shift
  done
  [ "$action" = install_release ] || [ -z "$version" ] ||
    wrong_usage "--uninstall takes away whatever version is there: no --version goes with it."
  if [ -z "$prefix" ]; then
    [ -n "${HOME-}" ] || die "HOME is not set; say where to install with --prefix."
    prefix=$HOME/.local
  fi
  case $prefix in
    /*) ;;
    *) prefix=$PWD/$prefix ;;
  esac
  bin=${prefix%/}/bin
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  "$action"
}

# The last line: a script that was cut off on its way does nothing.
main "$@"
