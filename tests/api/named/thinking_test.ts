import { assertEquals } from "../../support/assert.ts";
import { nativeGateway } from "../../support/native_gateway.ts";
import { answerOf, type Kind, namedFile, namedGateway } from "./named_gateway.ts";

const MESSAGES = [{ role: "user", content: "Hi" }];

const MEMBER =
  "parameters: {effort: high, temperature: 0.5, top_p: 0.5, top_k: 5, max_tokens: 9000}";

/** Returns the upstream request of a client request with these members. */
async function sent(kind: Kind, path: string, more: object, member = MEMBER) {
  const { post, requests } = namedGateway(kind, member);
  const reply = await post(path, { model: "coder", messages: MESSAGES, ...more });
  assertEquals([kind, reply.status], [kind, 200], reply.text);
  return requests[0]?.json ?? {};
}

const ENABLED = { thinking: { type: "enabled", budget_tokens: 2000 } };

Deno.test("thinking of a translated request excludes sampling over the Messages API only", async () => {
  const file = namedFile("{adaptive_thinking: true, reasoning_effort: true}", MEMBER, "");
  const over = nativeGateway(
    file.replace("type: compat", "type: messages"),
    () => answerOf("messages", false),
  );
  const adaptive = { model: "coder", messages: MESSAGES, thinking: { type: "adaptive" } };
  const reply = await over.post("/chat/completions", adaptive);
  assertEquals(reply.status, 200, reply.text);
  const messages = over.requests[0]?.json ?? {};
  assertEquals(
    [messages.temperature, messages.top_p, messages.top_k],
    [undefined, undefined, undefined],
  );
  const local = await sent("local", "/messages", { ...ENABLED, max_tokens: 4000 });
  const { temperature, top_p, top_k } = Object(local.options);
  assertEquals([temperature, top_p, top_k], [0.5, 0.5, 5]);
});

Deno.test("disabled thinking of a translated request excludes effort", async () => {
  const off = { thinking: { type: "disabled" } };
  const { output_config, temperature } = await sent("messages", "/chat/completions", off);
  assertEquals([output_config, temperature], [undefined, 0.5]);
});

Deno.test("the older limit of a translated chat request wins over max_tokens of a named model", async () => {
  const { max_tokens } = await sent("messages", "/chat/completions", { max_tokens: 50 });
  assertEquals(max_tokens, 50);
});

Deno.test("instructions without a dialogue stay before those of a named model", async () => {
  const messages = [{ role: "system", content: "Mine." }];
  const { messages: texts } = await sent(
    "local",
    "/chat/completions",
    { messages },
    "system: Answer.",
  );
  assertEquals(
    Array.isArray(texts) && texts.map((one) => Object(one).content),
    ["Mine.", "Answer."],
  );
});
