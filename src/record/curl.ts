import { keyField } from "../access/presented_key.ts";
import type { CallRecord } from "./record.ts";

/** Variable of the shell with the client key, which no record has. */
const KEY_VARIABLE = "SWITCHYARD_KEY";

/** Variable of the shell with the address of the gateway where that is not known. */
const URL_VARIABLE = "SWITCHYARD_URL";

/**
 * Characters that a terminal would act on where the command is printed or pasted, and those that
 * the admin page writes as their codes, which would change the length of the body.
 */
const HIDDEN =
  /[[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]--[\t\n\u200c\u200d\ufe0e\ufe0f]]/v;

/** Where the command sends the request. */
export interface CurlPlace {
  /** Address of the gateway; empty if it is not known. */
  readonly gatewayUrl: string;
  /** Where the gateway takes client keys from. */
  readonly keyPlace: { readonly header: string; readonly prefix: string };
}

/**
 * Returns the command for `sh` that sends the recorded request to a gateway again; null if its body
 * is not recorded whole. The body is a here document, so that its bytes need no quotes; base64 if
 * it has hidden characters. Headers with such ones are left out.
 */
export function recordCurl(
  { head, request }: CallRecord,
  { gatewayUrl, keyPlace }: CurlPlace,
): string | null {
  if (request === undefined || request.body === null || head.cut.includes("request")) return null;
  const { headers, query, body } = request;
  const path = `${head.path}${query === "" ? "" : `?${query}`}`;
  const url = gatewayUrl === "" ? `"$${URL_VARIABLE}"${quoted(path)}` : quoted(gatewayUrl + path);
  const { "content-type": type = "application/json", ...others } = headers;
  const sent = Object.entries({ "Content-Type": type, ...others })
    .filter(([, value]) => !HIDDEN.test(value));
  const bytes = new TextEncoder().encode(body);
  const isPlain = !HIDDEN.test(body);
  const text = isPlain ? body : bytes.toBase64();
  const end = freeDelimiter(text);
  const reader = isPlain ? `head -c ${bytes.length}` : "base64 -d";
  return [
    // Without the line end that a here document adds; brackets of an address are no range.
    `${reader} <<'${end}' | curl -gsS${head.stream ? "N" : ""} ${url} \\`,
    `  -H "${keyField(keyPlace, `$${KEY_VARIABLE}`)}" \\`,
    // A header without a value is written so, or curl leaves it out.
    ...sent.map(([name, value]) =>
      `  -H ${quoted(value === "" ? `${name};` : `${name}: ${value}`)} \\`
    ),
    "  --data-binary @-",
    text,
    end,
    "",
  ].join("\n");
}

/** Returns a delimiter that is no line of the text. */
function freeDelimiter(text: string): string {
  const taken = new Set(text.match(/^JSON(?:_\d+)?$/gm));
  for (let number = 0;; number++) {
    const delimiter = number === 0 ? "JSON" : `JSON_${number}`;
    if (!taken.has(delimiter)) return delimiter;
  }
}

/** Returns a text as one word of a shell, whatever is in it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
