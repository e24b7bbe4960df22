import type { TlsSettings } from "../core/transport.ts";

const PROTOCOLS = ["http/1.1"];

/** Starts TLS on a TCP connection; the caller awaits the handshake. */
export function startTls(
  tcp: Deno.TcpConn,
  hostname: string,
  tls: TlsSettings | null,
): Promise<Deno.TlsConn> {
  const caCerts = [...tls?.caCerts ?? []];
  return Deno.startTls(tcp, { hostname, caCerts, alpnProtocols: PROTOCOLS });
}

/** TLS settings with a client certificate. */
export type IdentifiedTls = TlsSettings & {
  readonly identity: NonNullable<TlsSettings["identity"]>;
};

/**
 * Connects to an address with a client certificate, which the runtime accepts only while
 * connecting. The caller awaits the handshake.
 */
export function connectWithIdentity(
  address: string,
  port: number,
  serverName: string,
  { caCerts, identity }: IdentifiedTls,
): Promise<Deno.TlsConn> {
  const options = {
    hostname: address,
    port,
    caCerts: [...caCerts],
    alpnProtocols: PROTOCOLS,
    ...identity,
  };
  return Deno.connectTls(withServerName(options, serverName));
}

/**
 * Returns the options with a server name that differs from the address. The runtime has that option
 * under a symbol that it does not export. If a later runtime ignores it, the certificate is
 * compared with the address and the connection is refused.
 */
function withServerName<Options extends object>(options: Options, serverName: string): Options {
  return new Proxy(options, {
    get: (target, key) =>
      typeof key === "symbol" && key.description === "unstableServerName"
        ? serverName
        : Reflect.get(target, key),
  });
}
