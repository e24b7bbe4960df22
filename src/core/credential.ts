/** Keys that sign the requests to AWS. */
export interface AwsKeys {
  readonly kind: "aws";
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Token of temporary keys; null for keys of a user. */
  readonly sessionToken: string | null;
}

/** Proof to a provider of who the gateway is. */
export type AccessSecret = { readonly kind: "token"; readonly token: string } | AwsKeys;

/** A credential as its source has issued it. */
export interface IssuedCredential {
  readonly secret: AccessSecret;
  /** Unix time in milliseconds at which it ends; null if its source states none. */
  readonly expiresMs: number | null;
}

/** The result of a refresh; another process receives it in this form. */
export interface CredentialUpdate {
  /** The newest credential; null if none was issued yet. */
  readonly issued: IssuedCredential | null;
  /** True if the last refresh has failed. */
  readonly isFailing: boolean;
  /** Unix time in milliseconds of the next refresh. */
  readonly nextMs: number | null;
}

/**
 * State of a credential: `fresh`, `late` if it is usable and its refreshes fail, or `gone` if
 * requests cannot be sent with it.
 */
export type CredentialState = "fresh" | "late" | "gone";

/** A credential is not used in the last milliseconds of its time: the request takes some. */
const END_MARGIN_MS = 10_000;

/** Time that a request waits for the first credential after a start or a reload. */
export const FIRST_WAIT_MS = 5_000;

/** True if a request can be sent with a credential at this Unix time in milliseconds. */
export function isUsable(issued: IssuedCredential | null, wallMs: number): boolean {
  return issued !== null &&
    (issued.expiresMs === null || wallMs < issued.expiresMs - END_MARGIN_MS);
}

/** Returns the texts of a credential that must not reach a client. */
function secretTexts({ secret }: IssuedCredential): string[] {
  if (secret.kind === "token") return [secret.token];
  const { secretAccessKey, sessionToken } = secret;
  return sessionToken === null ? [secretAccessKey] : [secretAccessKey, sessionToken];
}

/** True if both credentials are the same one. */
export function isSameCredential(
  one: IssuedCredential | null,
  other: IssuedCredential | null,
): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The current credential of providers with equal settings of it, which calls read. */
export interface CredentialHolder {
  /** Digest of the settings. */
  readonly id: string;
  /** Milliseconds by which the clock of the provider is ahead, as far as it is known. */
  clockAheadMs: number;
  /** The newest credential, also if it has ended; null if none was issued yet. */
  issued(): IssuedCredential | null;
  /** Returns the credential for a request now; null if none is usable. */
  usable(wallMs: number): IssuedCredential | null;
  state(wallMs: number): CredentialState;
  /** Returns the last update. */
  latest(): CredentialUpdate;
  /** Secret texts of the current credential and of the one before, which still may be in use. */
  secrets(): readonly string[];
  /** Resolves with the first update; null once it has come. */
  first(): Promise<void> | null;
  /** Takes the result of a refresh. */
  update(update: CredentialUpdate): void;
  /**
   * Requests a refresh because the provider has refused this credential, unless the holder has
   * another one by now. Resolves when it has ended.
   */
  renew(refused: IssuedCredential | null): Promise<void>;
  /** Sets the function that refreshes. It resolves when an update has come, or none will. */
  refreshWith(refresh: () => Promise<void>): void;
}

/** Returns a holder that has no credential yet. */
export function newCredentialHolder(id: string): CredentialHolder {
  const arrived = Promise.withResolvers<void>();
  let isFirst = true;
  let current: CredentialUpdate = { issued: null, isFailing: false, nextMs: null };
  let secrets: readonly string[] = [];
  let refresh = (): Promise<void> => Promise.resolve();

  return {
    id,
    clockAheadMs: 0,
    issued: () => current.issued,
    usable: (wallMs) => isUsable(current.issued, wallMs) ? current.issued : null,
    state(wallMs) {
      if (!isUsable(current.issued, wallMs)) return "gone";
      return current.isFailing ? "late" : "fresh";
    },
    latest: () => current,
    secrets: () => secrets,
    first: () => isFirst ? arrived.promise : null,
    update(next) {
      if (!isSameCredential(next.issued, current.issued)) {
        secrets = [next.issued, current.issued].flatMap((one) =>
          one === null ? [] : secretTexts(one)
        );
      }
      current = next;
      isFirst = false;
      arrived.resolve();
    },
    renew: (refused) => isSameCredential(refused, current.issued) ? refresh() : Promise.resolve(),
    refreshWith(next) {
      refresh = next;
    },
  };
}
