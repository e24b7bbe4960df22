import type { AttemptSpan, CalledProvider, TextMask } from "../../core/call_span.ts";
import type { Usage } from "../../core/stream/events.ts";
import type { StreamRecord } from "../../core/stream/reply.ts";
import {
  isFilledText,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../core/json/json.ts";
import { demandsJson } from "../../formats/json_demand.ts";
import { scanJson } from "../../formats/json_scan.ts";
import { utf8Text } from "../../formats/utf8.ts";
import { cutText } from "./bounds.ts";

/** Largest JSON text that is parsed for a span at once, which takes about 1 ms. */
const MAX_PARSED_LENGTH = 256 * 1024;

/** Members of a larger request that are read. */
const REQUEST_MEMBERS = [
  "max_completion_tokens",
  "max_output_tokens",
  "max_tokens",
  "temperature",
  "top_p",
  "top_k",
  "frequency_penalty",
  "presence_penalty",
  "seed",
  "n",
  "stream",
  "service_tier",
  "encoding_format",
  "response_format",
  "text",
  "output_config",
  "output_format",
  "format",
  "options",
];

/** Members of a larger response that are read. */
const RESPONSE_MEMBERS = [
  "object",
  "id",
  "model",
  "service_tier",
  "system_fingerprint",
  "status",
  "incomplete_details",
  "stop_reason",
  "done_reason",
  "choices",
  "data",
  "embeddings",
];

/** States of a response that has not ended. */
const UNFINISHED = new Set<JsonValue | undefined>(["queued", "in_progress"]);

const SERVICE_TIER = /^[a-z_]{1,32}$/;

/** Maximum number of choices whose reasons to end are kept. */
const MAX_REASONS = 8;

/** Records at the start of a stream in which its model is looked for. */
const MAX_FIRST_RECORDS = 4;

/** Settings of a request as they were sent to a provider; undefined ones were not in it. */
export interface RequestSettings {
  readonly maxTokens: number | undefined;
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly topK: number | undefined;
  readonly frequencyPenalty: number | undefined;
  readonly presencePenalty: number | undefined;
  readonly seed: number | undefined;
  readonly choices: number | undefined;
  readonly isStream: boolean;
  readonly isJson: boolean;
  readonly serviceTier: string | undefined;
  readonly encodingFormats: readonly string[] | undefined;
}

/** Facts that a response states; undefined ones were not in it. */
export interface ResponseFacts {
  readonly model: string | undefined;
  readonly id: string | undefined;
  readonly serviceTier: string | undefined;
  readonly fingerprint: string | undefined;
  /** Length of the first vector of embeddings. */
  readonly dimensions: number | undefined;
}

const NO_FACTS: ResponseFacts = {
  model: undefined,
  id: undefined,
  serviceTier: undefined,
  fingerprint: undefined,
  dimensions: undefined,
};

/** Why the scan of a large text is given up. */
const SPAN_ENDED = new Error("the span has ended");

/** Context in which a span learns. */
interface Learning {
  readonly turn: NextTurn;
  readonly called?: CalledProvider;
  /** Hides keys in texts; null or absent if there is nothing to hide. */
  readonly mask?: TextMask | null;
}

/** Returns the turn for the next piece of a large text; null if it may go on at once. */
export type NextTurn = () => Promise<void> | null;

/**
 * Facts of an attempt in its span besides times and outcome. A text of more than 256 KiB is
 * scanned in pieces for the members that are needed, and says nothing if the call ends before.
 */
export class AttemptFacts implements AttemptSpan {
  readonly spanId: string;
  readonly traceparent: string;
  readonly #called: CalledProvider | undefined;
  readonly #turn: NextTurn;
  readonly #mask: TextMask | null;
  #request: RequestSettings | null = null;
  #path = "";
  #status: number | null = null;
  #response = NO_FACTS;
  readonly #reasons = new Map<number, string>();
  #firstRecords = 0;
  #isEnded = false;
  #counts: () => Usage | null = noUsage;

  constructor(spanId: string, traceparent: string, { turn, called, mask = null }: Learning) {
    this.spanId = spanId;
    this.traceparent = traceparent;
    this.#called = called;
    this.#turn = turn;
    this.#mask = mask;
  }

  sent(path: string, body: Uint8Array | readonly Uint8Array[] | null): void {
    this.#path = path;
    if (!(body instanceof Uint8Array)) return;
    this.#learn(body, REQUEST_MEMBERS, (value) => {
      this.#request = settingsOf(value, this.#mask);
    });
  }

  responded(status: number): void {
    this.#status = status;
  }

  receivedBody(bytes: Uint8Array): void {
    this.#learn(bytes, RESPONSE_MEMBERS, (value) => this.#read(value));
  }

  /**
   * Learns from a group of records of a stream: from the first ones until one names the model, and
   * from those with a reason.
   */
  receivedRecords(records: readonly StreamRecord[]): void {
    for (const { data } of records) {
      const isFirst = this.#response.model === undefined && this.#firstRecords < MAX_FIRST_RECORDS;
      if (data === "" || !(isFirst || mayEnd(data))) continue;
      this.#firstRecords += 1;
      const value = data.length <= MAX_PARSED_LENGTH ? parseJson(data) : undefined;
      if (isObject(value)) this.#read(value);
    }
  }

  uses(counts: () => Usage | null): void {
    this.#counts = counts;
  }

  settle(): void {
    const counts = this.#counts();
    this.#counts = () => counts;
  }

  /**
   * Ends the scans of large texts and reads the counts: the span is exported. The source of the
   * counts refers to all of the call, which would live as long as its report waits to be counted.
   */
  end(): void {
    this.#isEnded = true;
    this.settle();
  }

  /** The provider that is called; a getter keeps its settings out of JSON. */
  get called(): CalledProvider | undefined {
    return this.#called;
  }

  /** The path of the sent request below the base address; empty if none was sent. */
  get path(): string {
    return this.#path;
  }

  /** The settings of the sent request; null if it is not read. */
  get request(): RequestSettings | null {
    return this.#request;
  }

  /** The status of the response. */
  get status(): number | null {
    return this.#status;
  }

  get response(): ResponseFacts {
    return this.#response;
  }

  /**
   * Why the choices ended, in their order and in the words of the provider; empty if it did not say
   * it.
   */
  get finishReasons(): readonly string[] {
    return [...this.#reasons].toSorted(([one], [other]) => one - other).map(([, reason]) => reason);
  }

  /** Returns the counts that the provider has reported so far; null for none. */
  usage(): Usage | null {
    return this.#counts();
  }

  #learn(bytes: Uint8Array, needed: readonly string[], read: (value: JsonObject) => void): void {
    if (bytes.length <= MAX_PARSED_LENGTH) {
      const value = parseJson(utf8Text(bytes) ?? "");
      if (isObject(value)) read(value);
      return;
    }
    const turn = () => this.#isEnded ? Promise.reject(SPAN_ENDED) : this.#turn();
    void scanJson(bytes, { maxSteps: Infinity, needed }, turn).then((scan) => {
      const outline = scan.problem() === null ? scan.outline() : null;
      if (outline !== null) read(outline.value);
    }, () => {});
  }

  #read(value: JsonObject): void {
    const inner = isObject(value.response)
      ? value.response
      : isObject(value.message) && value.type === "message_start"
      ? value.message
      : value;
    this.#response = factsOf(inner, this.#response, this.#mask);
    this.#keepReason(0, reasonIn(inner));
    this.#keepReason(0, reasonIn(value.delta));
    const choices = Array.isArray(inner.choices) ? inner.choices : [];
    for (const [at, choice] of choices.entries()) {
      const isIndexed = isObject(choice) && isNumber(choice.index);
      this.#keepReason(isIndexed ? Number(choice.index) : at, reasonIn(choice));
    }
    if (inner.object !== "response" || UNFINISHED.has(inner.status)) return;
    // A response of the Responses API says its status, or why it is incomplete.
    const { incomplete_details, status } = inner;
    this.#keepReason(
      0,
      (isObject(incomplete_details) ? incomplete_details.reason : null) ?? status,
    );
  }

  #keepReason(choice: number, reason: JsonValue | undefined): void {
    if (!isFilledText(reason)) return;
    const isKept = this.#reasons.has(choice) || this.#reasons.size < MAX_REASONS;
    if (isKept) this.#reasons.set(choice, shownText(reason, this.#mask));
  }
}

