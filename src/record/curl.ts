import type { CallRecord } from "./record.ts";

/** Variable of the shell with the client key, which no record has. */
const KEY_VARIABLE = "SWITCHYARD_KEY";

/** Variable of the shell with the address of the gateway where that is not known. */
const URL_VARIABLE = "SWITCHYARD_URL";

/**
 * Returns the command for `sh` that sends the recorded request to a gateway again; null without a
 * recorded body. The body is a here document, so that its bytes need no quotes. `gatewayUrl` is
 * empty if it is not known.
 */
export function recordCurl({ head, request }: CallRecord, gatewayUrl: string): string | null {
  if (request === undefined || request.body === null) return null;
  const { headers, query, body } = request;
  const path = `${head.path}${query === "" ? "" : `?${query}`}`;
  const url = gatewayUrl === "" ? `"$${URL_VARIABLE}"${quoted(path)}` : quoted(gatewayUrl + path);
  const names = Object.entries(headers).filter(([name]) => name !== "content-type");
  const end = freeDelimiter(body);
  const bytes = new TextEncoder().encode(body).length;
  return [
    // Without the line end that a here document adds.
    `head -c ${bytes} <<'${end}' | curl -sS${head.stream ? "N" : ""} ${url} \\`,
    `  -H "Authorization: Bearer $${KEY_VARIABLE}" \\`,
    `  -H ${quoted(`Content-Type: ${headers["content-type"] ?? "application/json"}`)} \\`,
    ...names.map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)} \\`),
    "  --data-binary @-",
    body,
    end,
    "",
  ].join("\n");
}

/** Returns a delimiter that is no line of the text. */
function freeDelimiter(text: string): string {
  for (let number = 0;; number++) {
    const delimiter = number === 0 ? "JSON" : `JSON_${number}`;
    if (!`\n${text}\n`.includes(`\n${delimiter}\n`)) return delimiter;
  }
}

/** Returns a text as one word of `sh`. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
