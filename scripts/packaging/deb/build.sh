#!/bin/sh
# build.sh EXECUTABLE MACHINE VERSION DIR
#
# Makes DIR/switchyard_VERSION_<architecture>.deb of a Linux executable and prints its path. MACHINE
# is linux-x64 or linux-arm64. SOURCE_DATE_EPOCH dates every file, so that the same sources give the
# same package. SWITCHYARD_MAINTAINER is "Name <address>" of who publishes it.
#
# The executable must never be stripped: the program is appended to the runtime.
set -eu

[ $# -eq 4 ] || {
  sed -n '2,4s/^# \{0,1\}//p' "$0" >&2
  exit 2
}
executable=$1 machine=$2 released=$3 out=$4
: "${SOURCE_DATE_EPOCH:?is not set}"
maintainer=${SWITCHYARD_MAINTAINER:-The Switchyard authors <switchyard@packages.invalid>}

here=$(dirname -- "$0")
top=$here/../../..
case $machine in
  linux-x64) architecture=amd64 ;;
  linux-arm64) architecture=arm64 ;;
  *)
    echo "build.sh: there is no package for $machine." >&2
    exit 1
    ;;
esac
# To dpkg a tilde comes before nothing, as a pre-release comes before its release.
version=$(printf '%s' "$released" | sed 's/-/~/')

umask 022
root=$(mktemp -d)
trap 'rm -rf -- "$root"' EXIT
chmod 755 "$root"

put() {
  install -D -m "$1" -- "$2" "$root/$3"
}

put 755 "$executable" usr/bin/switchyard
put 644 "$here/switchyard.service" lib/systemd/system/switchyard.service
put 644 "$here/switchyard.sysusers" usr/lib/sysusers.d/switchyard.conf
program() { "$top/scripts/deno" run --no-prompt --allow-read --allow-env "$top/main.ts" "$@"; }

# The schema belongs to the release, not to the configuration: it is no file in /etc.
schema=/usr/share/switchyard/config.schema.json
mkdir -p "$root/etc/switchyard" "$root${schema%/*}"
program schema >"$root$schema"
program init edge --print >"$root/etc/switchyard/config.yaml"
sed -i "1s|=config\\.schema\\.json\$|=$schema|" "$root/etc/switchyard/config.yaml"
chmod 640 "$root/etc/switchyard/config.yaml"
put 640 "$here/switchyard.env" etc/switchyard/switchyard.env
put 644 "$here/copyright" usr/share/doc/switchyard/copyright
put 644 "$here/lintian-overrides" usr/share/lintian/overrides/switchyard

# The shells look for their scripts in these files.
for place in bash:bash-completion/completions/switchyard zsh:zsh/vendor-completions/_switchyard \
  fish:fish/vendor_completions.d/switchyard.fish; do
  file=$root/usr/share/${place#*:}
  mkdir -p "$(dirname -- "$file")"
  program completions "${place%%:*}" >"$file"
done

day=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%d)
mkdir -p "$root/usr/share/man/man1"
"$top/scripts/deno" run --allow-read --allow-env "$top/scripts/packaging/manual.ts" "$released" "$day" |
  gzip -9n >"$root/usr/share/man/man1/switchyard.1.gz"
{
  printf 'switchyard (%s) stable; urgency=medium\n\n' "$version"
  printf '  * Release %s.\n\n' "$released"
  printf ' -- %s  %s\n' "$maintainer" "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")"
} | gzip -9n >"$root/usr/share/doc/switchyard/changelog.gz"

size=$(du -sk --apparent-size "$root" | cut -f1)
mkdir "$root/DEBIAN"
sed -e "s|@VERSION@|$version|" -e "s|@ARCHITECTURE@|$architecture|" \
  -e "s|@MAINTAINER@|$maintainer|" -e "s|@SIZE@|$size|" "$here/control" >"$root/DEBIAN/control"
install -m 644 "$here/conffiles" "$root/DEBIAN/conffiles"
install -m 755 "$here/postinst" "$here/prerm" "$here/postrm" "$root/DEBIAN/"
(
  cd "$root"
  find . -type f ! -path './DEBIAN/*' ! -path './etc/*' -printf '%P\n' | LC_ALL=C sort |
    xargs -d '\n' md5sum >DEBIAN/md5sums
)
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

package=$out/switchyard_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" >/dev/null
touch -d "@$SOURCE_DATE_EPOCH" "$package"
printf '%s\n' "$package"
