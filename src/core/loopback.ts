/** True if the host name or IP address is a loopback one. IPv6 addresses may have brackets. */
export function isLoopbackName(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/^\[|\]$|\.$/g, "");
  if (name === "localhost" || name.endsWith(".localhost")) return true;
  if (name.includes(":")) return name === "::1" || /^::ffff:7f[0-9a-f]{2}:/.test(name);
  return /^127\.\d+\.\d+\.\d+$/.test(name);
}
