import { BlockList, isIP } from "node:net";
import { isLoopbackName } from "../core/authority.ts";
import type { Origin } from "./dial.ts";

/** True if requests to this origin go through a proxy. */
export type ProxyRule = (origin: Origin) => boolean;

/** Addresses of this link, such as the metadata service of a cloud: no proxy can reach them. */
const LINK_LOCAL = newLinkLocal();

function newLinkLocal(): BlockList {
  const addresses = new BlockList();
  addresses.addSubnet("169.254.0.0", 16, "ipv4");
  addresses.addSubnet("fe80::", 10, "ipv6");
  // AWS has its services of a machine here, such as the agent of a pod, which gets a secret.
  addresses.addSubnet("fd00:ec2::", 32, "ipv6");
  return addresses;
}

/**
 * Returns the proxy rule of the environment variables, with the rules of Go; null if they name no
 * proxy. `HTTP_PROXY` is for http, `HTTPS_PROXY` for https and `ALL_PROXY` for both, also in lower
 * case. Requests to loopback hosts, to link-local
 * addresses and those of a machine at AWS, and to the entries of `NO_PROXY` never go through a
 * proxy.
 */
export function parseProxyRule(variable: (name: string) => string | undefined): ProxyRule | null {
  const read = (name: string) => variable(name) || variable(name.toLowerCase()) || "";
  const all = read("ALL_PROXY");
  const isProxied = {
    http: (read("HTTP_PROXY") || all) !== "",
    https: (read("HTTPS_PROXY") || all) !== "",
  };
  if (!isProxied.http && !isProxied.https) return null;
  const exceptions = read("NO_PROXY").split(",").flatMap((entry) => parseException(entry) ?? []);
  return (origin) =>
    isProxied[origin.isSecure ? "https" : "http"] && !isLoopbackName(origin.hostname) &&
    !isWithin(LINK_LOCAL, origin.hostname) &&
    !exceptions.some((isExcepted) => isExcepted(origin));
}

/**
 * Parses one entry of `NO_PROXY`: `*`, an address, a network as CIDR, or a domain, optionally with
 * a port.
 */
function parseException(entry: string): ProxyRule | null {
  const written = entry.trim().toLowerCase();
  if (written === "") return null;
  if (written === "*") return () => true;
  const network = parseNetwork(written);
  if (network !== null) return ({ hostname }) => isWithin(network, hostname);
  const { host, port } = parseHostPort(written);
  if (host === "") return null;
  const isSamePort = (origin: Origin) => port === null || port === String(origin.port);
  if (isIP(host) !== 0) {
    const only = new BlockList();
    only.addAddress(host, familyOf(host));
    return (origin) => isSamePort(origin) && isWithin(only, origin.hostname);
  }
  // A leading dot or `*.` matches only the subdomains of a domain.
  const below = host.replace(/^\*?\.?/, ".");
  const isWithSelf = !/^(?:\*\.|\.)/.test(host);
  return (origin) => {
    const name = origin.hostname.toLowerCase();
    return isSamePort(origin) && (name.endsWith(below) || (isWithSelf && name === host));
  };
}

function parseNetwork(written: string): BlockList | null {
  const [, address = "", prefix = ""] = /^([\da-f.:]+)\/(\d{1,3})$/.exec(written) ?? [];
  const family = isIP(address);
  if (family === 0 || Number(prefix) > (family === 4 ? 32 : 128)) return null;
  const network = new BlockList();
  network.addSubnet(address, Number(prefix), familyOf(address));
  return network;
}

/**
 * Splits host and port. An IPv6 address with a port is in brackets; without brackets all colons
 * belong to the address.
 */
function parseHostPort(written: string): { readonly host: string; readonly port: string | null } {
  const bracketed = /^\[([\da-f.:]+)\](?::(\d+))?$/.exec(written);
  if (bracketed !== null) return { host: bracketed[1] ?? "", port: bracketed[2] ?? null };
  if (isIP(written) === 6) return { host: written, port: null };
  const [, host = written, port = null] = /^(.*):(\d+)$/.exec(written) ?? [];
  return { host, port };
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}

function isWithin(network: BlockList, hostname: string): boolean {
  return isIP(hostname) !== 0 && network.check(hostname, familyOf(hostname));
}