/** Returns the span of an attempt that is not exported, which learns nothing. */
export function newSilentAttempt(traceparent: string): AttemptSpan {
  return {
    traceparent,
    sent() {},
    responded() {},
    receivedBody() {},
    receivedRecords() {},
    uses() {},
    settle() {},
  };
}

/** True for a record that may say why a choice ended; text of a model has its quotes escaped. */
function mayEnd(data: string): boolean {
  return /"(?:finish_reason|stop_reason|done_reason)"\s*:\s*"|"response\.(?:completed|incomplete|failed)"/
    .test(data);
}

function settingsOf(body: JsonObject, mask: TextMask | null): RequestSettings {
  const options = isObject(body.options) ? body.options : null;
  const number = (name: string) => {
    const value = isNumber(body[name]) ? body[name] : options?.[name];
    return isNumber(value) ? value : undefined;
  };
  const encoding = textIn(body, "encoding_format", mask);
  return {
    maxTokens: number("max_completion_tokens") ?? number("max_output_tokens") ??
      number("max_tokens") ?? number("num_predict"),
    temperature: number("temperature"),
    topP: number("top_p"),
    topK: number("top_k"),
    frequencyPenalty: number("frequency_penalty"),
    presencePenalty: number("presence_penalty"),
    seed: number("seed"),
    choices: number("n"),
    isStream: body.stream === true,
    isJson: isJsonRequested(body),
    serviceTier: tierIn(body, mask),
    encodingFormats: encoding === undefined ? undefined : [encoding],
  };
}

