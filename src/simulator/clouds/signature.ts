import { createHash, createHmac } from "node:crypto";

/** The keys of an AWS account, as the simulated cloud knows them. */
export interface CloudKeys {
  readonly secret: string;
  /** Token that requests with temporary keys carry; null for keys of a user. */
  readonly session: string | null;
  /** End of temporary keys, in seconds since 1970. */
  readonly endsS: number;
}

/** A request whose signature is checked. */
export interface SignedCall {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Expected scope of a signature, and the time of its check. */
export interface SignatureRules {
  readonly region: string;
  readonly service: string;
  readonly nowS: number;
  /** Returns the keys with this ID; undefined if there are none. */
  keys(id: string): CloudKeys | undefined;
}

/** Seconds by which the time of a signature may differ from the clock of the cloud. */
const MAX_SKEW_S = 300;

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/([^,\s]+), ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;

/** The account of a signed request, or why it is refused. */
export type SignatureCheck = { readonly id: string } | { readonly problem: string };

/**
 * Checks a signature of AWS (Signature Version 4) by its documentation. It is written apart from
 * the code that signs, so that a misreading is not made twice.
 */
export function checkSignature(
  { method, url, headers, body }: SignedCall,
  { region, service, nowS, keys }: SignatureRules,
): SignatureCheck {
  const parts = AUTHORIZATION.exec(headers.get("authorization") ?? "");
  if (parts === null) return { problem: "The request has no signature." };
  const [, id = "", scope = "", list = "", signature = ""] = parts;
  const time = headers.get("x-amz-date") ?? "";
  if (Math.abs(secondsOf(time) - nowS) <= MAX_SKEW_S === false) {
    return { problem: "The time of the signature differs from the time of the service." };
  }
  if (scope !== `${time.slice(0, 8)}/${region}/${service}/aws4_request`) {
    return { problem: `The signature must be for the service ${service} in ${region}.` };
  }
  const known = keys(id);
  if (known === undefined) return { problem: "The access key ID is not known." };
  if (known.endsS <= nowS) return { problem: "The temporary keys have ended." };
  if ((headers.get("x-amz-security-token") ?? null) !== known.session) {
    return { problem: "The session token is not that of the keys." };
  }
  const names = list.split(";");
  const unsigned = [
    "host",
    ...[...headers.keys()].filter((name) => /^(x-amz-|content-type$)/.test(name)),
  ]
    .find((name) => !names.includes(name));
  if (unsigned !== undefined) return { problem: `The header ${unsigned} is not signed.` };
  const request = [
    method,
    url.pathname.replaceAll(/\/+/g, "/").split("/").map(encodeSegment).join("/"),
    queryOf(url),
    ...names.map((name) => `${name}:${headerOf(name, url, headers)}`),
    "",
    list,
    digest(body),
  ].join("\n");
  const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${digest(request)}`;
  let key: Uint8Array = new TextEncoder().encode(`AWS4${known.secret}`);
  for (const part of scope.split("/")) key = createHmac("sha256", key).update(part).digest();
  return createHmac("sha256", key).update(text).digest("hex") === signature
    ? { id }
    : { problem: "The signature is not that of the request." };
}

/** Returns the seconds since 1970 of a time such as `20270929T205005Z`; NaN for another text. */
function secondsOf(time: string): number {
  const iso = time.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, "$1-$2-$3:$4:$5");
  return iso === time ? NaN : Date.parse(iso) / 1_000;
}

function encodeSegment(segment: string): string {
  return [...new TextEncoder().encode(segment)].map((byte) => {
    const char = String.fromCharCode(byte);
    return /[A-Za-z0-9._~-]/.test(char)
      ? char
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}

/** Returns the members of a query as sent, in the order of their names and values. */
function queryOf({ search }: URL): string {
  const members = search.replace(/^\?/, "").split("&").filter((member) => member !== "");
  const split = members.map((member) => {
    const [name = "", ...value] = member.split("=");
    return { name, value: value.join("=") };
  });
  const order = (a: string, b: string) => a === b ? 0 : a < b ? -1 : 1;
  return split.sort((a, b) => order(a.name, b.name) || order(a.value, b.value))
    .map(({ name, value }) => `${name}=${value}`).join("&");
}

function headerOf(name: string, url: URL, headers: Headers): string {
  const value = name === "host" ? url.host : headers.get(name) ?? "";
  return value.trim().replaceAll(/\s+/g, " ");
}

function digest(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
