#!/bin/bash
# boot_test.sh PACKAGE
#
# Boots systemd in separate namespaces, over a throw-away layer on this machine's files, and there
# installs the package, reloads and upgrades the service, removes and purges it. Needs root, systemd
# and curl. Nothing of this machine is changed: its kernel settings are read-only in there.
set -euo pipefail

die() {
  printf 'boot_test.sh: %s\n' "$*" >&2
  exit 1
}

# Outside: everything in there ends with the process that unshare waits for.
outside() {
  work=$(mktemp -d)
  trap 'rm -rf -- "$work"' EXIT
  mkdir "$work/layer" "$work/told"
  cp -- "$1" "$work/told/package.deb"
  cp -- "$0" "$work/told/boot_test.sh"
  timeout --kill-after=5 180 \
    unshare --mount --pid --fork --uts --ipc --cgroup --net --kill-child \
    bash "$0" boot "$work" >"$work/console" 2>&1 </dev/null || true
  if ! grep -qx 'all good' "$work/told/log"; then
    cat "$work/console" "$work/told/log" >&2
    die "the package is not as it should be under systemd."
  fi
  echo "$(basename "$1"): start, reload, upgrade, remove and purge are good under systemd."
}

# In the new namespaces, as process 1: a separate root, then systemd.
boot() {
  layer=$1/layer
  mount --make-rprivate /
  mount -t tmpfs layer "$layer"
  mkdir "$layer/upper" "$layer/work" "$layer/root"
  mount -t overlay -o "lowerdir=/,upperdir=$layer/upper,workdir=$layer/work" overlay "$layer/root"
  cd "$layer/root"
  mount -t proc proc proc
  mount --bind proc/sys proc/sys
  mount -o remount,bind,ro proc/sys
  mount -t sysfs -o ro sysfs sys
  mount -t tmpfs tmpfs sys/fs/cgroup
  mkdir sys/fs/cgroup/systemd sys/fs/cgroup/unified
  if ! mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd 2>/dev/null; then
    umount sys/fs/cgroup
    mount -t cgroup2 cgroup2 sys/fs/cgroup
  else
    mount -t cgroup2 cgroup2 sys/fs/cgroup/unified
  fi
  mount -t tmpfs tmpfs tmp
  mount -t tmpfs tmpfs run
  mkdir run/told
  mount --bind "$1/told" run/told
  mount -t tmpfs -o mode=755 dev dev
  for device in null zero full random urandom tty; do
    mknod -m 666 "dev/$device" c "0x$(stat -c %t "/dev/$device")" "0x$(stat -c %T "/dev/$device")"
  done
  mkdir dev/pts dev/shm dev/mqueue dev/hugepages
  mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
  ln -s pts/ptmx dev/ptmx
  # Containers keep services from starting by this file.
  rm -f usr/sbin/policy-rc.d
  cat >etc/systemd/system/told.target <<'UNIT'
[Unit]
Requires=basic.target told.service
After=basic.target
UNIT
  cat >etc/systemd/system/told.service <<'UNIT'
[Unit]
After=basic.target
[Service]
Type=oneshot
ExecStart=/bin/bash /run/told/boot_test.sh inside
ExecStopPost=/bin/systemctl --force --force poweroff
StandardOutput=file:/run/told/log
StandardError=file:/run/told/log
UNIT
  mkdir old
  pivot_root . old
  cd /
  umount -l /old
  mount --make-rshared /
  exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=other \
    /lib/systemd/systemd --system --unit=told.target --log-target=console
}

pid() { systemctl show --property MainPID --value switchyard; }

health() {
  for _ in $(seq 20); do
    if curl --fail --silent --noproxy '*' http://127.0.0.1:8080/health; then return 0; fi
    sleep 0.5
  done
  systemctl status switchyard --no-pager || true
  die "$1: it does not answer."
}

# Under systemd.
inside() {
  cd /run
  ip link set lo up 2>/dev/null || true
  dpkg --install told/package.deb
  health "installed"
  [ "$(systemctl is-enabled switchyard)" = enabled ] || die "it is not enabled."
  grep -q '^CapEff:\s*0*$' "/proc/$(pid)/status" || die "it has capabilities."
  ! grep -q '^Uid:\s*0\b' "/proc/$(pid)/status" || die "it runs as root."

  grep -q "^Uid:.\s*$(id -u switchyard)\b" "/proc/$(pid)/status" || die "it runs as another user."
  for property in MemoryMax=2147483648 TasksMax=1024 LimitCORE=0; do
    systemctl show --property "${property%%=*}" switchyard | grep -qx "$property" ||
      die "it does not run with $property."
  done
  for file in config.yaml switchyard.env; do
    [ "$(stat -c %a:%U:%G "/etc/switchyard/$file")" = 640:root:switchyard ] ||
      die "$file is not for root and the service alone."
  done

  # A key gets to the configuration and not into the environment.
  provider='booted: {type: compat, base_url: "http://127.0.0.1:9", api_key: "$''{BOOT_KEY}"}'
  sed -i "s|^providers:|&\\n  $provider|" /etc/switchyard/config.yaml
  systemctl restart switchyard || true
  for _ in $(seq 20); do
    ! journalctl -u switchyard --no-pager | grep -q BOOT_KEY || break
    sleep 0.5
  done
  journalctl -u switchyard --no-pager | grep -q BOOT_KEY || die "a missing key is not reported."
  echo 'BOOT_KEY=sk-of-the-boot-test' >>/etc/switchyard/switchyard.env
  systemctl restart switchyard
  health "given a key"
  invocation=$(systemctl show --property InvocationID --value switchyard)
  ! journalctl "_SYSTEMD_INVOCATION_ID=$invocation" --no-pager | grep BOOT_KEY ||
    die "a key does not get to the configuration."
  ! grep -q sk-of-the-boot-test "/proc/$(pid)/environ" || die "a key is in the environment."
  sed -i '/^  booted: /d' /etc/switchyard/config.yaml
  mv /etc/switchyard/switchyard.env /etc/switchyard/moved
  systemctl restart switchyard
  health "without a file of keys"
  mv /etc/switchyard/moved /etc/switchyard/switchyard.env

  running=$(pid)
  sed -i 's/- name: main/- name: edited/' /etc/switchyard/config.yaml
  systemctl reload switchyard
  for _ in $(seq 20); do
    ! journalctl -u switchyard --no-pager | grep -q 'configuration reloaded.*edited' || break
    sleep 0.5
  done
  journalctl -u switchyard --no-pager | grep -q 'configuration reloaded.*edited' ||
    die "an edited configuration was not taken up."
  [ "$(pid)" = "$running" ] || die "a reload started it anew."

  kill -KILL "$running"
  sleep 3
  health "killed"

  dpkg-deb --raw-extract told/package.deb newer
  sed -i 's/^Version: .*/&+newer/' newer/DEBIAN/control
  dpkg-deb --root-owner-group -Znone --build newer newer.deb
  running=$(pid)
  dpkg --install newer.deb
  health "upgraded"
  [ "$(pid)" != "$running" ] || die "an upgrade did not start the new program."
  grep -q 'name: edited' /etc/switchyard/config.yaml || die "an upgrade overwrote the configuration."

  dpkg --remove switchyard
  ! systemctl is-active switchyard || die "a removed service still runs."
  dpkg --purge switchyard
  [ ! -e /etc/switchyard ] || die "a purge left the configuration."
  [ ! -e /var/lib/private/switchyard ] || die "a purge left state."
  echo 'all good'
}

case ${1-} in
  boot | inside) "$@" ;;
  *) outside "$1" ;;
esac
