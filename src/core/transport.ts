/** TLS settings of one server, in addition to the settings for all servers. */
export interface TlsSettings {
  /** Digest of the settings: connections with different settings are pooled separately. */
  readonly id: string;
  /** CA certificates in PEM that are trusted in addition to the default ones. */
  readonly caCerts: readonly string[];
  /** The client certificate and its key, both in PEM; null if none is sent. */
  readonly identity: { readonly cert: string; readonly key: string } | null;
  /** Server name for SNI and certificate verification; null to use the host of the URL. */
  readonly serverName: string | null;
}

/** Connection policy of one server. */
export interface Transport {
  /** Limit in milliseconds for DNS, TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** Idle timeout of a connection in milliseconds, if the server sends none; 0 disables reuse. */
  readonly keepAliveMs: number;
  /** TLS settings; null trusts the default CA certificates and sends no client certificate. */
  readonly tls: TlsSettings | null;
}

/** Connection policy of servers without settings. */
export const DEFAULT_TRANSPORT: Transport = {
  connectTimeoutMs: 10_000,
  keepAliveMs: 4_000,
  tls: null,
};
