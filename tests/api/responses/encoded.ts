import {
  type EncoderLabels,
  newResponseEncoder,
} from "../../../src/api/responses/generate/encoder.ts";
import { newNumbering } from "../../../src/api/responses/generate/numbering.ts";
import { parseResponsesRequest } from "../../../src/api/responses/request.ts";
import type { FinishReason, StreamEvent, Usage } from "../../../src/core/stream/events.ts";
import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import type { StreamRecord } from "../../../src/core/stream/reply.ts";
import { newDocument } from "../../../src/formats/document.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { assertValid } from "../../support/schemas.ts";
import { translate } from "./translated.ts";

const FILE = new URL("../../golden/openai-schemas.json", import.meta.url);
const BUNDLE = parseJson(Deno.readTextFileSync(FILE));
const DEFINITIONS = isObject(BUNDLE) && isObject(BUNDLE["x-stream-events"])
  ? BUNDLE["x-stream-events"]
  : {};

/** Every count is another one. */
export const USAGE: Usage = {
  input: 3,
  output: 40,
  total: 43,
  cached: 1,
  cacheWrite: 2,
  reasoning: 4,
};

/** Labels of a response to this body, with consecutive IDs and a stopped clock. */
export function labelsOf(body: JsonObject = {}): EncoderLabels {
  const request = parseResponsesRequest(newDocument({ input: "hi", ...body }));
  assert(request.ok);
  const chat = translate({ input: "hi", ...body });
  let ids = 0;
  return {
    id: "resp_1",
    created: 7,
    model: "asked",
    request: request.value,
    isSigned: false,
    namespaced: chat.ok ? chat.value.namespaced : new Map(),
    storesReasoning: false,
    numbering: newNumbering(),
    signer: null,
    newId: (prefix) => `${prefix}${++ids}`,
    unix: () => 9,
  };
}

/** The event that ends what a model says. */
export function finish(reason: FinishReason = "stop"): StreamEvent {
  return { type: "finish", reason };
}

/** An announced call and its arguments. */
export function call(index: number, name: string, text: string | null): readonly StreamEvent[] {
  const begun: StreamEvent = { type: "tool_call", index, id: `call_${index}`, name };
  return text === null ? [begun] : [begun, { type: "tool_arguments", index, delta: text }];
}

/** The data of each record as it is sent, checked against the published shape of its type. */
export function readEvents(records: readonly StreamRecord[]): JsonObject[] {
  return newNumbering().number(records).map(({ event, data }) => {
    const value = parseJson(data);
    assert(isObject(value));
    assertEquals<unknown>(event, value.type);
    const definition = DEFINITIONS[event ?? ""];
    assert(typeof definition === "string", `There is no event ${event}.`);
    assertValid(definition, value);
    return value;
  });
}

/** Everything that the events and the end give, checked for shape and numbering. */
export function encoded(events: readonly StreamEvent[], body: JsonObject = {}): JsonObject[] {
  const encoder = newResponseEncoder(labelsOf(body));
  const steps = [...events.map(encoder.push), encoder.end()];
  const records = steps.flatMap((step) => {
    assert(step.ok);
    return [...step.value];
  });
  assertEquals(encoder.done(), true);
  const read = readEvents(records);
  assertEquals<unknown>(read.map((event) => event.sequence_number), [...records.keys()]);
  assertEquals<unknown>(read.at(-1)?.response, parseJson(JSON.stringify(encoder.resource())));
  return read;
}

/** An event as a line: its name and whatever differs from one event to the next. */
export function line({ type, sequence_number: _, response, ...members }: JsonObject): string {
  const shown = isObject(response)
    ? {
      status: response.status,
      reason: isObject(response.incomplete_details)
        ? response.incomplete_details.reason
        : undefined,
      error: response.error ?? undefined,
      output: Array.isArray(response.output) ? response.output.map(brief) : undefined,
    }
    : members;
  return `${String(type).replace("response.", "")} ${JSON.stringify(shown)}`;
}

/** An item of a resource in a few words. */
function brief(item: unknown): string {
  return isObject(item) ? `${item.id} ${item.status}` : "";
}
