import type { JsonValue } from "../../../src/core/json/json.ts";
import { parseJson } from "../../../src/core/json/json.ts";
import type { Result } from "../../../src/core/failure/result.ts";
import { local } from "../../../src/wires/local/local.ts";
import type { IdSource, Provider, Sender, Target } from "../../../src/wires/wire.ts";
import {
  encodeAs,
  providerOf,
  senderOf,
  targetAt,
  valueOf,
  type Written,
} from "../../support/translated.ts";

/** Returns a provider of type local with settings in the form of a configuration file. */
export function localProvider(written: Written = {}): Provider {
  return providerOf(local, written);
}

/** Returns the account of a local provider. */
export function localSender(written: Written = {}): Sender {
  return senderOf(localProvider(written));
}

/** Returns the target for model "m" of a local provider. */
export function localTarget(written: Written = {}): Target {
  return targetAt(localProvider(written));
}

/** Returns sequential IDs and a fixed clock at 1,700,000,000. */
export function countingMint(): IdSource {
  let count = 0;
  return {
    uuid: () => `00000000-0000-4000-8000-${String(++count).padStart(12, "0")}`,
    unix: () => 1_700_000_000,
  };
}

/** Returns the upstream request body as text for a client request text. */
export function encodeText(text: string, written: Written = {}): Result<string> {
  return encodeAs("POST /api/chat", text, localProvider(written));
}

/** Returns the upstream request body as text for fields next to a message "Hi". */
export function encodeFields(fields: Written, written: Written = {}): Result<string> {
  const request = { model: "p/m", messages: [{ role: "user", content: "Hi" }], ...fields };
  return encodeText(JSON.stringify(request), written);
}

/** Returns the upstream request body as a JSON value. */
export function bodyOf(result: Result<string>): JsonValue | undefined {
  return parseJson(valueOf(result));
}
