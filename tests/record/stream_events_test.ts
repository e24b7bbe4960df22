import { isObject, type JsonObject, type JsonValue, parseJson } from "../../src/core/json/json.ts";
import { newRecordMask } from "../../src/record/record_mask.ts";
import { assert, assertEquals } from "../support/assert.ts";

const GOLDEN = new URL("../golden", import.meta.url).pathname;

/** An event of a stream, and where in it is a string. */
interface Member {
  /** Type of the event and the path of the member, such as `chunk choices[].delta.content`. */
  readonly name: string;
  readonly event: JsonObject;
  readonly path: readonly (string | number)[];
}

/** Returns the strings in a value, whose name is that of an event or of a member of one. */
function* stringsIn(
  value: JsonValue | undefined,
  name: string,
  path: readonly (string | number)[] = [],
): Generator<Omit<Member, "event">> {
  if (typeof value === "string") yield { name, path };
  else if (Array.isArray(value)) {
    for (const [at, one] of value.entries()) yield* stringsIn(one, `${name}[]`, [...path, at]);
  } else if (isObject(value)) {
    for (const [key, one] of Object.entries(value)) {
      const dot = path.length === 0 ? " " : ".";
      yield* stringsIn(one, `${name}${dot}${key}`, [...path, key]);
    }
  }
}

function membersOf(event: JsonObject): Member[] {
  const { type, choices, error } = event;
  const kind = typeof type === "string" ? type : choices ? "chunk" : error ? "error" : "other";
  return [...stringsIn(event, kind)].map((one) => ({ ...one, event }));
}

/** Returns values that a JSON Schema describes, which together have each of its members. */
function samplesOf(
  schema: JsonObject,
  defs: JsonObject,
  above: readonly JsonObject[] = [],
): JsonValue[] {
  const reference = schema.$ref;
  if (typeof reference === "string") {
    const found = defs[reference.slice("#/$defs/".length)];
    return isObject(found) && !above.includes(found)
      ? samplesOf(found, defs, [...above, found])
      : [];
  }
  const { anyOf, type, properties, items } = schema;
  const types = Array.isArray(type) ? type : [type];
  if (Array.isArray(anyOf)) {
    return anyOf.filter(isObject).flatMap((one) => samplesOf(one, defs, above));
  }
  if (schema.const !== undefined) return [schema.const];
  if (types.includes("string")) return [""];
  if (types.includes("integer") || types.includes("number")) return [0];
  if (isObject(items)) return samplesOf(items, defs, above).map((one) => [one]);
  if (!isObject(properties)) return [];
  const members = Object.entries(properties).flatMap(([name, one]) =>
    isObject(one) ? [[name, samplesOf(one, defs, above)] as const] : []
  );
  const count = Math.max(1, ...members.map(([, samples]) => samples.length));
  return Array.from({ length: count }, (_, at) =>
    Object.fromEntries(
      members.flatMap(([name, samples]) => {
        const one = samples[at] ?? samples[0];
        return one === undefined ? [] : [[name, one]];
      }),
    ));
}

/** Returns events of OpenAI's streams as their schemas describe them. */
function schemaEvents(): JsonObject[] {
  const bundle = parseJson(Deno.readTextFileSync(`${GOLDEN}/openai-schemas.json`));
  const { $defs: defs, "x-stream-events": types } = isObject(bundle) ? bundle : {};
  if (!isObject(defs) || !isObject(types)) throw new Error("no schemas of events");
  return [...Object.values(types), "CreateChatCompletionStreamResponse"].flatMap((name) =>
    samplesOf({ $ref: `#/$defs/${name}` }, defs).filter(isObject)
  );
}

/** Returns the events of all streams in the golden files. */
function goldenEvents(folder = GOLDEN): JsonObject[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    if (isDirectory) return goldenEvents(path);
    if (!name.endsWith(".txt")) return [];
    return [...Deno.readTextFileSync(path).matchAll(/^data: ?(\{.*)$/gm)]
      .map(([, data = ""]) => parseJson(data)).filter(isObject);
  });
}

/** Events of other places of a text, most of which only some providers send. */
const FURTHER: readonly JsonObject[] = [
  { choices: [{ index: 0, text: "", logprobs: null }] },
  { choices: [{ index: 0, delta: { reasoning: "" } }] },
  { choices: [{ index: 0, delta: { reasoning_details: [{ index: 0, text: "" }] } }] },
  { choices: [{ index: 0, delta: { reasoning_details: [{ index: 0, summary: "" }] } }] },
  { choices: [{ index: 0, delta: { audio: { transcript: "" } } }] },
  { choices: [{ index: 0, delta: { content: [{ type: "thinking", thinking: [{ text: "" }] }] } }] },
  { choices: [{ index: 0, delta: { content: "x" }, message: { content: "" } }] },
];

/**
 * Members that have no piece of a text: what the guide calls them, and their names, which begin
 * with the type of the event.
 */
const WITHOUT_PIECES: readonly (readonly [string, RegExp])[] = [
  ["IDs, types and names", /[ .](?:\w*id|type|object|model|role|\w*name)$/],
  ["why a response has ended", /[ .](?:finish_reason|stop_\w+|stop_details\.\w+)$/],
  ["who has served it", /[ .](?:service_tier|system_fingerprint|content_block\.reason)$/],
  ["errors", /^error |fallback_credit\.token$/],
  ["results of a moderation", /^chunk moderation\./],
  ["sources of a text", /citation\.|^content_block_start content_block\.content\[\]\./],
  ["signatures, encrypted data and padding", /\.(?:signature|data|encrypted_\w+)$|obfuscation$/],
  ["log probabilities", /logprobs/],
  ["values of events of Responses that are no delta", /^response\.(?!\S+\.delta )/],
];

