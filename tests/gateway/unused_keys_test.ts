import { assertEquals } from "../support/assert.ts";
import { answers, chatRequest, got } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

/** Settings without effect, by the type of the provider. */
const UNUSED = {
  compat: [
    "top_k: 77",
    "api_version: unused-marker",
    "compatibility_profile: unused-marker",
    "extra: {max_tokens: 77, unused-marker: unused-marker}",
    "models: {mode: translator, static: [unused-marker], fetch: {ttl: 577h}}",
    "capabilities: {structured_outputs: true, reasoning_effort: true, " +
    "reasoning_effort_levels: [unused-marker], adaptive_thinking: true}",
  ],
  messages: [
    "top_k: 77",
    "organization: unused-marker",
    "compatibility_profile: deepseek",
    "normalize_developer_role: true",
    "extra: {unused-marker: unused-marker, max_tokens: many}",
    "capabilities: {conversations: true, hosted_tools: [unused-marker], embeddings_base64: true}",
  ],
  local: [
    "organization: unused-marker",
    "api_version: unused-marker",
    "compatibility_profile: deepseek",
    "normalize_developer_role: true",
    "capabilities: {adaptive_thinking: true, responses_lifecycle: true, embeddings_base64: true}",
  ],
} as const;

const REQUESTS: readonly Request[] = [
  chatRequest({
    body: {
      messages: [{ role: "developer", content: "Be kind." }, { role: "user", content: "Hi" }],
    },
  }),
  chatRequest({ body: { stream: true } }),
  new Request("http://localhost/v1/embeddings", {
    method: "POST",
    body: JSON.stringify({ model: "m", input: "a", encoding_format: "float" }),
  }),
  new Request("http://localhost/v1/models"),
];

/** Everything that goes to a provider of this type: addresses, headers and bodies. */
async function sent(type: string, settings: readonly string[]) {
  const requests: unknown[] = [];
  const { app } = testGateway(
    `
providers:
  up: {type: ${type}, base_url: "http://up", api_key: k${
      settings.map((one) => `, ${one}`).join("")
    }}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
retry: {enabled: false}
`,
    scriptedWorld({
      async fetch(url, { method, headers, body }) {
        const text = await new Response(body ?? null).text();
        requests.push([method, url, [...new Headers(headers)], text]);
        return await answers(400, { error: { message: "No." } });
      },
    }),
  );
  const replies = [];
  for (const request of REQUESTS) {
    const { status, text } = await got(await app(request.clone()));
    replies.push([status, text]);
  }
  return { requests, replies };
}

for (const [type, settings] of Object.entries(UNUSED)) {
  Deno.test(`a key that type ${type} does not use reaches neither providers nor clients`, async () => {
    const plain = await sent(type, []);
    assertEquals(plain.requests.length, type === "messages" ? 2 : 3);
    for (const setting of settings) assertEquals(await sent(type, [setting]), plain, setting);
    assertEquals(await sent(type, settings), plain);
  });
}
