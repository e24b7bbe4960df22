// Until Deno gives the descriptor of a connection: it is found by its addresses.

/** Address families of Linux. */
const AF_INET = 2, AF_INET6 = 10;

/** Size in bytes of a `sockaddr_in6`, the larger address structure. */
export const MAX_SOCKADDR_BYTES = 28;

/**
 * Returns the address in a `sockaddr_in` or `sockaddr_in6` as `ADDRESS PORT`, the address as Deno
 * writes it; null for other families.
 */
export function parseSocketAddress(bytes: Uint8Array): string | null {
  const port = (byteAt(bytes, 2) << 8) | byteAt(bytes, 3);
  // The family is in the order of the machine; on those that Deno runs on the low byte is first.
  switch (byteAt(bytes, 0)) {
    case AF_INET:
      return `${ipv4At(bytes, 4)} ${port}`;
    case AF_INET6:
      return `${ipv6At(bytes, 8)} ${port}`;
    default:
      return null;
  }
}

function byteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}

function ipv4At(bytes: Uint8Array, at: number): string {
  return `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`;
}

/** Returns the text of RFC 5952, also its dotted form for IPv4 addresses inside of IPv6. */
function ipv6At(bytes: Uint8Array, at: number): string {
  const groups = Array.from(
    { length: 8 },
    (_, index) => (byteAt(bytes, at + 2 * index) << 8) | byteAt(bytes, at + 2 * index + 1),
  );
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (isMapped) return `::ffff:${ipv4At(bytes, at + 12)}`;
  const texts = groups.map((group) => group.toString(16));
  const { start, length } = longestZeros(groups);
  if (length < 2) return texts.join(":");
  return `${texts.slice(0, start).join(":")}::${texts.slice(start + length).join(":")}`;
}

/** Returns the first of the longest runs of zero groups. */
function longestZeros(groups: readonly number[]) {
  let best = { start: 0, length: 0 };
  let length = 0;
  for (const [index, group] of groups.entries()) {
    length = group === 0 ? length + 1 : 0;
    if (length > best.length) best = { start: index - length + 1, length };
  }
  return best;
}
