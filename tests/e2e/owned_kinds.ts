import type { JsonObject } from "../../src/core/json/json.ts";
import { assertEquals } from "../support/assert.ts";
import { MESSAGES } from "../support/chat_call.ts";
import { type Reply, type StateCalls, textAt } from "../support/state_call.ts";

/** Headers of a request. */
export type Sent = Readonly<Record<string, string>>;

/** One type of object of a client over HTTP. */
export interface OwnedKind {
  readonly name: string;
  readonly path: `/${string}`;
  /** Creates an object and returns its ID. */
  create(calls: StateCalls, headers: Sent): Promise<string>;
  /** Requests that read, change, cancel, continue or delete the object, the last one deletes it. */
  readonly uses: readonly Use[];
  /** True if the gateway itself stores the object. */
  readonly isLocal?: true;
  /** True if a list has the objects of the account. */
  readonly isListed?: true;
}

/** One request for an object. */
export type Use = (calls: StateCalls, id: string, headers: Sent) => Promise<Reply>;

const CHAT = { model: "sim-echo", ...MESSAGES, store: true };
const RESPONSE = { model: "sim-echo", input: "x" };

/** Multipart body with a file of one byte. */
const FORM = "--cut\r\n" +
  'content-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--cut\r\n' +
  'content-disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n--cut--\r\n';
const PART = FORM.replace('"file"', '"data"');
const IS_FORM = { "content-type": "multipart/form-data; boundary=cut" };

async function idOf(made: Promise<Reply>): Promise<string> {
  const { status, text, json } = await made;
  assertEquals(status, 200, text);
  return textAt(json, "id");
}

function get(path: string): Use {
  return (calls, id, headers) => calls.get(path.replace("ID", id), headers);
}

function post(path: string, body: (id: string) => JsonObject | string = () => ""): Use {
  return (calls, id, headers) => calls.post(path.replace("ID", id), body(id), headers);
}

function remove(path: string): Use {
  return (calls, id, headers) => calls.delete(path.replace("ID", id), headers);
}

const UPLOAD: JsonObject = { filename: "a", purpose: "batch", bytes: 1, mime_type: "text/plain" };
const ITEM: JsonObject = { type: "message", role: "user", content: "x" };

function createFile(calls: StateCalls, headers: Sent): Promise<string> {
  return idOf(calls.post("/files", FORM, { ...headers, ...IS_FORM }));
}

/** Requests for a response; the second one continues it. */
const RESPONSE_USES: readonly Use[] = [
  get("/responses/ID"),
  post("/responses", (id) => ({ ...RESPONSE, previous_response_id: id })),
  get("/responses/ID/input_items"),
  post("/responses/ID/cancel"),
  remove("/responses/ID"),
];

/** Names a provider. */
export function naming(provider: string): Sent {
  return { "x-gateway-provider": provider };
}

/** All types of objects that a client key owns, at a gateway with `ownersConfig`. */
export const OWNED_KINDS: readonly OwnedKind[] = [
  {
    name: "file",
    path: "/files",
    isListed: true,
    create: createFile,
    uses: [
      get("/files/ID"),
      get("/files/ID/content"),
      post("/batches", (id) => ({
        input_file_id: id,
        endpoint: "/v1/chat/completions",
        completion_window: "24h",
      })),
      remove("/files/ID"),
    ],
  },
  {
    name: "batch",
    path: "/batches",
    isListed: true,
    async create(calls, headers) {
      const input_file_id = await createFile(calls, headers);
      const batch = { input_file_id, endpoint: "/v1/responses", completion_window: "24h" };
      return await idOf(calls.post("/batches", batch, headers));
    },
    uses: [get("/batches/ID"), post("/batches/ID/cancel")],
  },
  {
    name: "upload",
    path: "/uploads",
    create: (calls, headers) => idOf(calls.post("/uploads", UPLOAD, headers)),
    uses: [
      (calls, id, headers) => calls.post(`/uploads/${id}/parts`, PART, { ...headers, ...IS_FORM }),
      post("/uploads/ID/complete", () => ({ part_ids: [] })),
      post("/uploads/ID/cancel"),
    ],
  },
  {
    name: "stored completion",
    path: "/chat/completions",
    isListed: true,
    create: (calls, headers) => idOf(calls.post("/chat/completions", CHAT, headers)),
    uses: [
      get("/chat/completions/ID"),
      get("/chat/completions/ID/messages"),
      post("/chat/completions/ID", () => ({ metadata: {} })),
      remove("/chat/completions/ID"),
    ],
  },
  {
    name: "response of the provider",
    path: "/responses",
    create: (calls, headers) => idOf(calls.post("/responses", RESPONSE, headers)),
    uses: RESPONSE_USES,
  },
  {
    name: "response of the gateway",
    path: "/responses",
    isLocal: true,
    create: (calls, headers) =>
      idOf(calls.post("/responses", RESPONSE, { ...headers, ...naming("plain") })),
    uses: RESPONSE_USES,
  },
  {
    name: "conversation",
    path: "/conversations",
    isLocal: true,
    create: (calls, headers) => idOf(calls.post("/conversations", {}, headers)),
    uses: [
      get("/conversations/ID"),
      post("/conversations/ID", () => ({ metadata: {} })),
      post("/conversations/ID/items", () => ({ items: [ITEM] })),
      get("/conversations/ID/items"),
      post("/responses", (id) => ({ ...RESPONSE, conversation: id })),
      remove("/conversations/ID"),
    ],
  },
];

/**
 * Providers over one simulator: those of `able` store every type of object, each with another
 * key, and conversations only with `talks`; `plain` stores nothing, so the gateway does.
 */
export function ownersConfig(
  url: string,
  { able = ["sim"], talks = false }: { able?: readonly string[]; talks?: boolean } = {},
): string {
  const can = [
    "chat_completions_lifecycle: true",
    "responses_lifecycle: true",
    "response_cancellation: true",
    `conversations: ${talks}`,
    "relay: [files, batches]",
  ].join(", ");
  const provider = (id: string, capabilities: string) =>
    `  ${id}: {type: compat, base_url: "${url}/compat/v1", api_key: sk-${id}${capabilities}}\n`;
  const route = (id: string, type: string, api: string) => {
    const match = `match: {path: ${type}, headers: {x-gateway-provider: ${id}}}`;
    return `  - {name: ${type}-${id}, ${match}, targets: [{provider: ${id}${api}}]}\n`;
  };
  const native = ", upstream_request_type: responses";
  return `providers:
${able.map((id) => provider(id, `, capabilities: {${can}}`)).join("")}${
    provider("plain", "")
  }routing:
  routes:
${able.map((id) => route(id, "/v1/responses", native)).join("")}${
    route("plain", "/v1/responses", "")
  }
  - {name: responses, match: {path: /v1/responses}, targets: [{provider: ${able[0]}${native}}]}
  - {name: main, targets: [${able.map((id) => `{provider: ${id}}`).join(", ")}]}
retry: {enabled: false}
circuit_breaker: {enabled: false}
`;
}
