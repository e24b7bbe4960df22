import { clientApis } from "../../../src/api/registry.ts";
import type { Endpoint } from "../../../src/api/client_api.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { keyOf, twoKeys } from "../../support/client_keys.ts";
import { naming, nativeConfig, nativeGateway } from "../../support/native_gateway.ts";
import { assertNothingStored, NO_STORE } from "../../support/no_store.ts";
import { refusalOf, type Reply } from "../../support/state_call.ts";

/** Paths of the endpoints that a gateway without a store serves; it refuses every other one. */
const SERVED: readonly string[] = [
  "POST /v1/chat/completions",
  "POST /v1/responses",
  "POST /v1/responses/compact",
  "POST /v1/responses/input_tokens",
  "POST /v1/messages",
  "POST /v1/messages/count_tokens",
  "POST /v1/embeddings",
  "POST /v1/completions",
  "POST /v1/moderations",
  "POST /v1/rerank",
  "POST /v2/rerank",
  "POST /rerank",
  "POST /v1/images/generations",
  "POST /v1/images/edits",
  "POST /v1/images/variations",
  "POST /v1/audio/speech",
  "POST /v1/audio/transcriptions",
  "POST /v1/audio/translations",
  "GET /v1/models",
  "GET /v1/models/:model{.+}",
  "GET /health",
  "GET /ready",
  "GET /metrics",
];

/** Everything that a provider can store for clients. */
const CAN = [
  "chat_completions_lifecycle",
  "responses_lifecycle",
  "response_cancellation",
  "conversations",
  "relay: [files, batches]",
];

const FORM = { "content-type": "multipart/form-data; boundary=b" };
const FILE = '--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--b--\r\n';
const DISABLED = [400, "state_disabled", null];

function gateway(more = "") {
  const providers = nativeConfig({ first: { can: CAN }, second: {} });
  return nativeGateway(NO_STORE + more + providers, () => ({ body: { id: "x", object: "file" } }));
}

function nameOf({ method, path }: Endpoint): string {
  return `${method} ${path}`;
}

const ENDPOINTS = clientApis.flatMap(({ endpoints }) => endpoints);
const REFUSED = ENDPOINTS.filter((endpoint) => !SERVED.includes(nameOf(endpoint)));

function send(
  calls: ReturnType<typeof gateway>,
  { method, path, body }: Endpoint,
  headers: Readonly<Record<string, string>>,
): Promise<Reply> {
  const url = path.replace(/^\/v1/, "").replace(/:\w+/g, "x-1");
  if (method === "GET") return calls.get(url, headers);
  if (method === "DELETE") return calls.delete(url, headers);
  return typeof body === "string" && body.startsWith("multipart")
    ? calls.post(url, FILE, { ...FORM, ...headers })
    : calls.post(url, body === false ? "" : {}, headers);
}

Deno.test("without a store the served endpoints exist, and the stored objects of five APIs are refused", () => {
  for (const name of SERVED) {
    assert(ENDPOINTS.some((endpoint) => nameOf(endpoint) === name), name);
  }
  // Responses, stored completions, conversations, files with uploads, and batches.
  assertEquals(REFUSED.length, 4 + 5 + 8 + 9 + 4);
});

for (const endpoint of REFUSED) {
  Deno.test(`without a store ${nameOf(endpoint)} is refused by name, also with a named provider, and no request is sent`, async () => {
    const calls = gateway();
    for (const headers of [{}, naming("first"), naming("second")]) {
      const refused = await send(calls, endpoint, headers);
      assertEquals(refusalOf(refused), DISABLED, nameOf(endpoint));
      assertMatch(String(refused.error.message), /state\.store is none.*sqlite or valkey/);
    }
    assertEquals(calls.requests.length, 0);
    assertNothingStored(calls);
  });
}

Deno.test("without a store a request for stored objects still needs its client key", async () => {
  const calls = gateway(twoKeys());
  assertEquals((await calls.get("/files")).status, 401);
  assertEquals(refusalOf(await calls.get("/files", keyOf("ada"))), DISABLED);
});
