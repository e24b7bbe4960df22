import type { CredentialUpdate } from "../core/credential.ts";

/**
 * Values that the parent fetches once and hands to all its workers: the credentials of providers,
 * and the keys of issuers.
 */
export type Handed =
  /** A credential was refreshed, or could not be. */
  | { readonly kind: "credential"; readonly id: string; readonly update: CredentialUpdate }
  /** A refresh of keys begins. */
  | { readonly kind: "keys_begin"; readonly source: string }
  | {
    readonly kind: "keys";
    readonly source: string;
    /** The last good keys; null if there are none. */
    readonly keys: readonly PublicKey[] | null;
    /** Age of the keys in milliseconds. */
    readonly ageMs: number;
    /** True if the last refresh has failed. */
    readonly isFailing: boolean;
  };

/**
 * Demand of a worker to its parent: another credential, because a provider has refused this one,
 * or the keys of a source, because a token names one that the worker does not have.
 */
export type Demand =
  | { readonly of: "credential"; readonly id: string }
  | { readonly of: "keys"; readonly source: string };

/** A public key of an issuer, as `VerifyingKey`. */
export interface PublicKey {
  readonly id: string;
  readonly kid: string | null;
  readonly family: string;
  readonly algorithm: string | null;
  readonly jwk: Readonly<Record<string, string>>;
}
