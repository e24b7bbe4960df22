import { createVerify } from "node:crypto";
import { isObject, type JsonObject, parseJson } from "../../core/json/json.ts";
import { newBoundedMap } from "../bounded_map.ts";
import type { Deps } from "../protocol.ts";
import type { CloudKeys } from "./signature.ts";

/** The identities that the simulated clouds know. */
export interface CloudIdentities {
  /** Secret access keys of AWS by their IDs. */
  readonly awsKeys: ReadonlyMap<string, string>;
  /** Client secrets of applications of Entra, of any tenant. */
  readonly clientSecrets: ReadonlySet<string>;
  /** Tokens of workload identities, which Entra and AWS accept. */
  readonly workloadTokens: ReadonlySet<string>;
  /** Public keys of Google's service accounts in PEM, by their addresses. */
  readonly serviceAccounts: ReadonlyMap<string, string>;
  /** API keys of Google. */
  readonly apiKeys: ReadonlySet<string>;
}

/** A question to a service that issues credentials. */
export interface IssueCall {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** The body as a form. */
  readonly form: URLSearchParams;
}

/** A cloud whose tokens its hosts accept. */
export type TokenCloud = "entra" | "google";

/** Seconds for which tokens and temporary keys are valid: few, so that one can watch refreshes. */
export const LIFETIME_S = 300;

const LIMITS = { maxValues: 1_000, maxCharacters: 1_000 } as const;

