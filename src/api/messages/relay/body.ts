import { isObject, type JsonDocument, type JsonObject } from "../../../core/json/json.ts";
import { changeMembers, type Edit, type Entry, splice } from "../../../formats/edit.ts";
import { samplingDefaults } from "../../../wires/sampling.ts";
import { newPayload, type Payload } from "../../../wires/payload.ts";
import { effortEdits } from "./lowered_effort.ts";
import { cutEdits, type SealedBlocks, thinkingOff } from "./sealed_blocks.ts";

/** First version of the API without sampling fields (Messages API, versions). */
const FIRST_WITHOUT_SAMPLING = "2026-10-21";

const DATE = /^\d{4}-\d{2}-\d{2}/;

/** Values of `thinking.type` with which the API refuses sampling fields. */
const THINKS: readonly unknown[] = ["enabled", "adaptive"];

/**
 * Returns the client's own text for a target with the same API. Only the model, added members and
 * sealed thinking blocks are edited, and `thinking` and the effort if they are cut in the running
 * tool loop: a changed byte in a signed block makes the upstream refuse it.
 */
export function relayedBody(
  document: JsonDocument,
  model: string,
  added: readonly Entry[],
  sealed: readonly SealedBlocks[],
  isThinkingOff = false,
): Payload {
  const { text, value, members } = document;
  let known: readonly Edit[] | null = null;

  // The edits are made when the request is sent: most prepared targets are never called.
  function edits(): readonly Edit[] {
    if (known !== null) return known;
    const off = thinkingOff(value, sealed, isThinkingOff);
    return known = [
      ...changeMembers(text.indexOf("{"), members, [
        ...value.model === model ? [] : [["model", JSON.stringify(model)] as const],
        ...added,
        ...off,
      ]),
      ...off.length === 0 ? [] : effortEdits(document),
      ...cutEdits(document, sealed),
    ];
  }

  return newPayload(
    () => splice(text, edits()),
    () => edits().length === 0 ? document.bytes ?? null : null,
  );
}

/**
 * Returns the sampling defaults of a provider for a request in this version of the API. None where
 * the API would refuse them: in newer versions, and with thinking.
 */
export function relayedDefaults(
  value: JsonObject,
  version: string,
  settings: Parameters<typeof samplingDefaults>[1],
): readonly Entry[] {
  return takesSampling(value, version) ? samplingDefaults(value, settings) : [];
}

/** True if the API takes sampling fields with a request in this version: without thinking. */
export function takesSampling({ thinking }: JsonObject, version: string): boolean {
  const thinks = isObject(thinking) && THINKS.includes(thinking.type);
  // The order of dates is that of their text. Any other text has the behaviour of the first
  // version.
  const isNew = DATE.test(version) && version >= FIRST_WITHOUT_SAMPLING;
  return !thinks && !isNew;
}
