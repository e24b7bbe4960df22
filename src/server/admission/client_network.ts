import { ADDRESS_PREFIX } from "../../traffic/buckets.ts";
import { peerAddress } from "../../core/peer_address.ts";
import type { Peer } from "../../runtime/peer.ts";

/**
 * Groups of an IPv6 address that identify a network; a host can choose the remaining groups freely
 * (RFC 4291).
 */
const NETWORK_GROUP_COUNT = 4;

/** Returns the client of a connection without a client key: the network of its address. */
export function networkClient(peer: Peer): string {
  return ADDRESS_PREFIX + clientNetwork(peerAddress(peer));
}

/**
 * Returns the network of a client's address for rate limiting. An IPv4 address is its own network,
 * also in IPv6 form (`::ffff:192.0.2.1`); an IPv6 address counts as its /64.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(":")) return address;
  const [bare = ""] = address.split("%");
  const hostname = URL.parse(`http://[${bare}]`)?.hostname;
  if (hostname === undefined) return address;
  const groups = groupsOf(hostname.slice(1, -1));
  const isMapped = groups.slice(0, 6).join(":") === "0:0:0:0:0:ffff";
  if (isMapped) return ipv4Text(groups.slice(6));
  return `${groups.slice(0, NETWORK_GROUP_COUNT).join(":")}::/64`;
}

/**
 * Returns the eight groups of an IPv6 address in its shortest form, in which `::` replaces zeros.
 */
function groupsOf(address: string): readonly string[] {
  const [left = "", right] = address.split("::");
  const before = left.split(":").filter(Boolean);
  const after = (right ?? "").split(":").filter(Boolean);
  return [...before, ...Array<string>(8 - before.length - after.length).fill("0"), ...after];
}

function ipv4Text(groups: readonly string[]): string {
  return groups.flatMap((group) => {
    const number = parseInt(group, 16);
    return [number >> 8, number & 255];
  }).join(".");
}
