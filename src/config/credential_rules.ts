import { createPrivateKey } from "node:crypto";
import { resolve } from "node:path";
import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";
import { hostAt } from "../data/hosts.ts";
import { CREDENTIAL_TYPES } from "./credential_schema.ts";
import { isOwnHeader, OWN_HEADER } from "./fields.ts";
import type { FileText } from "./files.ts";
import { type Path, type Problem, problem } from "./problems.ts";
import type { Config, CredentialConfig, WrittenProvider } from "./schema.ts";
import { fileText, type Outside } from "./tls_rules.ts";

type CredentialType = (typeof CREDENTIAL_TYPES)[number];

/** Members that each type has besides `type`. */
const ALWAYS: Readonly<Record<CredentialType, readonly string[]>> = {
  file: ["header", "prefix"],
  entra: ["header", "prefix", "scope", "refresh_before"],
  google: ["header", "prefix", "scope", "refresh_before"],
  aws: ["region", "service"],
};

/** One way to prove the identity: the member that chooses it, and what else it has. */
interface Way {
  /** The member, or the value of `source`, that the file states for this way. */
  readonly by: { readonly member: string } | { readonly source: string };
  readonly required: readonly string[];
  readonly optional?: readonly string[];
}

const WAYS: Readonly<Record<CredentialType, readonly Way[]>> = {
  file: [{ by: { member: "path" }, required: [], optional: ["field", "expires_field"] }],
  entra: [
    {
      by: { member: "client_secret" },
      required: ["tenant", "client_id"],
      optional: ["authority"],
    },
    { by: { member: "token_file" }, required: ["tenant", "client_id"], optional: ["authority"] },
    { by: { source: "managed" }, required: [], optional: ["client_id"] },
  ],
  google: [
    { by: { member: "key_file" }, required: [] },
    { by: { source: "metadata" }, required: [] },
  ],
  aws: [
    {
      by: { member: "access_key_id" },
      required: ["secret_access_key"],
      optional: ["session_token"],
    },
    // The keys of the way above have no end.
    ...[
      { by: { source: "web_identity" }, required: ["role_arn", "token_file"] },
      { by: { source: "imds" }, required: [] },
      { by: { source: "container" }, required: [] },
    ].map((way) => ({ ...way, optional: ["refresh_before"] })),
  ],
};

/** Returns the problems of the credentials of providers. Takes the value before defaults. */
export function credentialProblems(providers: unknown, outside: Outside): Problem[] {
  if (!isObject(providers)) return [];
  const { files } = outside;
  return Object.entries(providers).flatMap(([id, written]) => {
    if (!isObject(written)) return [];
    const path = ["providers", id];
    if (written.credential === undefined) {
      return poolProblems(written.api_keys, [...path, "api_keys"], outside);
    }
    const place = [...path, "credential"];
    const others = ["api_key", "api_keys"].filter((key) => written[key] !== undefined);
    return [
      ...others.map((key) =>
        problem(
          [...path, key],
          "cannot be set together with credential; remove one of the two",
          "key",
        )
      ),
      ...isObject(written.credential) ? memberProblems(written.credential, place, files) : [],
    ];
  });
}

/** Returns the problems of the keys of a pool, each of which has a value or a credential. */
function poolProblems(keys: unknown, place: Path, outside: Outside): Problem[] {
  const seen = new Set<string>();
  return (Array.isArray(keys) ? keys : []).flatMap((key: unknown, index): Problem[] => {
    if (!isObject(key)) return [];
    const { value, credential } = key;
    const path = [...place, index];
    if ((value === undefined) === (credential === undefined)) {
      return [problem(path, "needs value or credential, one of both", "key")];
    }
    if (!isObject(credential)) return [];
    const own = [...path, "credential"];
    const problems = memberProblems(credential, own, outside.files);
    if (problems.length > 0) return problems;
    // Accounts with one identity would be one account: what it owns and its rest have no key.
    const identity = JSON.stringify(credentialIdentity(
      completeCredential(credential as NonNullable<WrittenProvider["credential"]>, outside),
    ));
    if (seen.has(identity)) return [problem(own, "is for the same account as an earlier key")];
    seen.add(identity);
    return [];
  });
}

