import type { Variables } from "./variables.ts";

/** An address of the source as the written file has it, or the reason why it cannot be used. */
export type Address =
  | {
    readonly ok: true;
    readonly url: string;
    /** Host name without port; null if a variable holds it. */
    readonly host: string | null;
    readonly note: string;
  }
  | { readonly ok: false; readonly note: string };

/** An address that a variable may hold while a file is checked. */
export const STAND_IN_URL = "http://127.0.0.1:9";

/** Parameters of a query that are no secrets. */
const PLAIN_PARAMETERS = ["api-version", "version"];

/**
 * Returns an address without the endings that `endings` matches, without user and password, and
 * with variables for the other values of its query, which may be secrets.
 */
export function readAddress(written: string, endings: RegExp, variables: Variables): Address {
  if (variables.reference(written) !== null) {
    return { ok: true, url: variables.text(written, STAND_IN_URL), host: null, note: "" };
  }
  if (/^\$\{/.test(written)) {
    const url = variables.text(written, STAND_IN_URL).replace(/\/+$/, "").replace(endings, "");
    return { ok: true, url, host: null, note: "" };
  }
  // A variable inside an address has no characters that a parser would change.
  const holes: string[] = [];
  const plain = written.replace(/\$\{[^}]*\}/g, (hole) => `hole-${holes.push(hole)}-hole`);
  const url = URL.parse(plain);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return { ok: false, note: "is no address that begins with http:// or https://" };
  }
  const notes: string[] = [];
  if (url.username !== "" || url.password !== "") {
    notes.push("the user and the password of the address are left out");
  }
  for (const [name, value] of [...url.searchParams]) {
    if (PLAIN_PARAMETERS.includes(name) || value.startsWith("hole-")) continue;
    url.searchParams.set(
      name,
      `hole-${holes.push(variables.secret(value, "IMPORTED_QUERY").text ?? "")}-hole`,
    );
    notes.push("values of its query are variables");
  }
  const path = url.pathname.replace(/\/+$/, "").replace(endings, "").replace(/\/+$/, "");
  const text = `${url.origin}${path}${url.search}`.replace(
    /hole-(\d+)-hole/g,
    (_all, number) => variables.text(holes[Number(number) - 1] ?? "", "host"),
  );
  return { ok: true, url: text, host: hostIn(url), note: notes.join("; ") };
}

function hostIn({ hostname }: URL): string | null {
  return /hole-\d+-hole/.test(hostname) ? null : hostname.replace(/^\[|\]$/g, "");
}

/** True for a host of this machine or of a private network. */
export function isPrivateHost(host: string): boolean {
  return /^(?:127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.0\.0\.0$)/.test(
    host,
  ) ||
    /^(?:::1$|f[cd][0-9a-f]{2}:|fe80:)/i.test(host) ||
    !host.includes(".") && !host.includes(":") ||
    /\.(?:local|internal|lan|home|localdomain)$/i.test(host);
}

/** Returns a word for a host: `example` for `models.example.com`; null for an IP address. */
export function hostWord(host: string): string | null {
  if (/^[\d.]+$/.test(host) || host.includes(":")) return null;
  const labels = host.split(".");
  const [first = ""] = labels;
  const word = labels.length < 3 || isPrivateHost(host) ? first : labels.at(-2) ?? first;
  return /^[A-Za-z0-9][A-Za-z0-9-]*$/.test(word) ? word.toLowerCase() : null;
}
