import { sealThinking } from "../../src/api/reasoning/sealed_thinking.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { oneProvider, testGateway } from "../support/gateway.ts";
import { pieces, streamOf } from "../support/pieces.ts";
import { type Fetch, scriptedWorld } from "../support/world.ts";
import { privacyConfig } from "../privacy/rules.ts";

const VALUE = "bob.miller@example.com";
const TOKEN = /qz(?:[a-z]{2}){8}email/;
const RULES = privacyConfig(["find: [email], action: replace"]);

/** A gateway whose provider answers with what `answer` makes of the token in a request. */
function gatewayOf(config: string, answer: (token: string, body: string) => object) {
  const sent: string[] = [];
  const fetch: Fetch = async (_url, { body }) => {
    const text = await new Response(body ?? "").text();
    sent.push(text);
    const written = JSON.stringify(answer(TOKEN.exec(text)?.[0] ?? "none", text));
    return new Response(streamOf(pieces(new TextEncoder().encode(written), 1_000)), {
      headers: { "content-type": "application/json" },
    });
  };
  const gateway = testGateway(config, scriptedWorld({ fetch }));
  return {
    ...gateway,
    sent,
    async post(path: string, body: object) {
      const response = await gateway.app(
        new Request(`http://gateway.test${path}`, { method: "POST", body: JSON.stringify(body) }),
      );
      return JSON.parse(await response.text());
    },
  };
}

const completion = (message: object) => ({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop" }],
});

const CHAT = "/v1/chat/completions";
const UP = oneProvider("http://up.test") + RULES;

const chat = (...contents: readonly string[]) => ({
  model: "m",
  messages: contents.map((content, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content })),
});

Deno.test("a token is restored in every spelling and place in which models repeat it", async () => {
  const title = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);
  const places: readonly ((token: string) => string)[] = [
    (token) => token,
    (token) => token.toUpperCase(),
    title,
    (token) => `"${token}"`,
    (token) => `\`${token}\``,
    (token) => `\n\`\`\`sh\nmail ${token} <file\n\`\`\`\n`,
    (token) => `user_${token}_id`,
    (token) => `https://x.test/?to=${token}&cc=mailto:${token}`,
    (token) => JSON.stringify(JSON.stringify({ to: token })),
    (token) => `**${token}**, <b>${token}</b>, ${token}'s, ${token}${token}.`,
  ];
  for (const place of places) {
    const gateway = gatewayOf(UP, (token) => completion({ content: place(token) }));
    const { choices: [{ message }] } = await gateway.post(CHAT, chat(`Mail ${VALUE}`));
    const plain = place("TOKEN");
    const expected = plain.replaceAll(new RegExp("token", "gi"), VALUE);
    assertEquals(message.content, expected);
  }
});

Deno.test("a word of the client in the form of a token stays in both directions, and the token of a value of the request becomes the value", async () => {
  const foreign = "qzbadofikumapolosiemail";
  const gateway = gatewayOf(UP, (token) => completion({ content: `${foreign} and ${token}` }));
  const first = await gateway.post(CHAT, chat(`${VALUE} is ${foreign}`));
  assert(gateway.sent[0]?.includes(` is ${foreign}"`), gateway.sent[0]);
  assertEquals(first.choices[0].message.content, `${foreign} and ${VALUE}`);
  // What an earlier answer has left unrestored, such as the stream of another gateway.
  const [token = ""] = TOKEN.exec(gateway.sent[0] ?? "") ?? [];
  const again = gatewayOf(UP, () => completion({ content: `${foreign}, ${token}` }));
  const body = {
    model: "m",
    messages: [{ role: "user", content: `${VALUE} is ${foreign}` }, {
      role: "user",
      content: `who is ${token}?`,
    }],
  };
  const { choices: [{ message }] } = await again.post(CHAT, body);
  assert(again.sent[0]?.includes(`who is ${token}?`), again.sent[0]);
  assertEquals(message.content, `${foreign}, ${VALUE}`);
});

Deno.test("thinking that the gateway seals shows the value, and comes back to the provider as it wrote it", async () => {
  const gateway = gatewayOf(
    UP,
    (token) =>
      completion({
        content: null,
        reasoning_content: `I must write to ${token}.`,
        tool_calls: [{
          id: "call_1",
          type: "function",
          function: { name: "mail", arguments: JSON.stringify({ to: token }) },
        }],
      }),
  );
  const request = {
    model: "m",
    max_tokens: 999,
    thinking: { type: "enabled", budget_tokens: 500 },
    tools: [{ name: "mail", input_schema: { type: "object" } }],
  };
  const user = { role: "user", content: `Mail ${VALUE}` };
  const { content } = await gateway.post("/v1/messages", { ...request, messages: [user] });
  const thinking = content.find(({ type }: { type: string }) => type === "thinking");
  assertEquals(thinking.thinking, `I must write to ${VALUE}.`);
  const call = content.find(({ type }: { type: string }) => type === "tool_use");
  assertEquals(call.input, { to: VALUE });
  const result = { type: "tool_result", tool_use_id: call.id, content: `sent to ${VALUE}` };
  await gateway.post("/v1/messages", {
    ...request,
    messages: [user, { role: "assistant", content }, { role: "user", content: [result] }],
  });
  const [first = "", second = ""] = gateway.sent;
  const [token = ""] = TOKEN.exec(first) ?? [];
  assert(second.includes(`I must write to ${token}.`), second);
  assert(!second.includes("bob.miller"), second);
  assertEquals(second.split(token).length - 1, 4, second);
});