function memberProblems(written: JsonObject, path: Path, files: Outside["files"]): Problem[] {
  const type = CREDENTIAL_TYPES.find((one) => one === written.type);
  if (type === undefined) return [];
  const ways = WAYS[type];
  const chosen = ways.filter(({ by }) =>
    "member" in by ? written[by.member] !== undefined : written.source === by.source
  );
  const [way, second] = chosen;
  if (way === undefined || second !== undefined) {
    const text = `needs ${way === undefined ? "" : "only "}one of ${
      ways.map(({ by }) => nameOf(by)).join(", ")
    } with type ${type}`;
    return [problem(path, text, "key")];
  }
  const { by, required, optional = [] } = way;
  const always = ALWAYS[type];
  const known = [
    "type",
    "member" in by ? by.member : "source",
    ...always,
    ...required,
    ...optional,
  ];
  const needed = type === "aws" ? [...always, ...required] : required;
  const foreign = Object.keys(written).filter((key) => !known.includes(key));
  return [
    ...needed.filter((key) => written[key] === undefined).map((key) =>
      problem([...path, key], `is required with type ${type} and ${nameOf(by)}`, "key")
    ),
    ...foreign.map((key) =>
      problem([...path, key], `has no meaning with type ${type} and ${nameOf(by)}`, "key")
    ),
    ...written.expires_field !== undefined && written.field === undefined
      ? [problem([...path, "expires_field"], "requires field", "key")]
      : [],
    ...typeof written.header === "string" && isOwnHeader(written.header)
      ? [problem([...path, "header"], OWN_HEADER)]
      : [],
    ...typeof written.key_file === "string" ? keyFileProblems(written.key_file, path, files) : [],
  ];
}

function nameOf(by: Way["by"]): string {
  return "member" in by ? by.member : `source: ${by.source}`;
}

function keyFileProblems(name: string, path: Path, files: Outside["files"]): Problem[] {
  const file = fileText(name, files);
  if (file === null) return [];
  const text = "trouble" in file
    ? file.trouble
    : parseServiceAccount(file.text) === null
    ? "names a file without a usable key of a service account"
    : null;
  return text === null ? [] : [problem([...path, "key_file"], text)];
}

/** The key of a Google service account. */
export interface ServiceAccount {
  readonly email: string;
  readonly keyId: string | null;
  /** Private key in PEM. */
  readonly privateKey: string;
}

/** Parses the key file of a service account; null if it is not usable. */
export function parseServiceAccount(text: string): ServiceAccount | null {
  const value = parseJson(text);
  if (!isObject(value) || value.type !== "service_account") return null;
  const { client_email: email, private_key: privateKey, private_key_id: keyId } = value;
  if (typeof email !== "string" || email === "" || typeof privateKey !== "string") return null;
  try {
    if (createPrivateKey(privateKey).asymmetricKeyType !== "rsa") return null;
  } catch {
    return null;
  }
  return { email, privateKey, keyId: typeof keyId === "string" ? keyId : null };
}

/** Returns a checked credential with absolute paths and the account of its key file. */
export function completeCredential(
  written: NonNullable<WrittenProvider["credential"]>,
  { files, directory }: Outside,
): CredentialConfig {
  const { path, token_file, key_file, ...rest } = written;
  return {
    ...rest,
    ...path !== undefined && { path: resolve(directory, path) },
    ...token_file !== undefined && { token_file: resolve(directory, token_file) },
    ...key_file !== undefined && {
      key_file: resolve(directory, key_file),
      account: accountIn(files?.get(key_file)),
    },
  };
}

function accountIn(file: FileText | undefined): string {
  return file?.ok === true ? parseServiceAccount(file.text)?.email ?? "" : "";
}

/** Returns the texts that identify who a credential is for, without a secret. */
export function credentialIdentity(
  { type, source, ...members }: CredentialConfig,
): readonly string[] {
  const { path, account, tenant, client_id, authority, access_key_id, role_arn } = members;
  const known = { source, path, account, tenant, client_id, authority, access_key_id, role_arn };
  return [
    type,
    ...Object.entries(known).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name} ${value}`]
    ),
  ];
}

/**
 * Returns a warning for each credential that signs for another service than its address. Takes the
 * value before defaults too, which says whether a credential is alone or in a pool.
 */
export function credentialWarnings(written: unknown, { providers }: Config): Problem[] {
  return Object.entries(providers).flatMap(([id, { type, base_url, api_keys }]) => {
    const signed = hostAt(type, base_url)?.host.signedAs;
    return api_keys.flatMap(({ credential }, index): Problem[] => {
      if (credential?.type !== "aws" || signed === undefined || signed === credential.service) {
        return [];
      }
      const place = hasPool(written, id) ? ["api_keys", index] : [];
      const text = `is not the service of this address, which is ${signed}`;
      return [problem(["providers", id, ...place, "credential", "service"], text)];
    });
  });
}

function hasPool(written: unknown, id: string): boolean {
  const provider = isObject(written) && isObject(written.providers) ? written.providers[id] : null;
  return isObject(provider) && provider.api_keys !== undefined;
}