/** Returns the strings in the events of all streams, those of the same name once. */
function allMembers(): Member[] {
  // Those of the schemas have all numbers of a text.
  const members = [...FURTHER, ...goldenEvents(), ...schemaEvents()].flatMap(membersOf);
  return [...new Map(members.map((one) => [one.name, one])).values()];
}

const MEMBERS = allMembers();
const PIECES = MEMBERS.filter(({ name }) => !WITHOUT_PIECES.some(([, found]) => found.test(name)));

const KEY = `sk-${"a1B2".repeat(6)}`;

/** A text with a credential, one without, and what is left of them. */
const SECRET = [`It is ${KEY}, or so.`, "It is [api_key], or so."] as const;
const HARMLESS = [
  "Not that, but a word or two more.",
  "Not that, but a word or two more.",
] as const;

/** Places at which a text is divided into two or three pieces. */
const CUTS = [[8], [9], [20], [8, 20], [12, 13]];

/** Members that together have other values in the events of another text. */
const NUMBERS = [
  ["index"],
  ["item_id", "output_index"],
  ["content_index"],
  ["summary_index"],
  ["command_index"],
];

/** A text in the events of a stream. */
interface StreamText {
  readonly member: Member;
  /** Members that have other values than usual. */
  readonly numbers: readonly string[];
}

/** Returns the event with a piece of a text. */
function eventWith(piece: string, { member, numbers }: StreamText): JsonObject {
  const changed = (value: JsonValue | undefined, [step, ...further]: Member["path"]): JsonValue => {
    if (step === undefined) return piece;
    if (Array.isArray(value)) {
      return value.map((one, at) => at === step ? changed(one, further) : one);
    }
    if (!isObject(value)) throw new Error("no such member");
    const other = numbers.filter((name) => name in value)
      .map((name) => [name, name === "item_id" ? "other" : 1]);
    return { ...value, ...Object.fromEntries(other), [step]: changed(value[step], further) };
  };
  const { event, path } = member;
  const value = changed(event, path);
  if (!isObject(value)) throw new Error("no event");
  return value;
}

/** Returns the string in an event at a place. */
function textAt(event: JsonValue | undefined, path: Member["path"]): string {
  const found = path.reduce<JsonValue | undefined>((value, step) => {
    if (Array.isArray(value)) return value[Number(step)];
    return isObject(value) ? value[step] : undefined;
  }, event);
  return typeof found === "string" ? found : "";
}

/**
 * Fails if the credential of one of the texts whose pieces come in turns is left, or another word
 * of them is gone.
 */
function assertMasked(...texts: readonly StreamText[]): void {
  const { events: mask } = newRecordMask("credentials", () => 0)();
  for (const [at, cuts] of texts.flatMap((_, at) => CUTS.map((cuts) => [at, cuts] as const))) {
    const textsOf = (text: StreamText) => text === texts[at] ? SECRET : HARMLESS;
    const pieces = [0, ...cuts].flatMap((from, at) =>
      texts.map((text) => ({ text, piece: textsOf(text)[0].slice(from, cuts[at]) }))
    );
    const written = pieces.map(({ text, piece }) =>
      `data: ${JSON.stringify(eventWith(piece, text))}\n\n`
    );
    const events = mask(written.join(""), false, []).split("\n\n");
    for (const text of texts) {
      const joined = pieces.map((one, event) => {
        const { path } = one.text.member;
        return one.text === text ? textAt(parseJson(events[event]?.slice(6) ?? ""), path) : "";
      }).join("");
      const names = texts.map(({ member, numbers }) => `${member.name} ${numbers}`).join(" and ");
      assertEquals(joined, textsOf(text)[1], `${names} at ${cuts}`);
    }
  }
}

Deno.test("a credential in two or three pieces is masked in each member of each event of a stream", () => {
  for (const member of PIECES) assertMasked({ member, numbers: [] });
});

Deno.test("a credential in pieces is masked if those of a text with other numbers come between them", () => {
  for (const member of PIECES) {
    const text: StreamText = { member, numbers: [] };
    for (const numbers of NUMBERS) {
      const other = { member, numbers };
      const isOther = JSON.stringify(eventWith("", other)) !== JSON.stringify(eventWith("", text));
      if (isOther) assertMasked(text, other);
    }
  }
});

Deno.test("a credential in pieces is masked if those of another member come between them", () => {
  for (const [at, member] of PIECES.entries()) {
    const [api = ""] = member.name.split(/[._ ]/);
    for (const other of PIECES.slice(at + 1)) {
      // In Messages and Responses it is the text of another block or item, but a summary is of the
      // same one as its thinking.
      const isOne = api === "chunk" ||
        [member, other].every(({ name }) => name.startsWith("response.reasoning_"));
      const numbers = isOne ? [] : ["index", "item_id", "output_index"];
      const isOther = other.name.startsWith(api) && textAt(other.event, member.path) === "" &&
        // No stream of Chat has texts of the same name in other places in turns.
        (api !== "chunk" || other.path.at(-1) !== member.path.at(-1));
      if (isOther) assertMasked({ member, numbers: [] }, { member: other, numbers });
    }
  }
});

Deno.test("each member of an event has pieces of a text, or the guide names it as one that has none", () => {
  const guide = Deno.readTextFileSync("docs/operate/record.md").replace(/\s+/g, " ");
  for (const [words, found] of WITHOUT_PIECES) {
    assert(MEMBERS.some(({ name }) => found.test(name)), words);
    assert(guide.includes(words), words);
  }
});
