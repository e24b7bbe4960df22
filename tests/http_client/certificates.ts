import type { TlsSettings } from "../../src/core/transport.ts";

/** The name that the servers' certificates have. */
export const NAME = "provider.test";

/** The text of a file next to the certificates for tests. */
export function pem(name: string): string {
  return Deno.readTextFileSync(new URL(`certificates/${name}`, import.meta.url));
}

/**
 * TLS settings that trust the certificates for tests and expect their name, with the differences
 * given.
 */
export function tlsSettings(changes: Partial<TlsSettings> = {}): TlsSettings {
  return { id: "usual", caCerts: [pem("ca.pem")], identity: null, serverName: NAME, ...changes };
}

/** The client certificate for tests, with its key. */
export const IDENTITY = { cert: pem("client.pem"), key: pem("server.key") };

/** Listens over TLS on a free port with this certificate. */
export function listenWith(certificate: string): Deno.TlsListener & { readonly port: number } {
  const listener = Deno.listenTls({
    hostname: "127.0.0.1",
    port: 0,
    cert: pem(certificate),
    key: pem("server.key"),
  });
  return Object.assign(listener, { port: listener.addr.port });
}
