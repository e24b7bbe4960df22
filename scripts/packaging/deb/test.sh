#!/bin/sh
# test.sh PACKAGE
#
# Installs, upgrades, removes and purges the package in a folder that stands for a whole system, and
# says what is not as it should be. Needs dpkg, lintian, systemd-analyze and systemd-sysusers; who is
# not root needs user namespaces with subordinate ids.
set -eu

package=$1
if [ "$(id -u)" != 0 ]; then exec unshare --map-root-user --map-auto "$0" "$package"; fi

die() {
  printf 'test.sh: %s\n' "$*" >&2
  exit 1
}

lintian --allow-root --fail-on error,warning,info "$package"

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
root=$work/root
mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info"
: >"$root/var/lib/dpkg/status"

in_root() {
  # Nothing that it depends on is in there, and a package for other machines is tried as well.
  DEBIAN_FRONTEND=noninteractive dpkg --root="$root" --log="$work/log" \
    --force-script-chrootless --force-depends --force-architecture --force-confold "$@" >"$work/out" 2>&1 || {
    cat "$work/out" >&2
    die "dpkg $1 failed."
  }
}

has() { [ -e "$root/$1" ] || [ -L "$root/$1" ] || die "$2: $1 is missing."; }
has_not() { { [ ! -e "$root/$1" ] && [ ! -L "$root/$1" ]; } || die "$2: $1 is still there."; }

enabled=etc/systemd/system/multi-user.target.wants/switchyard.service
config=$root/etc/switchyard/config.yaml

in_root --install "$package"
has "$enabled" "installed"
has usr/share/man/man1/switchyard.1.gz "installed"
schema=$(sed -n '1s|^# yaml-language-server: .schema=/||p' "$config")
[ -n "$schema" ] || die "the configuration names no schema for editors."
has "$schema" "installed"
has usr/share/bash-completion/completions/switchyard "installed"
has usr/share/zsh/vendor-completions/_switchyard "installed"
has usr/share/fish/vendor_completions.d/switchyard.fish "installed"
group=$(sed -n 's/^switchyard:[^:]*:\([0-9]*\):.*/\1/p' "$root/etc/group")
[ -n "$group" ] || die "the service has no group."
protected() {
  for file in config.yaml switchyard.env; do
    [ "$(stat -c %a:%u:%g "$root/etc/switchyard/$file")" = "640:0:$group" ] ||
      die "$1: $file is not for root and the service alone."
  done
}
protected "installed"
dpkg-deb --contents "$package" | awk '$6 ~ "^./etc/switchyard/." && $1 != "-rw-r-----" { exit 1 }' ||
  die "others can read what it brings before it is configured."
version=$(dpkg-deb --field "$package" Version)
if [ "$(dpkg-deb --field "$package" Architecture)" = "$(dpkg --print-architecture)" ]; then
  [ "$("$root/usr/bin/switchyard" --version)" = "switchyard $(echo "$version" | tr '~' -)" ] ||
    die "the program does not tell its version."
  "$root/usr/bin/switchyard" check --config "$config" >"$work/check" ||
    die "the configuration that it brings is not valid."
  ! grep -q Warning "$work/check" || die "the configuration that it brings is warned of."
fi

# A newer package, with another configuration.
dpkg-deb --raw-extract "$package" "$work/newer"
sed -i 's/^Version: .*/&+newer/' "$work/newer/DEBIAN/control"
echo '# newer' >>"$work/newer/etc/switchyard/config.yaml"
dpkg-deb --root-owner-group -Znone --build "$work/newer" "$work/newer.deb" >/dev/null
echo '# edited' >>"$config"
echo 'KEY=value' >>"$root/etc/switchyard/switchyard.env"
in_root --install "$work/newer.deb"
grep -q '# edited' "$config" || die "an edited configuration was overwritten."
grep -q '# newer' "$config.dpkg-dist" || die "the new configuration was not put beside it."
grep -q KEY=value "$root/etc/switchyard/switchyard.env" || die "the keys were overwritten."

# An older release left the configuration to be read by everybody.
chmod 644 "$config"
chgrp 0 "$config"
in_root --install "$work/newer.deb"
protected "upgraded"

# What an administrator has switched off stays off.
rm "$root/$enabled"
in_root --install "$work/newer.deb"
has_not "$enabled" "upgraded while disabled"

in_root --remove switchyard
has_not usr/bin/switchyard "removed"
has etc/switchyard/config.yaml "removed"
in_root --install "$package"
has usr/bin/switchyard "installed again"

mkdir -p "$root/var/lib/private/switchyard"
in_root --purge switchyard
has_not etc/switchyard "purged"
has_not var/lib/private/switchyard "purged"
left=$(find "$root" -name '*switchyard*' ! -path '*/dpkg/*')
[ -z "$left" ] || die "purged: left over are $left."

# The program is not where the unit looks for it.
unit=$work/switchyard.service
sed 's|^ExecStart=/usr/bin/switchyard |ExecStart=/bin/true |' \
  "$work/newer/lib/systemd/system/switchyard.service" >"$unit"
for line in MemoryMax= TasksMax= LimitCORE=0 LoadCredential=.env:; do
  grep -q "^$line" "$unit" || die "the unit has no $line."
done
systemd-analyze verify --man=no "$unit" >"$work/out" 2>&1 || die "the unit is not sound."
# A line that is ignored is a warning, and no failure.
[ ! -s "$work/out" ] || die "the unit is not sound: $(head -n 1 "$work/out")"
systemd-analyze security --offline=yes --threshold=15 --no-pager "$unit" >"$work/out" ||
  die "the unit gives more rights than it should: $(tail -n 1 "$work/out")"

echo "$(basename "$package"): lintian, install, upgrade, remove and purge are good."
