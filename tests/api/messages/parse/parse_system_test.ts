import type { JsonObject, JsonValue } from "../../../../src/core/json/json.ts";
import { assertEquals } from "../../../support/assert.ts";
import { valueOf } from "../../../support/translated.ts";
import {
  encodeFor,
  messagesOf,
  refusalOf,
  TRANSLATED,
  translateFields,
  translateMessages,
} from "../translated.ts";

const USER = { role: "user", content: "hi" };
const BILLING = "x-anthropic-billing-header: cc_version=2.1.330; cc_entrypoint=cli;";

function text(value: string): JsonObject {
  return { type: "text", text: value };
}

/** The content of the leading system message. */
function leading(system: JsonValue, messages: JsonValue[] = [USER]): JsonValue {
  const [first] = messagesOf(messages, "compat", { system });
  return first?.role === "system" ? first.content ?? null : null;
}

Deno.test("system is one leading system message: a text for one block, parts for several", () => {
  assertEquals(leading("S"), "S");
  assertEquals(leading([text("S")]), "S");
  assertEquals(leading([text("S"), text("T")]), [text("S"), text("T")]);
});

Deno.test("empty system blocks are left out, and an empty system is no message", () => {
  assertEquals(leading([text(""), text("S"), text("")]), "S");
  for (const empty of ["", [], [text("")], null]) assertEquals(leading(empty), null);
});

Deno.test("the parts of system are joined without glue for a local runtime", () => {
  const sent = JSON.parse(valueOf(encodeFor({ system: [text("S"), text("T")] }, "local")).text);
  assertEquals(sent.messages[0], { role: "system", content: "ST" });
});

Deno.test("system blocks of another type, or with an unknown member, are refused by their path", () => {
  const at = (block: JsonObject) => refusalOf(translateFields({ system: [text("S"), block] }));
  assertEquals(at({ type: "image" }), [
    "unsupported_feature",
    "system.1",
    "system.1: Input tag 'image' found using 'type' does not match any of the expected tags: 'text'",
  ]);
  assertEquals(at({ type: "text", text: "a", extra: 1 })[1], "system.1.extra");
  assertEquals(at({ type: "text" })[2], "system.1.text: Field required");
  assertEquals(refusalOf(translateFields({ system: 1 }))[1], "system");
});

Deno.test("the billing block is cut out of system for every translated target", () => {
  assertEquals(leading([text(BILLING), text("S"), text("T")]), [text("S"), text("T")]);
  assertEquals(leading([text(`${BILLING}\n`), text("S")]), "S");
  assertEquals(leading([text(BILLING)]), null);
  assertEquals(leading(BILLING), null);
});

Deno.test("where the billing header is a line of a longer block, only that line is cut out", () => {
  assertEquals(leading([text(`You are\n${BILLING}\nhelpful`)]), "You are\nhelpful");
  assertEquals(leading([text(`${BILLING}\nS`), text("T")]), [text("S"), text("T")]);
});

Deno.test("only the first billing block is cut out, and the words inside a line stay", () => {
  assertEquals(leading([text(BILLING), text(BILLING)]), BILLING);
  assertEquals(leading([text(`see ${BILLING}`)]), `see ${BILLING}`);
  assertEquals(messagesOf([{ role: "user", content: BILLING }]), [{
    role: "user",
    content: BILLING,
  }]);
});

Deno.test("requests that differ only in the billing block send equal bytes upstream", () => {
  for (const wire of TRANSLATED) {
    const [a, b] = ["1; a=x;", "2; b=yy;"].map((value) =>
      valueOf(
        encodeFor({ system: [text(`x-anthropic-billing-header: ${value}`), text("S")] }, wire),
      )
    );
    assertEquals(a, b);
  }
});

Deno.test("a system message in the dialogue stays in its place", () => {
  assertEquals(
    messagesOf([USER, { role: "system", content: "S" }, { role: "assistant", content: "A" }, USER]),
    [USER, { role: "system", content: "S" }, { role: "assistant", content: "A" }, USER],
  );
});

Deno.test("a request may end with a system message, also behind an assistant message", () => {
  const last = { role: "system", content: [text("left: 9"), text("!")] };
  assertEquals(messagesOf([USER, last]), [USER, last]);
  assertEquals(messagesOf([USER, { role: "assistant", content: "A" }, last]).at(-1), last);
});

Deno.test("a system message before the first user message joins the leading system message", () => {
  const early = { role: "system", content: "E" };
  assertEquals(leading("S", [early, USER]), [text("S"), text("E")]);
  assertEquals(messagesOf([early, USER]), [early, USER]);
  assertEquals(
    messagesOf([{ role: "assistant", content: "A" }, early, USER])[0]?.role,
    "assistant",
  );
});

Deno.test("a system message between calls and their results moves behind the results", () => {
  const call = { type: "tool_use", id: "t", name: "f", input: {} };
  const made = messagesOf([
    USER,
    { role: "assistant", content: [call] },
    { role: "system", content: "S" },
    {
      role: "user",
      content: [text("more"), { type: "tool_result", tool_use_id: "t", content: "R" }],
    },
  ]);
  assertEquals(made.map(({ role, content }) => [role, content]), [
    ["user", "hi"],
    ["assistant", null],
    ["tool", "R"],
    ["system", "S"],
    ["user", "more"],
  ]);
});

Deno.test("a system message without text only sets its effort", () => {
  const empty = { role: "system", content: "", output_config: { effort: "low" } };
  assertEquals(messagesOf([USER, empty]), [USER]);
});

Deno.test("clear_at never or null asks for nothing; any other value is refused", () => {
  for (const clear_at of [null, "never"]) {
    assertEquals(messagesOf([USER, { role: "system", content: "S", clear_at }]).length, 2);
  }
  assertEquals(
    refusalOf(translateMessages([USER, { role: "system", content: "S", clear_at: "turn" }]))[2],
    "messages.1.clear_at: Extra inputs are not permitted",
  );
});

Deno.test("tool_addition, tool_removal and unknown members of a system message are refused", () => {
  for (const type of ["tool_addition", "tool_removal"]) {
    assertEquals(
      refusalOf(translateMessages([USER, { role: "system", content: [{ type }] }])).slice(0, 2),
      ["unsupported_feature", "messages.1.content.0"],
    );
  }
  const config = { role: "system", content: "S", output_config: { format: {} } };
  assertEquals(
    refusalOf(translateMessages([USER, config]))[2],
    "messages.1.output_config.format: Extra inputs are not permitted",
  );
});

Deno.test("an unknown role is refused by its path", () => {
  assertEquals(
    refusalOf(translateMessages([{ role: "developer", content: "S" }, USER]))[2],
    "messages.0.role: Input should be 'user', 'assistant' or 'system'",
  );
});

Deno.test("with system messages in place, the messages of a turn are a prefix of those of the next turn", () => {
  const turns: JsonValue[] = [USER, { role: "system", content: "# Environment" }];
  const next: JsonValue[] = [
    ...turns,
    { role: "assistant", content: [text("A")] },
    { role: "user", content: "more" },
    { role: "system", content: "left: 5" },
  ];
  const before = messagesOf(turns, "compat", { system: "S" });
  assertEquals(messagesOf(next, "compat", { system: "S" }).slice(0, before.length), [...before]);
});
