import { type Failure, isRefusal } from "../core/failure.ts";
import { parseJson } from "../core/json/json.ts";
import { endOfString } from "../core/json/scan.ts";

/** Returns a failure with the secrets removed from its upstream error, which a wire read from a response. */
export function redactedFailure(failure: Failure, secrets: readonly string[]): Failure {
  if (isRefusal(failure) || failure.upstream === null) return failure;
  const { error } = failure.upstream;
  const clean = Object.fromEntries(
    Object.entries(error).map(([name, value]) =>
      [name, typeof value === "string" ? redacted(value, secrets) : value] as const
    ),
  );
  return { ...failure, upstream: { ...failure.upstream, error: clean } };
}

/** Returns a text without the secrets, also where a JSON string holds them with escapes. */
export function redacted(text: string, secrets: readonly string[]): string {
  const plain = withoutPlain(text, secrets);
  return secrets.length > 0 && plain.includes("\\") ? withoutEscaped(plain, secrets) : plain;
}

function withoutPlain(text: string, secrets: readonly string[]): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, "[redacted]"), text);
}

/** Rewrites the JSON strings of a text whose unescaped value holds a secret; the other text is unchanged. */
function withoutEscaped(text: string, secrets: readonly string[]): string {
  let clean = "";
  let at = 0;
  for (let start = text.indexOf('"'); start >= 0; start = text.indexOf('"', at)) {
    const end = endOfString(text, start);
    const written = text.slice(start, end);
    const value = written.includes("\\") ? parseJson(written) : null;
    const safe = typeof value === "string" ? withoutPlain(value, secrets) : value;
    clean += text.slice(at, start) + (safe === value ? written : JSON.stringify(safe));
    at = end;
  }
  return clean + text.slice(at);
}
