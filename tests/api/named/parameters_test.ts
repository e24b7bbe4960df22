import { isObject, type JsonObject, type JsonValue } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { type Kind, KINDS, namedGateway } from "./named_gateway.ts";

type Api = "chat" | "responses" | "messages";

const MESSAGES = [{ role: "user", content: "Hi" }];
const SCHEMA = { type: "object", properties: {} };

/** The simplest request of each client API, with a tool. */
const REQUESTS: Readonly<Record<Api, { readonly path: string; readonly body: JsonObject }>> = {
  chat: {
    path: "/chat/completions",
    body: { messages: MESSAGES, tools: [{ type: "function", function: { name: "look" } }] },
  },
  responses: {
    path: "/responses",
    body: {
      input: "Hi",
      tools: [{ type: "function", name: "look", parameters: SCHEMA, strict: false }],
    },
  },
  messages: {
    path: "/messages",
    body: { max_tokens: 64, messages: MESSAGES, tools: [{ name: "look", input_schema: SCHEMA }] },
  },
};

/** A place in a request, as the names of its members. */
type Place = string;

/** One parameter: its value in the file, a client's, and where protocols have it. */
interface Case {
  readonly written: string;
  readonly value: JsonValue;
  readonly own: JsonValue;
  /** Where each client API has it; null if it has no such field. */
  readonly asked: Readonly<Record<Api, Place | null>>;
  /** Where each wire has it; null if it cannot carry it. */
  readonly sent: Readonly<Record<Kind, Place | null>>;
}

const CASES: Readonly<Record<string, Case>> = {
  effort: {
    written: "high",
    value: "high",
    own: "low",
    asked: {
      chat: "reasoning_effort",
      responses: "reasoning.effort",
      messages: "output_config.effort",
    },
    sent: {
      compat: "reasoning_effort",
      responses: "reasoning.effort",
      messages: "output_config.effort",
      local: "think",
    },
  },
  temperature: {
    written: "0.25",
    value: 0.25,
    own: 0.75,
    asked: { chat: "temperature", responses: "temperature", messages: "temperature" },
    sent: {
      compat: "temperature",
      responses: "temperature",
      messages: "temperature",
      local: "options.temperature",
    },
  },
  top_p: {
    written: "0.5",
    value: 0.5,
    own: 0.25,
    asked: { chat: "top_p", responses: "top_p", messages: "top_p" },
    sent: { compat: "top_p", responses: "top_p", messages: "top_p", local: "options.top_p" },
  },
  top_k: {
    written: "40",
    value: 40,
    own: 20,
    asked: { chat: "top_k", responses: null, messages: "top_k" },
    sent: { compat: "top_k", responses: null, messages: "top_k", local: "options.top_k" },
  },
  max_tokens: {
    written: "300",
    value: 300,
    own: 200,
    asked: {
      chat: "max_completion_tokens",
      responses: "max_output_tokens",
      messages: "max_tokens",
    },
    sent: {
      compat: "max_completion_tokens",
      responses: "max_output_tokens",
      messages: "max_tokens",
      local: "options.num_predict",
    },
  },
  service_tier: {
    written: "priority",
    value: "priority",
    own: "flex",
    asked: { chat: "service_tier", responses: "service_tier", messages: null },
    sent: { compat: "service_tier", responses: "service_tier", messages: null, local: null },
  },
  verbosity: {
    written: "low",
    value: "low",
    own: "high",
    asked: { chat: "verbosity", responses: "text.verbosity", messages: null },
    sent: { compat: "verbosity", responses: "text.verbosity", messages: null, local: null },
  },
  parallel_tool_calls: {
    written: "false",
    value: false,
    own: true,
    asked: { chat: "parallel_tool_calls", responses: "parallel_tool_calls", messages: null },
    sent: {
      compat: "parallel_tool_calls",
      responses: "parallel_tool_calls",
      messages: "tool_choice.disable_parallel_tool_use",
      local: null,
    },
  },
  stop: {
    written: "[END]",
    value: ["END"],
    own: ["STOP"],
    asked: { chat: "stop", responses: null, messages: "stop_sequences" },
    sent: { compat: "stop", responses: null, messages: "stop_sequences", local: "options.stop" },
  },
};

/** Members in which a wire has another value. */
function valueIn(kind: Kind, name: string, value: JsonValue): JsonValue | undefined {
  if (name !== "parallel_tool_calls" || kind !== "messages") return value;
  return value === false ? true : undefined;
}

/** Parameters that a wire cannot carry, but whose promise the gateway checks. */
const VERIFIED: readonly string[] = ["responses stop", "local parallel_tool_calls"];

function placed(body: JsonObject, place: Place, value: JsonValue): JsonObject {
  const [member = "", inner] = place.split(".");
  if (inner === undefined) return { ...body, [member]: value };
  const own = body[member];
  return { ...body, [member]: { ...isObject(own) && own, [inner]: value } };
}

function found(body: JsonObject, place: Place): JsonValue | undefined {
  const [member = "", inner] = place.split(".");
  const own = body[member];
  return inner === undefined ? own : isObject(own) ? own[inner] : undefined;
}

for (const [name, { written, value, own, asked, sent }] of Object.entries(CASES)) {
  Deno.test(`the ${name} of a named model is in each request without one, over each client API and provider type, and a client's own wins`, async () => {
    for (const [api, { path, body }] of Object.entries(REQUESTS)) {
      for (const kind of KINDS) {
        const at = `${api} over ${kind}`;
        const { post, requests } = namedGateway(kind, `parameters: {${name}: ${written}}`);
        const plain = { model: "coder", store: undefined, ...body };
        const isClients = api === "messages" && name === "max_tokens";
        const reply = await post(path, plain);
        const place = sent[kind];
        const isNativeText = api === "responses" && kind === "responses";
        if (place === null && (isNativeText || !VERIFIED.includes(`${kind} ${name}`))) {
          assertEquals([at, reply.status, requests.length], [at, 400, 0], reply.text);
        } else {
          assertEquals([at, reply.status], [at, 200], reply.text);
          const expected = isClients ? 64 : valueIn(kind, name, value);
          const [first] = requests;
          assert(first !== undefined);
          if (place !== null) assertEquals([at, found(first.json, place)], [at, expected]);
        }
        const client = asked[api as Api];
        if (client === null || place === null) continue;
        const second = await post(path, placed(plain, client, own));
        assertEquals([at, second.status], [at, 200], second.text);
        const last = requests.at(-1);
        assertEquals([at, found(last?.json ?? {}, place)], [at, valueIn(kind, name, own)]);
      }
    }
  });
}
