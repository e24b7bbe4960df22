#!/bin/sh
# minimal_root.sh EXECUTABLE
#
# Starts the executable with nothing but what it needs: no environment, a user without rights, and a
# read-only root that holds the program, the C library, /proc and a configuration file. Whoever is
# not root needs a system where users may make namespaces.
set -eu

die() {
  printf 'minimal_root.sh: %s\n' "$*" >&2
  exit 1
}

if [ "${2-}" != inside ]; then
  executable=$(realpath -- "$1")
  work=$(mktemp -d)
  trap 'rm -rf -- "$work"' EXIT
  mkdir "$work/root"
  if [ "$(id -u)" = 0 ]; then
    unshare --mount "$0" "$executable" inside "$work" --userspec=65534:65534
  else
    unshare --map-root-user --mount "$0" "$executable" inside "$work"
  fi
  exit
fi

executable=$1 work=$3 user=${4-}
root=$work/root
chroot=$(command -v chroot)
mount -t tmpfs -o mode=755 minimal "$root"
mkdir -p "$root/proc" "$root/dev"
install -m 755 "$executable" "$root/switchyard"
# The loader and the libraries, each where the program looks for it.
ldd "$executable" | grep -o '/[^ ]*' | while read -r library; do
  install -D -m 755 "$library" "$root$library"
done
cat >"$root/config.yaml" <<'TEXT'
server: {port: 0}
providers: {nobody: {type: local, base_url: "http://127.0.0.1:9"}}
routing: {routes: [{name: main, targets: [{provider: nobody}]}]}
TEXT
mount --rbind /proc "$root/proc"
for device in null urandom; do
  : >"$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mount -o remount,ro -t tmpfs minimal "$root"
! touch "$root/file" 2>/dev/null || die "the root can be written."

in_root() {
  env -i "$chroot" ${user:+"$user"} "$root" /switchyard "$@"
}

in_root --version || die "it does not tell its version."
in_root check >/dev/null || die "it does not check the configuration."

env -i "$chroot" ${user:+"$user"} "$root" /switchyard >"$work/out" 2>"$work/err" &
program=$!
trap 'kill -KILL "$program" 2>/dev/null || true' EXIT
address=''
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  address=$(sed -n 's/.*listens on \(http[^ ]*\).*/\1/p' "$work/out")
  [ -z "$address" ] || break
  sleep 0.5
done
[ -n "$address" ] || die "it does not listen: $(cat "$work/out" "$work/err")"
curl --fail --silent --noproxy '*' "$address/health" || die "it does not answer."
echo
in_root health --url "$address" || die "it does not find itself healthy."
kill -HUP "$program"
kill -TERM "$program"
wait "$program" || die "it does not end with 0: $(cat "$work/err")"
trap - EXIT
echo "The executable runs without environment, rights or a place to write."
