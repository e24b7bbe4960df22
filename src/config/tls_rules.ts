import { createPrivateKey, X509Certificate } from "node:crypto";
import { resolve } from "node:path";
import type { ProxyRule } from "../http_client/proxy_rule.ts";
import { isObject, type JsonObject } from "../core/json/json.ts";
import { type FileText, readRegularFile } from "./files.ts";
import { type Path, type Problem, problem } from "./problems.ts";
import type { Config, ProviderTls, WrittenProvider } from "./schema.ts";
import { isOpenAddress } from "../core/authority.ts";

/** Inputs of the configuration besides its text and variables. */
export interface Outside {
  /**
   * Contents of the files in `providers.*.tls`, `state.valkey` and `key_file`, by written name;
   * null if they are elsewhere, so that nothing of them is checked.
   */
  readonly files: ReadonlyMap<string, FileText> | null;
  /** True for each destination that is reached through a proxy; null if no proxy is set. */
  readonly proxy: ProxyRule | null;
  /** Directory of the configuration file: configured paths begin there. */
  readonly directory: string;
  /** Current Unix time in milliseconds, for warnings only. */
  readonly wallMs: number;
}

/**
 * Inputs without TLS files, without a proxy, in the working directory, and at a time at which
 * nothing has expired.
 */
export const NOTHING_OUTSIDE: Outside = {
  files: new Map(),
  proxy: null,
  directory: ".",
  wallMs: 0,
};

/**
 * Returns the text of a file that a setting names, or the problem text of the setting; null if it
 * is not checked.
 */
export function fileText(
  name: string,
  files: Outside["files"],
): { readonly text: string } | { readonly trouble: string } | null {
  if (files === null) return null;
  const file = files.get(name);
  if (file === undefined) return { trouble: "names a file that was not read" };
  return file.ok ? { text: file.text } : { trouble: `names a file that ${file.trouble}` };
}

const FILE_KEYS = ["ca_file", "cert_file", "key_file"] as const;

type FileKey = (typeof FILE_KEYS)[number];

/**
 * Reads the TLS files of all providers and of the state store, and the key files of credentials,
 * relative to a directory.
 */
export async function readTlsFiles(
  tree: unknown,
  directory: string,
): Promise<NonNullable<Outside["files"]>> {
  const { providers, state } = isObject(tree) ? tree : {};
  const valkey = isObject(state) && isObject(state.valkey) ? [state.valkey] : [];
  const credentials = Object.values(isObject(providers) ? providers : {}).filter(isObject)
    .flatMap((one) => [one, ...Array.isArray(one.api_keys) ? one.api_keys.filter(isObject) : []])
    .flatMap(({ credential }) => isObject(credential) ? [credential] : []);
  const sections = [...tlsIn(providers).map(({ tls }) => tls), ...valkey, ...credentials];
  const names = new Set(
    sections.flatMap((section) => FILE_KEYS.flatMap((key) => nameOf(section[key]) ?? [])),
  );
  const files = new Map<string, FileText>();
  for (const name of names) files.set(name, await readRegularFile(resolve(directory, name)));
  return files;
}

/** Returns the problems of the TLS settings of the providers. Takes the value before defaults. */
export function tlsProblems(providers: unknown, outside: Outside): Problem[] {
  return tlsIn(providers).flatMap(({ tls, path, baseUrl }) => {
    const texts = new Map<FileKey, string>();
    const problems = FILE_KEYS.flatMap((key) => {
      const found = checkFile(tls[key], key, outside.files);
      if (found === null) return [];
      if ("trouble" in found) return [problem([...path, key], found.trouble)];
      texts.set(key, found.text);
      return [];
    });
    return [
      ...problems,
      ...identityProblems(tls, texts, path),
      ...proxyProblems(tls, baseUrl, path, outside),
    ];
  });
}

/** Returns each `tls` mapping of the providers, with its path. */
function tlsIn(providers: unknown) {
  if (!isObject(providers)) return [];
  return Object.entries(providers).flatMap(([id, written]) => {
    if (!isObject(written) || !isObject(written.tls)) return [];
    const { tls, base_url: baseUrl } = written;
    return [{ tls, baseUrl, path: ["providers", id, "tls"] }];
  });
}