/** Returns the services of the clouds that issue credentials, which have issued none yet. */
export function newIssuers({ unix, uuid }: Pick<Deps, "unix" | "uuid">, known: CloudIdentities) {
  const tokens = newBoundedMap<{ readonly cloud: TokenCloud; readonly endsS: number }>(
    LIMITS,
    () => 1,
  );
  const temporary = newBoundedMap<CloudKeys>(LIMITS, () => 1);
  const sessions = newBoundedMap<true>(LIMITS, () => 1);

  function issueToken(cloud: TokenCloud): Response {
    const token = `sim-${cloud}-${uuid()}`;
    tokens.set(token, { cloud, endsS: unix() + LIFETIME_S });
    return Response.json({ access_token: token, token_type: "Bearer", expires_in: LIFETIME_S });
  }

  function issueKeys() {
    const [id, secret, session] = [`ASIA${uuid().slice(-12)}`, uuid(), uuid()];
    const endsS = unix() + LIFETIME_S;
    temporary.set(id, { secret, session, endsS });
    return { id, secret, session, end: new Date(endsS * 1_000).toISOString() };
  }

  /** Microsoft Entra ID: the grant of client credentials, with a secret or an assertion. */
  function entra({ method, path, form }: IssueCall): Response {
    if (method !== "POST" || !/^\/[^/]+\/oauth2\/v2\.0\/token$/.test(path)) return notFound();
    if (form.get("grant_type") !== "client_credentials") {
      return refused(400, "unsupported_grant_type");
    }
    if (!form.get("client_id") || !form.get("scope")?.endsWith("/.default")) {
      return refused(400, "invalid_request");
    }
    const secret = form.get("client_secret");
    const isKnown = secret !== null
      ? known.clientSecrets.has(secret)
      : known.workloadTokens.has(form.get("client_assertion") ?? "") &&
        form.get("client_assertion_type") ===
          "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    return isKnown ? issueToken("entra") : refused(401, "invalid_client");
  }

  /** Google's token endpoint: an assertion that a service account has signed. */
  function google({ method, path, form }: IssueCall): Response {
    if (method !== "POST" || path !== "/token") return notFound();
    if (form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:jwt-bearer") {
      return refused(400, "unsupported_grant_type");
    }
    const isValid = isValidAssertion(form.get("assertion") ?? "", known.serviceAccounts, unix());
    return isValid ? issueToken("google") : refused(400, "invalid_grant");
  }

  /** The Security Token Service of AWS. */
  function sts({ method, form }: IssueCall): Response {
    const isComplete = method === "POST" && form.get("Version") === "2011-06-15" &&
      form.get("Action") === "AssumeRoleWithWebIdentity" && form.get("RoleSessionName") !== null &&
      form.get("RoleArn")?.startsWith("arn:") === true;
    if (!isComplete) return xml(400, "<Error><Code>ValidationError</Code></Error>");
    if (!known.workloadTokens.has(form.get("WebIdentityToken") ?? "")) {
      return xml(400, "<Error><Code>InvalidIdentityToken</Code></Error>");
    }
    const { id, secret, session, end } = issueKeys();
    return xml(
      200,
      `<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>${id}</AccessKeyId>` +
        `<SecretAccessKey>${secret}</SecretAccessKey><SessionToken>${session}</SessionToken>` +
        `<Expiration>${end}</Expiration></Credentials></AssumeRoleWithWebIdentityResult>`,
    );
  }

  /** The metadata service of a machine of any of the three clouds. */
  function metadata({ method, path, query, headers }: IssueCall): Response {
    const roles = "/latest/meta-data/iam/security-credentials/";
    if (path === "/latest/api/token") {
      const isAsked = method === "PUT" && headers.has("x-aws-ec2-metadata-token-ttl-seconds");
      if (!isAsked) return refused(400, "invalid_request");
      const session = uuid();
      sessions.set(session, true);
      return new Response(session);
    }
    if (method !== "GET") return notFound();
    if (path.startsWith(roles)) {
      const session = headers.get("x-aws-ec2-metadata-token") ?? "";
      if (sessions.get(session) === undefined) return refused(401, "no_session");
      if (path === roles) return new Response("simulated-role");
      const { id, secret, session: token, end } = issueKeys();
      return path === `${roles}simulated-role`
        ? Response.json({ AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration: end })
        : notFound();
    }
    if (path === "/metadata/identity/oauth2/token") {
      return headers.get("metadata") === "true" && query.has("api-version") && query.has("resource")
        ? issueToken("entra")
        : refused(400, "invalid_request");
    }
    return path === "/computeMetadata/v1/instance/service-accounts/default/token" &&
        headers.get("metadata-flavor") === "Google"
      ? issueToken("google")
      : notFound();
  }

  return {
    entra,
    google,
    sts,
    metadata,
    /** Returns the keys of AWS with this ID. */
    keys(id: string): CloudKeys | undefined {
      const secret = known.awsKeys.get(id);
      return secret === undefined ? temporary.get(id) : { secret, session: null, endsS: Infinity };
    },
    /** Returns why a token of a cloud is refused; null if it is valid now. */
    tokenProblem(token: string, cloud: TokenCloud): string | null {
      const issued = tokens.get(token);
      if (issued === undefined || issued.cloud !== cloud) return "The token is not known here.";
      return issued.endsS <= unix() ? "The token has expired." : null;
    },
  };
}

/** True for a JWT that a known service account has signed for Google, and that is valid now. */
function isValidAssertion(
  assertion: string,
  accounts: CloudIdentities["serviceAccounts"],
  nowS: number,
): boolean {
  const [head = "", body = "", signature = ""] = assertion.split(".");
  const [header, claims] = [jsonOf(head), jsonOf(body)];
  if (header?.alg !== "RS256" || claims === null) return false;
  const { iss, aud, scope, iat, exp } = claims;
  const key = accounts.get(String(iss));
  return key !== undefined && aud === "https://oauth2.googleapis.com/token" &&
    typeof scope === "string" && typeof iat === "number" && typeof exp === "number" &&
    iat <= nowS + 60 && exp > nowS && exp - iat <= 3_600 &&
    createVerify("RSA-SHA256").update(`${head}.${body}`).verify(key, signature, "base64url");
}

function jsonOf(part: string): JsonObject | null {
  try {
    const bytes = Uint8Array.fromBase64(part, { alphabet: "base64url" });
    const value = parseJson(new TextDecoder().decode(bytes));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function refused(status: number, error: string): Response {
  return Response.json({ error }, { status });
}

function notFound(): Response {
  return refused(404, "not_found");
}

function xml(status: number, text: string): Response {
  return new Response(text, { status, headers: { "content-type": "text/xml" } });
}