Deno.test("thinking that was sealed before there were rules is sent with tokens, also if its client has shown none of it", async () => {
  const gateway = gatewayOf(UP, () => completion({ content: "yes" }));
  const texts = [`write "it" to ${VALUE}`, "and then\n" + VALUE];
  const seal = sealThinking(texts.map((text) => ({ type: "reasoning_text", text })));
  await gateway.post("/v1/messages", {
    model: "m",
    max_tokens: 99,
    messages: [
      { role: "user", content: `I am ${VALUE}` },
      { role: "assistant", content: [{ type: "thinking", thinking: "", signature: seal }] },
      { role: "user", content: "Go on" },
    ],
  });
  await gateway.post("/v1/responses", {
    model: "m",
    input: [
      { role: "user", content: `I am ${VALUE}` },
      { type: "reasoning", summary: [], encrypted_content: seal },
      { role: "assistant", content: "yes" },
      { role: "user", content: "Go on" },
    ],
  });
  assertEquals(gateway.sent.length, 2);
  for (const body of gateway.sent) {
    const [token = ""] = TOKEN.exec(body) ?? [];
    const [, { reasoning_content }] = JSON.parse(body).messages;
    assertEquals(reasoning_content, texts.join("").replaceAll(VALUE, token));
  }
});

Deno.test("thinking with the signature of its provider is delivered and sent back byte for byte", async () => {
  const config = `
providers: {up: {type: messages, base_url: "http://up.test", api_key: sk-x}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
${RULES}`;
  const signed = (token: string) => ({
    type: "thinking",
    thinking: `write to ${token}`,
    signature: btoa(`signature of ${token} ${"x".repeat(60)}`),
  });
  const gateway = gatewayOf(config, (token) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [signed(token), { type: "text", text: `to ${token}` }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 4 },
  }));
  const user = { role: "user", content: `Mail ${VALUE}` };
  const request = { model: "m", max_tokens: 999 };
  const { content } = await gateway.post("/v1/messages", { ...request, messages: [user] });
  const [token = ""] = TOKEN.exec(gateway.sent[0] ?? "") ?? [];
  assertEquals(content, [signed(token), { type: "text", text: `to ${VALUE}` }]);
  await gateway.post("/v1/messages", {
    ...request,
    messages: [user, { role: "assistant", content }, { role: "user", content: "Go on" }],
  });
  assert(gateway.sent[1]?.includes(JSON.stringify(signed(token))), gateway.sent[1]);
  assert(!gateway.sent[1]?.includes("bob.miller"), gateway.sent[1]);
});

Deno.test("log probabilities are left out and named if a rule masks answers, and only then", async () => {
  const content = ["jane", "@example.org"].map((token) => ({ token, logprob: -1 }));
  const answer = () => {
    const { choices: [choice], ...rest } = completion({ content: "to jane@example.org" });
    return { ...rest, choices: [{ ...choice, logprobs: { content } }] };
  };
  for (const action of ["mask", "monitor"]) {
    const rule = `find: [email], phase: response, action: ${action}`;
    const { app } = gatewayOf(oneProvider("http://up.test") + privacyConfig([rule]), answer);
    const body = JSON.stringify({ ...chat("Hi"), logprobs: true });
    const response = await app(new Request(`http://gateway.test${CHAT}`, { method: "POST", body }));
    const [choice] = (await response.json()).choices;
    assertEquals(
      [choice.logprobs, choice.message.content, response.headers.get("x-gateway-lossy")],
      action === "mask"
        ? [null, "to [email]", "logprobs"]
        : [{ content }, "to jane@example.org", null],
    );
  }
});

Deno.test("a citation in a Messages stream cites the document of the client, also if its values were masked", async () => {
  const data = "I am bob.miller@example.com and so on";
  const cited = { type: "char_location", document_index: 0, cited_text: "and so on" };
  const events = [
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        usage: { input_tokens: 3, output_tokens: 1 },
      },
    },
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "text", text: "", citations: [] },
    },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Well" } },
    {
      type: "content_block_delta",
      index: 0,
      delta: {
        type: "citations_delta",
        citation: { ...cited, start_char_index: 13, end_char_index: 22 },
      },
    },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 4 },
    },
    { type: "message_stop" },
  ];
  const sent: string[] = [];
  const fetch: Fetch = async (_url, { body }) => {
    sent.push(await new Response(body ?? "").text());
    const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    return new Response(streamOf([new TextEncoder().encode(text.join(""))]), {
      headers: { "content-type": "text/event-stream" },
    });
  };
  const { app } = testGateway(
    `
providers: {up: {type: messages, base_url: "http://up.test", api_key: sk-x}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
${privacyConfig(["find: [email], action: mask"])}`,
    scriptedWorld({ fetch }),
  );
  const source = { type: "text", media_type: "text/plain", data };
  const content = [{ type: "document", source, citations: { enabled: true } }, {
    type: "text",
    text: "Who?",
  }];
  const request = {
    model: "m",
    max_tokens: 9,
    stream: true,
    messages: [{ role: "user", content }],
  };
  const response = await app(
    new Request("http://gateway.test/v1/messages", {
      method: "POST",
      body: JSON.stringify(request),
    }),
  );
  const text = await response.text();
  assert(sent[0]?.includes("I am [email] and so on"), sent[0]);
  const [, found = ""] = /"citation":(\{[^}]*\})/.exec(text) ?? [];
  const { start_char_index, end_char_index } = JSON.parse(found);
  assertEquals(data.slice(start_char_index, end_char_index), "and so on");
});
