import { type Failure, isRefusal } from "../core/failure.ts";
import { parseJson } from "../core/json/json.ts";
import { endOfString } from "../core/json/scan.ts";

/** Returns a failure whose upstream error, which a wire has read from an answer, holds none of the secrets. */
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

/** A text without the secrets, also where JSON writes them with whatever escapes. */
export function redacted(text: string, secrets: readonly string[]): string {
  const plain = withoutPlain(text, secrets);
  return secrets.length > 0 && plain.includes("\\") ? withoutEscaped(plain, secrets) : plain;
}

function withoutPlain(text: string, secrets: readonly string[]): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, "[redacted]"), text);
}

/** Strings of a JSON text that say a secret once they are read are written anew; the rest stays. */
function withoutEscaped(text: string, secrets: readonly string[]): string {
  let clean = "";
  let at = 0;
  for (let start = text.indexOf('"'); start >= 0; start = text.indexOf('"', at)) {
    const end = endOfString(text, start);
    const written = text.slice(start, end);
    const value = written.includes("\\") ? parseJson(written) : null;
    const said = typeof value === "string" ? withoutPlain(value, secrets) : value;
    clean += text.slice(at, start) + (said === value ? written : JSON.stringify(said));
    at = end;
  }
  return clean + text.slice(at);
}
