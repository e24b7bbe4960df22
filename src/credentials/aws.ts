import type { CredentialConfig } from "../config/schema.ts";
import type { Cancellation } from "../core/cancellation.ts";
import type { JsonObject } from "../core/json/json.ts";
import { isLoopbackName } from "../core/authority.ts";
import {
  CONTAINER_HOSTS,
  CONTAINER_ORIGIN,
  METADATA_ORIGIN,
  stsAddress,
} from "../data/token_endpoints.ts";
import { askJson, askText } from "./ask.ts";
import { readSmallFile } from "../config/files.ts";
import {
  boundedEnd,
  type CredentialSource,
  type Fetched,
  isToken,
  noCredential,
  parseDate,
  type SourceDeps,
} from "./source.ts";

/** Returns the source of keys that sign the requests to AWS. */
export function newAwsSource(settings: CredentialConfig, deps: SourceDeps): CredentialSource {
  return { everyMs: null, fetch: fetchBy(settings, deps) };
}

function fetchBy(settings: CredentialConfig, deps: SourceDeps): CredentialSource["fetch"] {
  switch (settings.source) {
    case "web_identity":
      return (cancellation) => webIdentity(settings, deps, cancellation);
    case "imds":
      return (cancellation) => instanceRole(deps, cancellation);
    case "container":
      return (cancellation) => containerRole(deps, cancellation);
    default:
      return () => Promise.resolve(configuredKeys(settings));
  }
}

function configuredKeys(
  { access_key_id, secret_access_key, session_token }: CredentialConfig,
): Fetched {
  return awsKeys(access_key_id, secret_access_key, session_token, null);
}

function awsKeys(
  accessKeyId: unknown,
  secretAccessKey: unknown,
  sessionToken: unknown,
  expiresMs: number | null,
): Fetched {
  const isComplete = isToken(accessKeyId) && isToken(secretAccessKey) &&
    (sessionToken === undefined || isToken(sessionToken));
  if (!isComplete) return noCredential("the keys are not complete");
  const secret = {
    kind: "aws",
    accessKeyId,
    secretAccessKey,
    sessionToken: sessionToken ?? null,
  } as const;
  return { ok: true, issued: { secret, expiresMs } };
}

/** Returns temporary keys, which must have a session token and an end. */
function temporaryKeys(
  { AccessKeyId, SecretAccessKey, Token, Expiration }: JsonObject,
  wallMs: number,
): Fetched {
  const ends = boundedEnd(parseDate(Expiration), wallMs);
  if (typeof ends === "string") return noCredential(ends);
  return awsKeys(AccessKeyId, SecretAccessKey, Token ?? null, ends);
}

/** Assumes a role by the token of a workload identity. */
async function webIdentity(
  { region = "", role_arn = "", token_file = "" }: CredentialConfig,
  { world }: SourceDeps,
  cancellation: Cancellation,
): Promise<Fetched> {
  const read = await readSmallFile(token_file);
  if (!read.ok) return read;
  const answer = await askText(world, {
    method: "POST",
    url: stsAddress(region),
    headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
    body: new URLSearchParams({
      Action: "AssumeRoleWithWebIdentity",
      Version: "2011-06-15",
      RoleSessionName: "switchyard",
      RoleArn: role_arn,
      WebIdentityToken: read.text.trim(),
    }).toString(),
  }, cancellation);
  if (!answer.ok) return answer;
  const member = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(answer.text)?.[1];
  return temporaryKeys({
    AccessKeyId: member("AccessKeyId") ?? null,
    SecretAccessKey: member("SecretAccessKey") ?? null,
    Token: member("SessionToken") ?? null,
    Expiration: member("Expiration") ?? null,
  }, world.wall());
}

/** Time in seconds for which a session at the metadata service is valid. */
const METADATA_SESSION_S = "21600";

/** Fetches the keys of the role of an EC2 instance (IMDSv2). */
async function instanceRole({ world }: SourceDeps, cancellation: Cancellation): Promise<Fetched> {
  const session = await askText(world, {
    method: "PUT",
    url: `${METADATA_ORIGIN}/latest/api/token`,
    headers: { "x-aws-ec2-metadata-token-ttl-seconds": METADATA_SESSION_S },
    body: "",
  }, cancellation);
  if (!session.ok) return session;
  if (!isToken(session.text)) return noCredential("the metadata service sent no session");
  const headers = { "x-aws-ec2-metadata-token": session.text };
  const roles = `${METADATA_ORIGIN}/latest/meta-data/iam/security-credentials/`;
  const named = await askText(
    world,
    { method: "GET", url: roles, headers, body: null },
    cancellation,
  );
  if (!named.ok) return named;
  const [role = ""] = named.text.trim().split("\n");
  // The characters of a role name (IAM user guide, names and ARNs).
  if (!/^[\w+=,.@-]{1,64}$/.test(role)) return noCredential("the instance has no role");
  const question = { method: "GET", url: `${roles}${role}`, headers, body: null } as const;
  const answer = await askJson(world, question, cancellation);
  return answer.ok ? temporaryKeys(answer.value, world.wall()) : answer;
}

/** Fetches the keys of the role of an ECS task or an EKS pod, as its environment says. */
async function containerRole(
  { world, variable }: SourceDeps,
  cancellation: Cancellation,
): Promise<Fetched> {
  const path = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const full = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  const url = path?.startsWith("/") ? `${CONTAINER_ORIGIN}${path}` : full;
  if (url === undefined || !isContainerAddress(url)) {
    return noCredential("AWS_CONTAINER_CREDENTIALS_FULL_URI names no address of an agent");
  }
  const file = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  const read = file === undefined ? null : await readSmallFile(file);
  if (read?.ok === false) return read;
  const authorization = read?.text.trim() ?? variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (authorization !== undefined && !/^[\x20-\x7e]+$/.test(authorization)) {
    return noCredential("the authorization token of the container is no line of ASCII text");
  }
  const headers = {
    accept: "application/json",
    ...authorization !== undefined && { authorization },
  };
  const answer = await askJson(world, { method: "GET", url, headers, body: null }, cancellation);
  return answer.ok ? temporaryKeys(answer.value, world.wall()) : answer;
}

/** True for an address with TLS, of this machine or of an agent of AWS. */
function isContainerAddress(written: string): boolean {
  const url = URL.parse(written);
  if (url === null) return false;
  return url.protocol === "https:" ||
    (url.protocol === "http:" &&
      (isLoopbackName(url.hostname) || CONTAINER_HOSTS.includes(url.hostname)));
}
