import { createSign } from "node:crypto";
import { parseServiceAccount } from "../config/credential_rules.ts";
import type { CredentialConfig } from "../config/schema.ts";
import { GOOGLE_TOKEN_ENDPOINT, METADATA_ORIGIN } from "../data/token_endpoints.ts";
import { type Asking, askToken, type Question, tokenQuestion } from "./ask.ts";
import { readSmallFile } from "../config/files.ts";
import { type CredentialSource, noCredential, type SourceDeps } from "./source.ts";

const USUAL_SCOPE = "https://www.googleapis.com/auth/cloud-platform";

/** Time for which the assertion of a service account is valid. */
const ASSERTION_S = 3_600;

/**
 * Returns the source of a token of Google Cloud: for the key of a service account, or of the
 * service account of the machine.
 */
export function newGoogleSource(
  settings: CredentialConfig,
  { world }: SourceDeps,
): CredentialSource {
  const { source, key_file = "", account, scope = USUAL_SCOPE } = settings;

  async function question(): Promise<Asking> {
    if (source === "metadata") return { ok: true, question: metadataQuestion(scope) };
    const read = await readSmallFile(key_file);
    if (!read.ok) return read;
    const key = parseServiceAccount(read.text);
    if (key === null) return noCredential("the file has no usable key of a service account");
    // What was created belongs to the account that the configuration was loaded with.
    if (key.email !== account) {
      return noCredential("the file has the key of another account; reload the configuration");
    }
    const { email, keyId, privateKey } = key;
    const issuedS = Math.floor(world.wall() / 1_000);
    const header = { alg: "RS256", typ: "JWT", ...keyId !== null && { kid: keyId } };
    const claims = {
      iss: email,
      scope,
      aud: GOOGLE_TOKEN_ENDPOINT,
      iat: issuedS,
      exp: issuedS + ASSERTION_S,
    };
    const signed = [header, claims].map(base64url).join(".");
    const signature = createSign("RSA-SHA256").update(signed).sign(privateKey, "base64url");
    // Never `token_uri` of the file: a key must not choose where its assertion goes.
    const asked = tokenQuestion(GOOGLE_TOKEN_ENDPOINT, {
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion: `${signed}.${signature}`,
    });
    return { ok: true, question: asked };
  }

  return { everyMs: null, fetch: (cancellation) => askToken(world, question, cancellation) };
}

function metadataQuestion(scope: string): Question {
  const query = new URLSearchParams({ scopes: scope });
  return {
    method: "GET",
    url: `${METADATA_ORIGIN}/computeMetadata/v1/instance/service-accounts/default/token?${query}`,
    headers: { "metadata-flavor": "Google" },
    body: null,
  };
}

function base64url(value: unknown): string {
  return new TextEncoder().encode(JSON.stringify(value)).toBase64({
    alphabet: "base64url",
    omitPadding: true,
  });
}
