import { createPrivateKey, X509Certificate } from "node:crypto";
import { resolve } from "node:path";
import type { ProxyRule } from "../http_client/proxy_rule.ts";
import { isObject, type JsonObject } from "../core/json/json.ts";
import { isLoopbackName } from "../core/loopback.ts";
import { type FileText, readText } from "./files.ts";
import type { Path, Problem } from "./problems.ts";
import type { Config, ProviderTls, WrittenProvider } from "./schema.ts";

/** What the configuration depends on beside its text and variables. */
export interface Outside {
  /** The files that `providers.*.tls` names, by name as written. */
  readonly files: ReadonlyMap<string, FileText>;
  /** The rule by which requests go through a proxy; null when there is no proxy. */
  readonly proxy: ProxyRule | null;
}

/** No files and no proxy. */
export const NOTHING_OUTSIDE: Outside = { files: new Map(), proxy: null };

const FILE_KEYS = ["ca_file", "cert_file", "key_file"] as const;

type FileKey = (typeof FILE_KEYS)[number];

/** Reads the files that the providers name for TLS, relative to a directory. */
export async function readTlsFiles(
  tree: unknown,
  directory: string,
): Promise<Outside["files"]> {
  const names = new Set(
    tlsIn(isObject(tree) ? tree.providers : null).flatMap(({ tls }) =>
      FILE_KEYS.flatMap((key) => nameOf(tls[key]) ?? [])
    ),
  );
  const files = new Map<string, FileText>();
  for (const name of names) files.set(name, await readText(resolve(directory, name)));
  return files;
}

/** What is wrong with the TLS settings of the providers, in the file as it is written. */
export function tlsProblems(providers: unknown, outside: Outside): Problem[] {
  return tlsIn(providers).flatMap(({ tls, path, baseUrl }) => {
    const texts = new Map<FileKey, string>();
    const problems = FILE_KEYS.flatMap((key) => {
      const found = contentOf(tls[key], key, outside.files);
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

function problem(path: Path, text: string): Problem {
  return { path, text, at: "value" };
}

/** Every mapping under `tls`, with its place. */
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

/** The text of a file, or what is wrong with it; null where no file is named. */
function contentOf(value: unknown, key: FileKey, files: Outside["files"]) {
  const name = nameOf(value);
  if (name === null) return null;
  const file = files.get(name);
  if (file === undefined) return { trouble: "names a file that was not read" };
  if (!file.ok) return { trouble: `names a file that ${file.trouble}` };
  if (isUsable(key, file.text)) return { text: file.text };
  const kind = key === "key_file" ? "private key that is not encrypted" : "certificate";
  return { trouble: `names a file without a usable ${kind} in PEM` };
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
    const [given, missing] = cert_file === undefined
      ? ["key_file", "cert_file"]
      : ["cert_file", "key_file"];
    return [{ path: [...path, given], text: `needs ${missing} beside it`, at: "key" }];
  }
  const cert = texts.get("cert_file");
  const key = texts.get("key_file");
  if (cert === undefined || key === undefined || isKeyOf(cert, key)) return [];
  return [problem([...path, "key_file"], "names a key that is not that of the certificate")];
}

function isKeyOf(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** Through a proxy the runtime connects, which knows no other server name than the address. */
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
    "add the host to NO_PROXY, or take it out";
  return [problem([...path, "server_name"], text)];
}

/** The TLS settings of a provider whose files have been checked. */
export function completeTls(
  written: NonNullable<WrittenProvider["tls"]>,
  { files }: Outside,
): ProviderTls {
  const textOf = (name: string | undefined) => {
    const file = name === undefined ? undefined : files.get(name);
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
const CREDENTIAL_HEADERS = ["authorization", "x-api-key", "api-key", "cookie"];

/** What is allowed between the address, the key and the TLS settings of a provider, and likely not meant. */
export function tlsWarnings({ providers }: Config): Problem[] {
  return Object.entries(providers).flatMap(([id, { base_url, api_key, headers, tls }]) => {
    const url = URL.parse(base_url);
    if (url?.protocol !== "http:") return [];
    const path = ["providers", id];
    const found: Problem[] = [];
    if (tls !== undefined) {
      const text = "has no effect on a base_url that begins with http://";
      found.push({ path: [...path, "tls"], text, at: "key" });
    }
    const hasKey = api_key !== undefined || url.password !== "" ||
      CREDENTIAL_HEADERS.some((name) => headers[name] !== undefined);
    if (hasKey && !isLoopbackName(url.hostname)) {
      const text = "is not encrypted on its way to another machine: the provider's key and every " +
        "request can be read; use https";
      found.push(problem([...path, "base_url"], text));
    }
    return found;
  });
}