function nameOf(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

/** Returns the text of a TLS file, or its problem; null if none is configured or checked. */
function checkFile(value: unknown, key: FileKey, files: Outside["files"]) {
  const name = nameOf(value);
  if (name === null) return null;
  const file = fileText(name, files);
  if (file === null || "trouble" in file || isUsable(key, file.text)) return file;
  const kind = key === "key_file" ? "private key that is not encrypted" : "certificate";
  return { trouble: `names a file without a usable ${kind} in PEM` };
}

/** Returns the problem of a file with CA certificates; null if it is usable or not configured. */
export function caFileProblem(name: unknown, files: Outside["files"]): string | null {
  const found = checkFile(name, "ca_file", files);
  return found !== null && "trouble" in found ? found.trouble ?? null : null;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

function isUsable(key: FileKey, text: string): boolean {
  try {
    if (key === "key_file") {
      createPrivateKey(text);
      return true;
    }
    const certificates = text.match(CERTIFICATE) ?? [];
    for (const certificate of certificates) new X509Certificate(certificate);
    return certificates.length > 0;
  } catch {
    return false;
  }
}

function identityProblems(
  tls: JsonObject,
  texts: ReadonlyMap<FileKey, string>,
  path: Path,
): Problem[] {
  const { cert_file, key_file } = tls;
  if ((cert_file === undefined) !== (key_file === undefined)) {
    const [present, missing] = cert_file === undefined
      ? ["key_file", "cert_file"]
      : ["cert_file", "key_file"];
    return [problem([...path, present], `requires ${missing}`, "key")];
  }
  const cert = texts.get("cert_file");
  const key = texts.get("key_file");
  if (cert === undefined || key === undefined || isKeyOf(cert, key)) return [];
  return [problem([...path, "key_file"], "names a key that does not belong to the certificate")];
}

function isKeyOf(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/**
 * Connections through a proxy are opened by the runtime, which verifies only the host of the URL.
 */
function proxyProblems(
  { server_name }: JsonObject,
  baseUrl: unknown,
  path: Path,
  { proxy }: Outside,
): Problem[] {
  const url = typeof baseUrl === "string" ? URL.parse(baseUrl) : null;
  if (proxy === null || url?.protocol !== "https:" || nameOf(server_name) === null) return [];
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? 443 : Number(url.port);
  if (!proxy({ hostname, port, isSecure: true })) return [];
  const text = "cannot be used through the proxy of HTTPS_PROXY or ALL_PROXY; " +
    "add the host to NO_PROXY, or remove server_name";
  return [problem([...path, "server_name"], text)];
}

/** Returns the TLS settings of a provider with the contents of its checked files. */
export function completeTls(
  written: NonNullable<WrittenProvider["tls"]>,
  { files }: Outside,
): ProviderTls {
  const textOf = (name: string | undefined) => {
    const file = name === undefined ? undefined : files?.get(name);
    return file?.ok === true ? file.text : null;
  };
  const cert = textOf(written.cert_file);
  const key = textOf(written.key_file);
  return {
    ca: textOf(written.ca_file),
    identity: cert === null || key === null ? null : { cert, key },
    serverName: written.server_name ?? null,
  };
}

/** Headers that authenticate the gateway to a provider. */
export const CREDENTIAL_HEADERS = ["authorization", "x-api-key", "api-key", "cookie"];

/**
 * Returns a warning for each provider whose address makes TLS settings useless or exposes
 * credentials.
 */
export function tlsWarnings({ providers }: Config): Problem[] {
  return Object.entries(providers).flatMap(([id, provider]) => {
    const { base_url, api_keys, headers, tls } = provider;
    const url = URL.parse(base_url);
    if (url?.protocol !== "http:") return [];
    const path = ["providers", id];
    const found: Problem[] = [];
    if (tls !== undefined) {
      const text = "has no effect on a base_url that begins with http://";
      found.push(problem([...path, "tls"], text, "key"));
    }
    const hasKey = api_keys.length > 0 || url.password !== "" ||
      CREDENTIAL_HEADERS.some((name) => headers[name] !== undefined);
    if (hasKey && isOpenAddress(url)) {
      const text =
        "is not encrypted, and the host is another machine: the provider's key and every " +
        "request can be read; use https";
      found.push(problem([...path, "base_url"], text));
    }
    return found;
  });
}
