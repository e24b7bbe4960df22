import type { CredentialConfig } from "../config/schema.ts";
import { ENTRA_AUTHORITY, METADATA_ORIGIN } from "../data/token_endpoints.ts";
import { type Asking, askToken, type Question, tokenQuestion } from "./ask.ts";
import { readSmallFile } from "../config/files.ts";
import type { CredentialSource, SourceDeps } from "./source.ts";

/** Scope of a token for Azure OpenAI and Foundry. */
const USUAL_SCOPE = "https://cognitiveservices.azure.com/.default";

const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/**
 * Returns the source of a token of Microsoft Entra ID: for a client secret, for the token of a
 * workload identity, or of the managed identity of the machine.
 */
export function newEntraSource(
  settings: CredentialConfig,
  { world }: SourceDeps,
): CredentialSource {
  const { source, token_file, client_id = "", client_secret = "" } = settings;

  async function question(): Promise<Asking> {
    if (source === "managed") return { ok: true, question: managedQuestion(settings) };
    const form = { client_id, grant_type: "client_credentials" };
    if (token_file === undefined) {
      return { ok: true, question: grant(settings, { ...form, client_secret }) };
    }
    // The token of a workload identity is replaced every hour, so it is read each time.
    const read = await readSmallFile(token_file);
    if (!read.ok) return read;
    const client_assertion = read.text.trim();
    const proof = { client_assertion, client_assertion_type: ASSERTION_TYPE };
    return { ok: true, question: grant(settings, { ...form, ...proof }) };
  }

  return { everyMs: null, fetch: (cancellation) => askToken(world, question, cancellation) };
}

function grant(
  { authority = ENTRA_AUTHORITY, tenant = "", scope = USUAL_SCOPE }: CredentialConfig,
  form: Readonly<Record<string, string>>,
): Question {
  const url = `${authority.replace(/\/+$/, "")}/${tenant}/oauth2/v2.0/token`;
  return tokenQuestion(url, { ...form, scope });
}

/** The metadata service of a machine takes a resource, which is a scope without its last part. */
function managedQuestion({ scope = USUAL_SCOPE, client_id }: CredentialConfig): Question {
  const query = new URLSearchParams({
    "api-version": "2018-02-01",
    resource: scope.replace(/\/\.default$/, ""),
    ...client_id !== undefined && { client_id },
  });
  return {
    method: "GET",
    url: `${METADATA_ORIGIN}/metadata/identity/oauth2/token?${query}`,
    headers: { accept: "application/json", metadata: "true" },
    body: null,
  };
}
