import type { Failure } from "../core/failure.ts";
import { isRefusal } from "../core/failure.ts";
import { parseJson } from "../core/json.ts";
import { endOfString } from "../core/scan.ts";
import { utf8Bytes, utf8Text } from "../formats/utf8.ts";

/** A failure whose own answer from the upstream holds none of the secrets. */
export function redactedFailure(failure: Failure, secrets: readonly string[]): Failure {
  if (isRefusal(failure) || failure.answer === null) return failure;
  const text = utf8Text(failure.answer.body);
  if (text === null) return failure;
  const clean = redacted(text, secrets);
  return clean === text
    ? failure
    : { ...failure, answer: { ...failure.answer, body: utf8Bytes(clean) } };
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
