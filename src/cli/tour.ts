import type { Cancellation } from "../core/cancellation.ts";
import { isObject, type JsonObject, objectsIn, parseJson } from "../core/json/json.ts";
import type { World } from "../core/world.ts";
import { newSseFraming } from "../formats/sse.ts";
import { CHAT_PATH, RESPONSES_PATH } from "./first_call.ts";
import { postJson, texts, wholeText } from "./post_json.ts";
import type { Terminal } from "./terminal.ts";

const QUESTION = "Please repeat this sentence word by word.";

/** Model that streams slowly enough to be watched. */
const MODEL = "sim-slow-40";

/** Model that calls a function before it answers. */
const TOOL_MODEL = "sim-tools";

/** Model that thinks before it answers. */
const THINKING_MODEL = "sim-think";

/** Result of the tour. */
export interface Toured {
  /** ID of a response that can be continued. */
  readonly response: string | null;
}

/** Dependencies of the tour. */
export interface TourOptions {
  readonly world: Pick<World, "send">;
  readonly terminal: Pick<Terminal, "out">;
  /** Cancellation that ends the tour early. */
  readonly stop: Cancellation;
}

/**
 * Sends the same request to each provider and prints the streamed text, then creates a response and
 * its follow-up at each provider, then a message. Ends early on cancellation.
 */
export async function tour(
  url: string,
  providers: readonly string[],
  options: TourOptions,
): Promise<Toured> {
  const { world, terminal, stop } = options;
  let response: string | null = null;

  async function each(show: (provider: string) => Promise<void>): Promise<void> {
    for (const provider of providers) {
      if (stop.isCancelled) return;
      try {
        await show(provider);
      } catch {
        // Only a cancellation or a closed gateway ends a call this way.
        terminal.out(" (broken off)");
      }
      terminal.out("\n");
    }
  }

  terminal.out(`Question: ${QUESTION}\n`);
  await each((provider) => showStream(provider, url, options));
  if (stop.isCancelled) return { response };
  terminal.out(`\nA response and its follow-up: ${WEATHER_QUESTION}\n`);
  await each(async (provider) => {
    terminal.out(`  ${`${provider}:`.padEnd(10)}`);
    const { line, id } = await followUp(`${provider}/${TOOL_MODEL}`, url, world, stop);
    terminal.out(line);
    response = id;
  });
  if (stop.isCancelled) return { response };
  terminal.out(`\nA message for a client of the Messages API: ${GREETING}\n`);
  await each(async (provider) => {
    terminal.out(`  ${`${provider}:`.padEnd(10)}`);
    terminal.out(await messageLine(`${provider}/${THINKING_MODEL}`, url, world, stop));
  });
  terminal.out("\n");
  return { response };
}

async function showStream(
  provider: string,
  url: string,
  { world, terminal, stop }: TourOptions,
): Promise<void> {
  const model = `${provider}/${MODEL}`;
  const messages = [{ role: "user", content: QUESTION }];
  const body = { model, stream: true, messages };
  const response = await postJson(world, `${url}${CHAT_PATH}`, body, stop);
  if (response.status !== 200) {
    const message = messageOf(parseJson(await wholeText(response)));
    return terminal.out(`  ${provider}: ${message ?? `status ${response.status}`}`);
  }
  const server = response.headers.get("x-gateway-provider") ?? "";
  terminal.out(`  ${`${server}:`.padEnd(10)}`);
  const framing = newSseFraming();
  for await (const text of texts(response)) {
    for (const { data } of framing.push(text)) terminal.out(wordsOf(parseJson(data)));
  }
}

/** Returns the text of a chunk, or the message of an error. */
function wordsOf(chunk: unknown): string {
  if (!isObject(chunk)) return "";
  const [choice] = Array.isArray(chunk.choices) ? chunk.choices : [];
  const delta = isObject(choice) ? choice.delta : undefined;
  const content = isObject(delta) ? delta.content : undefined;
  return typeof content === "string" ? content : messageOf(chunk) ?? "";
}

function messageOf(body: unknown): string | null {
  const error = isObject(body) ? body.error : undefined;
  return isObject(error) && typeof error.message === "string" ? error.message : null;
}

const MESSAGES_PATH = "/v1/messages";

/** Limit of the message; the simulated models say less. */
const MAX_TOKENS_COUNT = 1000;

/** Prompt of the Messages client to each provider. */
const GREETING = "Say hello to the Messages API.";

/**
 * Sends a request of the Messages API and returns the content blocks of the message as one line of
 * text, without a line break. Rejects if stopped.
 */
async function messageLine(
  model: string,
  url: string,
  world: Pick<World, "send">,
  stop: Cancellation,
): Promise<string> {
  const messages = [{ role: "user", content: GREETING }];
  const body = { model, max_tokens: MAX_TOKENS_COUNT, messages };
  const response = await postJson(world, `${url}${MESSAGES_PATH}`, body, stop);
  const message = parseJson(await wholeText(response));
  if (!isObject(message)) return `status ${response.status}`;
  if (!Array.isArray(message.content)) return messageOf(message) ?? "no message";
  return message.content.filter(isObject).map(shown).join(", ");
}

function shown(block: JsonObject): string {
  return block.type === "thinking" ? `thinks "${block.thinking}"` : `says "${block.text}"`;
}

/** Input of a response of the tour. */
const WEATHER_QUESTION = "How is the weather?";

/** Function result that the tour sends. */
const RESULT = "sunny";

/** Function that a response may call. */
export const WEATHER_FUNCTION: JsonObject = {
  type: "function",
  name: "weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

/** Result of a response and its follow-up. */
interface FollowUp {
  /** Result as one line of text, without a line break. */
  readonly line: string;
  /** ID of the last response; null if there was none. */
  readonly id: string | null;
}

/**
 * Creates a response that calls a function, and continues it with the function result only: the
 * gateway stores the earlier items. Rejects if stopped.
 */
async function followUp(
  model: string,
  url: string,
  world: Pick<World, "send">,
  stop: Cancellation,
): Promise<FollowUp> {
  async function create(fields: JsonObject): Promise<JsonObject> {
    const body = { model, tools: [WEATHER_FUNCTION], ...fields };
    const answer = await postJson(world, `${url}${RESPONSES_PATH}`, body, stop);
    const value = parseJson(await wholeText(answer));
    return isObject(value) ? value : {};
  }

  const first = await create({ input: WEATHER_QUESTION });
  const call = objectsIn(first.output).find(({ type }) => type === "function_call");
  if (call === undefined) return { line: messageOf(first) ?? "no answer", id: null };
  const output = { type: "function_call_output", call_id: call.call_id ?? null, output: RESULT };
  const second = await create({ previous_response_id: first.id ?? null, input: [output] });
  const [message] = objectsIn(second.output);
  const [part] = objectsIn(message?.content);
  if (typeof part?.text !== "string") return { line: messageOf(second) ?? "no answer", id: null };
  return {
    line: `calls ${call.name}(${call.arguments}), receives "${RESULT}", answers: ${part.text}`,
    id: typeof second.id === "string" ? second.id : null,
  };
}
