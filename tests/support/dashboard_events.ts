import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "./assert.ts";
import { assertValid } from "./schemas.ts";

/** A Responses stream as a client read it, checked: whole records, and one terminal at the end. */
export interface SharedEvents {
  readonly ending: "complete" | "broken";
  /** The events before the terminal, without what differs from call to call. */
  readonly events: readonly string[];
  /** The resource of the terminal. */
  readonly resource: JsonObject;
}

const TERMINALS = ["response.completed", "response.incomplete", "response.failed"];
const FILE = new URL("../golden/openai-schemas.json", import.meta.url);
const BUNDLE = parseJson(Deno.readTextFileSync(FILE));
const DEFINITIONS = isObject(BUNDLE) && isObject(BUNDLE["x-stream-events"])
  ? BUNDLE["x-stream-events"]
  : {};

/** Reads what a client received; fails unless it keeps every promise about a Responses stream. */
export function readSharedEvents(text: string): SharedEvents {
  assert(text.endsWith("\n\n"), `ends inside a record: ${text.slice(-300)}`);
  const events = text.split("\n\n").slice(0, -1).map(eventOf);
  assertEquals<unknown>(events.map((event) => event.sequence_number), [...events.keys()]);
  assertEquals<unknown>(events[0]?.type, "response.created");
  assertEquals<unknown>(events[1]?.type, "response.in_progress");
  const terminals = events.filter(({ type }) => TERMINALS.some((terminal) => terminal === type));
  assertEquals(terminals, events.slice(-1), "one terminal, and it is the last");
  const [terminal] = terminals;
  assert(terminal !== undefined && isObject(terminal.response));
  assertShape(terminal);
  const before = events.slice(0, -1);
  checkOutput(before, terminal.response);
  return {
    ending: terminal.type === "response.failed" ? "broken" : "complete",
    events: before.filter(({ response }) => response === undefined).map(comparable),
    resource: terminal.response,
  };
}

function eventOf(record: string): JsonObject {
  const [, name = "", data = ""] = /^event: (\S+)\ndata: (.*)$/.exec(record) ?? [];
  const event = parseJson(data);
  assert(isObject(event), `not an event: ${record}`);
  assertEquals<unknown>(event.type, name);
  return event;
}

/** Fails unless an event has the published shape of its type. */
function assertShape(event: JsonObject): void {
  const definition = DEFINITIONS[String(event.type)];
  assert(typeof definition === "string", `There is no event ${event.type}.`);
  assertValid(definition, event);
}

/** Fails unless every event of a stream has the published shape of its type. */
export function assertShapes(text: string): void {
  text.split("\n\n").slice(0, -1).map(eventOf).forEach(assertShape);
}

function comparable(event: JsonObject): string {
  return JSON.stringify(event).replaceAll(/_[0-9a-f]{28,32}"/g, '_"');
}

/**
 * The terminal holds the items that were announced; those that were not finished are incomplete.
 */
function checkOutput(events: readonly JsonObject[], resource: JsonObject): void {
  const output = Array.isArray(resource.output) ? resource.output.filter(isObject) : [];
  const done = itemsOf(events, "response.output_item.done");
  assertEquals(output.slice(0, done.length), done);
  const added = itemsOf(events, "response.output_item.added");
  assertEquals(output.map(({ id, type }) => [id, type]), added.map(({ id, type }) => [id, type]));
  const rest = output.slice(done.length);
  assert(rest.every(({ status }) => status === "incomplete"), JSON.stringify(rest));
  if (resource.status !== "failed") return assertEquals(rest, []);
  const { code, message } = isObject(resource.error) ? resource.error : {};
  assertEquals([code, typeof message], ["server_error", "string"]);
}

function itemsOf(events: readonly JsonObject[], type: string): readonly JsonObject[] {
  return events.filter((event) => event.type === type).map(({ item }) => item).filter(isObject);
}
