import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { keptName } from "../core/text_beginning.ts";
import { type JsonPath, memberOf, valueAt } from "./json_strings.ts";

/** How the strings of one event of a stream continue those of earlier events. */
export interface EventChannels {
  /** Returns the name of the text that a string continues; null if the string is whole. */
  channelOf(path: JsonPath): string | null;
  /** Returns the name of the text of an annotation; null if the event itself has that. */
  annotated(path: JsonPath): string | null;
  /**
   * True if a channel is over after the event. `touched` are the channels that the event has
   * continued with text.
   */
  isEnded(channel: string, touched: ReadonlySet<string>): boolean;
  /** True if the event repeats what earlier events had piece by piece. */
  readonly isRepetition: boolean;
}

/**
 * Steps of the path of a text that comes in pieces, and characters of a step: no protocol has more,
 * and the names of texts are as long. A string with a longer path is whole.
 */
const MAX_STEP_COUNT = 16, MAX_STEP_CHARS = 256;

function isNamed(path: JsonPath): boolean {
  return path.length <= MAX_STEP_COUNT &&
    path.every((step) => typeof step === "number" || step.length <= MAX_STEP_CHARS);
}

/** Returns the index of an item, a part or a block as a part of the name of its text. */
function indexText(index: JsonValue | undefined): string {
  return typeof index === "number" || typeof index === "string" ? keptName(`${index}`) : "";
}

const WHOLE = { channelOf: () => null, annotated: () => null, isRepetition: false };

/** The end of a stream, with which every text is over. */
export const STREAM_END: EventChannels = { ...WHOLE, isEnded: () => true };

const UNRELATED: EventChannels = { ...WHOLE, isEnded: () => false };

/** Members of an event with the number of a part of an item; an event has at most one of them. */
export const PART_NUMBERS = ["content_index", "summary_index", "command_index"] as const;

/** Types of events after which no text of the stream follows. */
const TERMINALS: ReadonlySet<string> = new Set([
  "error",
  "message_stop",
  "response.cancelled",
  "response.canceled",
  "response.completed",
  "response.failed",
  "response.incomplete",
]);

/**
 * Returns the channels of an event by the form of its JSON: a chunk of Chat Completions or of
 * completions, an event of the Messages API, or of the Responses API and those like it.
 */
export function eventChannels(value: JsonValue): EventChannels {
  if (!isObject(value)) return UNRELATED;
  const { type, choices } = value;
  if (Array.isArray(choices)) return chunkChannels(choices);
  if (typeof type !== "string") return (value.error ?? null) === null ? UNRELATED : STREAM_END;
  if (TERMINALS.has(type)) {
    return { ...STREAM_END, isRepetition: type.startsWith("response.") };
  }
  return type.startsWith("content_block_")
    ? blockChannels(type, value.index)
    : responseChannels(type, value);
}

/** Returns the texts of an event that later annotations may name, with their channels. */
export function annotatedTexts(value: JsonValue): readonly (readonly [string, string])[] {
  if (!isObject(value)) return [];
  const event = eventChannels(value);
  const paths: JsonPath[] = Array.isArray(value.choices)
    ? value.choices.map((_, at) => ["choices", at, "delta", "content"])
    : [["delta"]];
  return paths.flatMap((path) => {
    const text = valueAt(value, path);
    const channel = event.channelOf(path);
    return typeof text === "string" && channel !== null ? [[channel, text] as const] : [];
  });
}

/** Members of a delta with the text of a model: one of them ends every other text. */
const TEXTS =
  /^\d+\/(?:content|function_call|reasoning|reasoning_content|refusal|tool_calls)(?:\/|$)/;

const CALLS = /^\d+\/tool_calls\//;

