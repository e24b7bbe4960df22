#!/bin/sh
# sign.sh ready                checks that a release can be signed, or need not be
# sign.sh FILE COMMENT PUBLIC  makes FILE.minisig, and writes the public key to PUBLIC
#
# SWITCHYARD_SIGNING_KEY is the path of a minisign secret key outside the repository.
# SWITCHYARD_UNSIGNED=1 makes a release without a signature. COMMENT is signed
# too. The same file, comment and key give the same signature.
set -eu

die() {
  printf 'sign.sh: %s\n' "$*" >&2
  exit 1
}

key=${SWITCHYARD_SIGNING_KEY:-}
unsigned=${SWITCHYARD_UNSIGNED:-}
repository=$(cd -- "$(dirname -- "$0")/../.." && pwd -P)

ready() {
  if [ -z "$key" ]; then
    [ "$unsigned" = 1 ] ||
      die "Set SWITCHYARD_SIGNING_KEY to a minisign secret key, or SWITCHYARD_UNSIGNED=1 for a release without a signature."
    return
  fi
  [ -z "$unsigned" ] || die "SWITCHYARD_SIGNING_KEY and SWITCHYARD_UNSIGNED exclude each other."
  command -v minisign >/dev/null 2>&1 || die "minisign is needed to sign a release."
  if [ ! -f "$key" ] || [ ! -r "$key" ]; then
    die "SWITCHYARD_SIGNING_KEY names no file that can be read."
  fi
  folder=$(cd -- "$(dirname -- "$key")" && pwd -P)
  case $folder/ in
    "$repository"/*) die "The signing key must be kept outside the repository." ;;
  esac
}

sign() {
  ready
  [ -n "$key" ] || return 0
  file=$1 comment=$2 public=$3
  rm -f -- "$file.minisig" "$public"
  minisign -S -s "$key" -m "$file" -x "$file.minisig" -t "$comment" \
    -c 'signature of a switchyard release' >/dev/null || die "$file could not be signed."
  minisign -R -s "$key" -p "$public" >/dev/null || die "The public key could not be made."
  # What users will do: a key file that does not fit is noticed here, not by them.
  minisign -V -q -p "$public" -m "$file" -x "$file.minisig" || die "The signature is not good."
}

case $#-${1-} in
  1-ready) ready ;;
  3-*) sign "$@" ;;
  *)
    sed -n '2,3s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