/** Returns the service tier, which is one word: any other text may be a secret of the client. */
function tierIn(value: JsonObject, mask: TextMask | null): string | undefined {
  const tier = textIn(value, "service_tier", mask);
  return tier !== undefined && SERVICE_TIER.test(tier) ? tier : undefined;
}

/** True if the request asks for JSON; `format` is the member of the Ollama API. */
function isJsonRequested(body: JsonObject): boolean {
  return demandsJson(body) || body.format === "json" || isObject(body.format);
}

/** Returns the facts of a response; those that it does not name are as before. */
function factsOf(
  value: JsonObject,
  before: ResponseFacts,
  mask: TextMask | null,
): ResponseFacts {
  const [first] = Array.isArray(value.data) ? value.data : [];
  const vector = isObject(first) ? first.embedding : undefined;
  const [embedding] = Array.isArray(value.embeddings) ? value.embeddings : [];
  const numbers = Array.isArray(vector) ? vector : embedding;
  return {
    model: textIn(value, "model", mask) ?? before.model,
    id: textIn(value, "id", mask) ?? before.id,
    serviceTier: tierIn(value, mask) ?? before.serviceTier,
    fingerprint: textIn(value, "system_fingerprint", mask) ?? before.fingerprint,
    dimensions: Array.isArray(numbers) ? numbers.length : before.dimensions,
  };
}

/** Returns why a choice or a response has ended; undefined if it does not say it. */
function reasonIn(part: JsonValue | undefined): string | undefined {
  if (!isObject(part)) return undefined;
  return [part.finish_reason, part.stop_reason, part.done_reason].find(isFilledText);
}

function textIn(value: JsonObject, name: string, mask: TextMask | null): string | undefined {
  const text = value[name];
  // Azure begins streams with an empty model and ID.
  return isFilledText(text) ? shownText(text, mask) : undefined;
}

/** Returns a text as the span has it. A provider may repeat a key. */
function shownText(text: string, mask: TextMask | null): string {
  return cutText(mask === null ? text : mask(text));
}

function isNumber(value: JsonValue | undefined): value is number {
  return typeof value === "number";
}

function noUsage(): null {
  return null;
}
