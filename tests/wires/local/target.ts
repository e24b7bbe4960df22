import type { ProviderConfig } from "../../../src/config/schema.ts";
import { providerSchema } from "../../../src/config/provider_schema.ts";
import type { FaultKind, RefusalKind } from "../../../src/core/failure.ts";
import type { JsonValue } from "../../../src/core/json.ts";
import { parseJson } from "../../../src/core/json.ts";
import type { Result } from "../../../src/core/result.ts";
import { readDocument } from "../../../src/formats/document.ts";
import { local } from "../../../src/wires/local/local.ts";
import type { Mint, Provider, Target } from "../../../src/wires/wire.ts";
import { assert, assertEquals } from "../../support/assert.ts";

/** A provider of type local whose settings are written as in a configuration file. */
export function localProvider(written: Record<string, unknown> = {}): Provider {
  const settings: ProviderConfig = {
    ...providerSchema.parse(written),
    type: "local",
    base_url: "http://localhost:11434",
    normalize_developer_role: false,
  };
  return {
    id: "runtime",
    wire: local,
    settings,
    base: "http://localhost:11434",
    account: "account",
    namespace: "namespace",
    secrets: [],
  };
}

/** The model "m" of such a provider. */
export function localTarget(written: Record<string, unknown> = {}): Target {
  return { provider: localProvider(written), model: "m" };
}

/** Ids that count up, and a clock that stands at 1,700,000,000. */
export function countingMint(): Mint {
  let count = 0;
  return {
    uuid: () => `00000000-0000-4000-8000-${String(++count).padStart(12, "0")}`,
    unix: () => 1_700_000_000,
  };
}

/** The value of a step that must have gone well. */
export function valueOf<T>(result: Result<T>): T {
  assert(result.ok, result.ok ? "" : JSON.stringify(result.failure));
  return result.value;
}

/** Asserts kind and path of a step that must have failed; `param` null is no path. */
export function assertFailed(
  result: Result<unknown>,
  kind: RefusalKind | FaultKind,
  param: string | null = null,
): void {
  assert(!result.ok, "went well");
  const { failure } = result;
  const found = { kind: failure.kind, param: "param" in failure ? failure.param : null };
  assertEquals<unknown>(found, { kind, param });
}

/** What encoding a request text gives, as the text of the body. */
export function encodeText(
  text: string,
  written: Record<string, unknown> = {},
): Result<string> {
  const document = valueOf(readDocument(text));
  const chat = { document, stream: document.value.stream === true, includeUsage: false };
  const request = local.encode(chat, localTarget(written));
  return request.ok ? { ok: true, value: request.value.body ?? "" } : request;
}

/** The same for fields beside a message "Hi". */
export function encodeFields(
  fields: Record<string, unknown>,
  written: Record<string, unknown> = {},
): Result<string> {
  const request = { model: "p/m", messages: [{ role: "user", content: "Hi" }], ...fields };
  return encodeText(JSON.stringify(request), written);
}

/** The body that the runtime gets, as a value. */
export function bodyOf(result: Result<string>): JsonValue | undefined {
  return parseJson(valueOf(result));
}