function chunkChannels(choices: readonly JsonValue[]): EventChannels {
  const indexes = choices.map((choice, at) => indexOf(choice, at));
  const finished = new Set<number>();
  let continued: ReturnType<typeof choicesOf> | null = null;
  for (const [at, choice] of choices.entries()) {
    const isFinished = isObject(choice) && typeof choice.finish_reason === "string";
    if (isFinished) finished.add(indexes[at] ?? at);
  }

  function channelOf(path: JsonPath): string | null {
    const [root, at, member] = path;
    if (root !== "choices" || typeof at !== "number") return null;
    const index = indexes[at] ?? at;
    if (member === "text" && path.length === 3) return `${index}/text`;
    // A block that is signed and a citation are whole.
    const isWhole = path[3] === "thinking_blocks" || path[3] === "annotations";
    if (member !== "delta" || isWhole || !isNamed(path)) return null;
    return [index, ...namedPath(choices[at], path.slice(2)).slice(1)].join("/");
  }

  return {
    channelOf,
    annotated([root, at, member]) {
      if (root !== "choices" || typeof at !== "number" || member !== "delta") return null;
      return `${indexes[at] ?? at}/content`;
    },
    isEnded(channel, touched) {
      const choice = channel.slice(0, channel.indexOf("/") + 1);
      if (finished.has(Number.parseInt(choice))) return true;
      if (touched.has(channel)) return false;
      // Once for all channels: an event may have as many of them.
      continued ??= choicesOf(touched);
      return (CALLS.test(channel) ? continued.besideCalls : continued.all).has(choice);
    },
    isRepetition: false,
  };
}

/** Returns the choices whose text an event has continued, and those with other text than calls. */
function choicesOf(touched: ReadonlySet<string>) {
  const all = new Set<string>();
  const besideCalls = new Set<string>();
  for (const channel of touched) {
    if (!TEXTS.test(channel)) continue;
    const choice = channel.slice(0, channel.indexOf("/") + 1);
    all.add(choice);
    if (!CALLS.test(channel)) besideCalls.add(choice);
  }
  return { all, besideCalls };
}

/** Returns a path in which the position of an element is its `index`, if it has one. */
function namedPath(root: JsonValue | undefined, path: JsonPath): JsonPath {
  let value = root;
  return path.map((step) => {
    value = memberOf(value, step);
    return typeof step === "number" ? indexOf(value, step) : step;
  });
}

function indexOf(value: JsonValue | undefined, position: number): number {
  return isObject(value) && typeof value.index === "number" ? value.index : position;
}

/** Channels of an event of one content block (Messages API, streaming). */
function blockChannels(type: string, given: JsonValue | undefined): EventChannels {
  const index = indexText(given);
  return {
    ...WHOLE,
    channelOf(path) {
      const [root, member] = path;
      if (
        root === "content_block" && path.length === 2 &&
        (member === "text" || member === "thinking")
      ) {
        return `${index}/${member}`;
      }
      // A citation is whole.
      return type === "content_block_delta" && root === "delta" && member !== "citation" &&
          isNamed(path)
        ? `${index}/${path.slice(1).join("/")}`
        : null;
    },
    isEnded: (channel) => type === "content_block_stop" && channel.startsWith(`${index}/`),
  };
}

/** Channels of an event whose type names the text and says whether it is a delta of it. */
function responseChannels(given: string, event: JsonObject): EventChannels {
  const type = given.length > MAX_STEP_CHARS ? "" : given;
  const item = `${indexText(event.output_index)}/`;
  const part = `${item}${PART_NUMBERS.map((name) => indexText(event[name])).join("")}/`;
  if (type.endsWith(".delta")) {
    const text = `${part}${type.slice(0, -".delta".length)}/`;
    return { ...UNRELATED, channelOf: (path) => isNamed(path) ? text + path.join("/") : null };
  }
  if (type.endsWith(".annotation.added")) {
    const text = `${part}${type.slice(0, -".annotation.added".length)}/delta`;
    return { ...UNRELATED, annotated: ([root]) => root === "annotation" ? text : null };
  }
  if (!type.endsWith(".done")) return UNRELATED;
  const over = type === "response.output_item.done"
    ? item
    : `${part}${type.slice(0, -".done".length)}/`;
  return {
    ...WHOLE,
    isEnded: (channel) => channel.startsWith(over),
    isRepetition: true,
  };
}
