import type { Failure } from "../core/failure.ts";
import { isRefusal } from "../core/failure.ts";
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

/** A text without the secrets, also where JSON writes them with escapes. */
export function redacted(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) {
    clean = clean.replaceAll(secret, "[redacted]");
    clean = clean.replaceAll(JSON.stringify(secret).slice(1, -1), "[redacted]");
  }
  return clean;
}
