/** Check of a token: of a client, verified now or before, or the kind of its refusal. */
export type TokenCheck =
  | {
    readonly kind: "client";
    readonly isCached: boolean;
    readonly client: { readonly issuer: string | null };
  }
  | { readonly kind: TokenRefusalKind; readonly issuer: string | null };

/** Why a token is refused. */
export type TokenRefusalKind =
  | "malformed"
  | "too_long"
  | "unknown_issuer"
  | "algorithm"
  | "unknown_key"
  | "signature"
  | "audience"
  | "claims"
  | "expired"
  | "not_yet"
  | "not_permitted"
  | "unavailable"
  | "busy";

/** Returns the labels by which a check of a token is counted. */
export function tokenLabels(
  check: TokenCheck,
): { readonly issuer: string; readonly result: string } {
  if (check.kind === "client") {
    return { issuer: check.client.issuer ?? "", result: check.isCached ? "cached" : "valid" };
  }
  return { issuer: check.issuer ?? "", result: resultOf(check.kind) };
}

function resultOf(kind: TokenRefusalKind): string {
  switch (kind) {
    case "expired":
    case "not_permitted":
    case "unavailable":
      return kind;
    case "busy":
      return "unavailable";
    default:
      return "invalid";
  }
}
