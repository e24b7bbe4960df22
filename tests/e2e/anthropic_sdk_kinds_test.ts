import Anthropic from "@anthropic-ai/sdk";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { startAnthropicSdk, TRANSLATED } from "./anthropic_sdk.ts";
import { errorOf } from "./sdk.ts";

type Param = Anthropic.MessageParam;

/** Every kind of upstream: those that are translated, and the API itself. */
const KINDS = [...TRANSLATED, "messages"] as const;
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGM4IWcjd8KGQc7mxK9fv" +
  "wAjIgZV9SkH8QAAAABJRU5ErkJggg==";

const CITY = { type: "object" as const, properties: { city: { type: "string" } } };
const TOOLS: Anthropic.Tool[] = ["weather", "clock", "news"].map((name) => ({
  name,
  input_schema: CITY,
}));

function user(content: Param["content"]): Param {
  return { role: "user", content };
}

function planned(...turns: readonly unknown[]): Param {
  return user(`sim-plan: ${JSON.stringify(turns)}`);
}

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => block.type === "text" ? block.text : "").join("");
}

/** Both ways to request a message. */
function senders({ messages }: Anthropic) {
  type Body = Anthropic.MessageCreateParamsNonStreaming;
  return [
    (body: Body) => messages.create(body),
    (body: Body) => messages.stream(body).finalMessage(),
  ];
}

for (const kind of KINDS) {
  Deno.test(`the Anthropic SDK over ${kind}: a loop of three parallel tools with thinking, one of which fails`, async () => {
    await using sdk = startAnthropicSdk(kind);
    const call = TOOLS.map(({ name }, at) => ({ name, input: { city: `city ${at}` } }));
    const plan = planned({ think: "Three tools.", say: "I look.", call }, "All three said it.");
    for (const send of senders(sdk.client)) {
      const common = {
        model: "sim-plan",
        max_tokens: 4096,
        tools: TOOLS,
        thinking: { type: "adaptive" as const },
      };
      const first = await send({ ...common, messages: [plan] });
      assertEquals(first.content.map(({ type }) => type), [
        "thinking",
        "text",
        "tool_use",
        "tool_use",
        "tool_use",
      ]);
      assertEquals(first.stop_reason, "tool_use");
      const calls = first.content.filter((block) => block.type === "tool_use");
      assertEquals(calls.map(({ name, input }) => ({ name, input })), call);
      assertEquals(new Set(calls.map(({ id }) => id)).size, 3);
      const results = calls.map(({ id }, at) => ({
        type: "tool_result" as const,
        tool_use_id: id,
        content: `result ${at}`,
        ...at === 1 && { is_error: true },
      }));
      const turn: Param = { role: "assistant", content: first.content };
      // Clients may send results in the order in which the tools have ended.
      const second = await send({
        ...common,
        messages: [plan, turn, user(results.toReversed())],
      });
      assertEquals(textOf(second), "All three said it.");
      const arrived = sdk.sent.at(-1)?.body ?? "";
      for (const { content } of results) assert(arrived.includes(content), arrived);
    }
  });

  Deno.test(`the Anthropic SDK over ${kind}: thinking has a text and a signature, before the answer`, async () => {
    await using sdk = startAnthropicSdk(kind);
    for (const send of senders(sdk.client)) {
      const { content } = await send({
        model: "sim-think",
        max_tokens: 4096,
        thinking: { type: "adaptive" },
        output_config: { effort: "low" },
        messages: [user("good day")],
      });
      const [thinking, text] = content;
      assert(thinking?.type === "thinking" && text?.type === "text", JSON.stringify(content));
      assertEquals([thinking.thinking, text.text], ["The user says: good day", "good day"]);
      assertEquals(/^switchyard1\./.test(thinking.signature), kind !== "messages");
      assert(thinking.signature !== "");
    }
  });

  Deno.test(`the Anthropic SDK over ${kind}: an image arrives with its bytes, also in the result of a tool`, async () => {
    await using sdk = startAnthropicSdk(kind);
    const image: Anthropic.ImageBlockParam = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: PNG },
    };
    const shown = /\[image\/png, 79 bytes, [0-9a-f]+\]/;
    const text = { type: "text" as const, text: "What is it?" };
    for (const send of senders(sdk.client)) {
      const body = { model: "sim-transcript", max_tokens: 1000, tools: TOOLS };
      assertMatch(textOf(await send({ ...body, messages: [user([text, image])] })), shown);
      const message = await send({
        ...body,
        messages: [
          user("Look."),
          {
            role: "assistant",
            content: [{ type: "tool_use", id: "t1", name: "weather", input: {} }],
          },
          user([{ type: "tool_result", tool_use_id: "t1", content: [image] }]),
        ],
      });
      assert(textOf(message) !== "");
      assert(sdk.sent.at(-1)?.body.includes(PNG));
    }
  });

  Deno.test(`the Anthropic SDK over ${kind}: errors have their class, type and request ID; a refusal and a cut stream are reported`, async () => {
    await using sdk = startAnthropicSdk(kind);
    const [create = sdk.client.messages.create, stream = create] = senders(sdk.client);
    const messages = [user("good day")];
    const failed = (model: string) => errorOf(create({ model, max_tokens: 100, messages }));
    const wrong = await failed("sim-error-400");
    assert(wrong instanceof Anthropic.BadRequestError, String(wrong));
    assertEquals(wrong.type, "invalid_request_error");
    assert(wrong.requestID !== null && wrong.requestID !== undefined);
    assert(await failed("sim-nowhere") instanceof Anthropic.NotFoundError);
    assert(await failed("sim-error-429") instanceof Anthropic.RateLimitError);
    assert(await failed("sim-error-529") instanceof Anthropic.InternalServerError);
    const refusal = planned({ say: "No.", end: "refusal" });
    for (const send of [create, stream]) {
      const refused = await send({ model: "sim-plan", max_tokens: 100, messages: [refusal] });
      // A local runtime has no refusals: what it says is text.
      const isText = kind === "local";
      assertEquals(refused.stop_reason, isText ? "end_turn" : "refusal");
      assertEquals(isText ? textOf(refused) : refused.stop_details?.explanation, "No.");
    }
    const cut = await errorOf(
      stream({ model: "sim-broken-stream", max_tokens: 100, messages }),
    );
    assert(cut instanceof Anthropic.APIError, String(cut));
  });
}
