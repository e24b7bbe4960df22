/** TLS settings of one server beside those of every server. */
export interface TlsSettings {
  /** A digest of the settings: connections of different settings are pooled apart. */
  readonly id: string;
  /** Certificates in PEM that are trusted beside the usual ones. */
  readonly caCerts: readonly string[];
  /** The client certificate with its key, both in PEM; null without one. */
  readonly identity: { readonly cert: string; readonly key: string } | null;
  /** The name that is sent as SNI and that the server's certificate must have; null: that of the address. */
  readonly serverName: string | null;
}

/** Policy of the connections to one server. */
export interface Transport {
  /** Limit in milliseconds for DNS, TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** Milliseconds for which an idle connection is kept when the server names no time; 0: none is reused. */
  readonly keepAliveMs: number;
  /** Null: the usual certificates are trusted and none is presented. */
  readonly tls: TlsSettings | null;
}

/** The policy where no settings name another. */
export const DEFAULT_TRANSPORT: Transport = {
  connectTimeoutMs: 10_000,
  keepAliveMs: 4_000,
  tls: null,
};
