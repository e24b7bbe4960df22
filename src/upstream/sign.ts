import { createHash, createHmac } from "node:crypto";
import type { AwsKeys } from "../core/credential.ts";

/** A request to sign, as it is sent. */
export interface SignedRequest {
  readonly method: string;
  readonly url: string;
  /** Media type of the body. */
  readonly contentType: string | null;
  /** SHA-256 of the body in hexadecimal digits. */
  readonly bodyDigest: string;
  /** Unix time in milliseconds. */
  readonly wallMs: number;
}

/** Where a signature is valid. */
export interface SignatureScope {
  readonly region: string;
  readonly service: string;
}

const ALGORITHM = "AWS4-HMAC-SHA256";

/**
 * Returns the headers that sign a request (AWS Signature Version 4). Signed are the host, the time,
 * the session token and the media type: a proxy may change any other header.
 */
export function signatureHeaders(
  keys: AwsKeys,
  { region, service }: SignatureScope,
  { method, url, contentType, bodyDigest, wallMs }: SignedRequest,
): Record<string, string> {
  const { host, pathname, search } = new URL(url);
  const time = new Date(wallMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const { sessionToken } = keys;
  const added = {
    "x-amz-date": time,
    ...sessionToken !== null && { "x-amz-security-token": sessionToken },
  };
  const signed = Object.entries({
    ...contentType !== null && { "content-type": contentType },
    host,
    ...added,
  });
  const names = signed.map(([name]) => name).join(";");
  const canonical = [
    method,
    canonicalPath(pathname),
    canonicalQuery(search),
    ...signed.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, " ")}`),
    "",
    names,
    bodyDigest,
  ].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = [ALGORITHM, time, scope, sha256(canonical)].join("\n");
  const key = [day, region, service, "aws4_request"].reduce<string | Uint8Array>(
    (previous, part) => createHmac("sha256", previous).update(part).digest(),
    `AWS4${keys.secretAccessKey}`,
  );
  const signature = createHmac("sha256", key).update(text).digest("hex");
  return {
    ...added,
    authorization:
      `${ALGORITHM} Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Returns a path as sent, without empty segments and encoded once more. */
function canonicalPath(path: string): string {
  return encode(path.replaceAll(/\/{2,}/g, "/")).replaceAll("%2F", "/");
}

/** Returns the pairs of a query, sorted by name and then by value. */
function canonicalQuery(search: string): string {
  const pairs = search.slice(1).split("&").filter((pair) => pair !== "").map((pair) => {
    const mark = pair.indexOf("=");
    return mark < 0 ? [pair, ""] as const : [pair.slice(0, mark), pair.slice(mark + 1)] as const;
  });
  return pairs
    .toSorted(([a, x], [b, y]) => a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/** Encodes all but the unreserved characters (RFC 3986, section 2.3). */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
