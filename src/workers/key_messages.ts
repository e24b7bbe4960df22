/** Keys of issuers for a worker: a refresh that begins, or that has ended. */
export type KeysMessage =
  | { readonly kind: "keys_begin"; readonly source: string }
  | {
    readonly kind: "keys";
    readonly source: string;
    /** Null if the refresh has failed. */
    readonly keys: readonly PublicKey[] | null;
    /** Age of the keys in milliseconds. */
    readonly ageMs: number;
  };

/** A public key of an issuer, as `VerifyingKey`. */
export interface PublicKey {
  readonly id: string;
  readonly kid: string | null;
  readonly family: string;
  readonly algorithm: string | null;
  readonly jwk: Readonly<Record<string, string>>;
}
