import { assert, assertEquals } from "../../support/assert.ts";
import { isObject, type JsonValue } from "../../../src/core/json/json.ts";
import type { Result } from "../../../src/core/failure/result.ts";
import { assertFailed } from "../../support/translated.ts";
import { bodyOf, encodeFields } from "./target.ts";

function image(url: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { type: "image_url", image_url: { url, ...more } };
}

function encodeParts(...content: readonly unknown[]): Result<string> {
  return encodeFields({ messages: [{ role: "user", content }] });
}

function firstTurn(result: Result<string>): JsonValue | undefined {
  const body = bodyOf(result);
  assert(isObject(body) && Array.isArray(body.messages));
  return body.messages[0];
}

Deno.test("images are sent next to the text, in their order", () => {
  const parts = encodeParts(
    image("data:image/png;base64,QUJD"),
    { type: "text", text: "What" },
    image("data:image/jpeg;base64,REVG", { detail: "high" }),
    { type: "text", text: " is it?" },
  );
  assertEquals<unknown>(firstTurn(parts), {
    role: "user",
    content: "What is it?",
    images: ["QUJD", "REVG"],
  });
});

Deno.test("a tool result may contain an image", () => {
  const assistant = {
    role: "assistant",
    tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
  };
  const content = [image("data:image/png;base64,QUJD")];
  const body = bodyOf(
    encodeFields({ messages: [assistant, { role: "tool", tool_call_id: "c", content }] }),
  );
  assert(isObject(body) && Array.isArray(body.messages));
  assertEquals<unknown>(body.messages[1], {
    role: "tool",
    content: "",
    images: ["QUJD"],
    tool_name: "f",
    tool_call_id: "c",
  });
});

const DATA: readonly (readonly [url: string, sent: string])[] = [
  ["data:image/png;base64,QUI=", "QUI="],
  ["data:image/png;base64,QUI", "QUI="],
  ["data:image/png;base64,QQ==", "QQ=="],
  ["DATA:image/png;name=a.png;BASE64,QUJD", "QUJD"],
  ["data:;base64,QU\r\n JD\t", "QUJD"],
  ["data:image/png;base64,-_-_", "+/+/"],
];

Deno.test("image data is sent as standard base64 with padding", () => {
  for (const [url, sent] of DATA) {
    assertEquals<unknown>(firstTurn(encodeParts(image(url))), {
      role: "user",
      content: "",
      images: [sent],
    });
  }
});

Deno.test("an image of several megabytes is sent", () => {
  const data = "QUJD".repeat(2_000_000);
  assertEquals<unknown>(firstTurn(encodeParts(image(`data:image/png;base64,${data}`))), {
    role: "user",
    content: "",
    images: [data],
  });
});

Deno.test("images that the runtime does not support are refused with their path", () => {
  const path = "messages[0].content[0].image_url";
  for (const url of ["https://x.test/a.png", "http://x", "data:image/svg+xml,%3Csvg%3E", "QUJD"]) {
    assertFailed(encodeParts(image(url)), "unsupported_feature", `${path}.url`);
  }
  for (const data of ["", "A", "QUJD!", "Q=JD", "==="]) {
    const url = `data:image/png;base64,${data}`;
    assertFailed(encodeParts(image(url)), "invalid_value", `${path}.url`);
  }
  const url = "data:image/png;base64,QUJD";
  assertFailed(encodeParts(image(url, { detail: "low" })), "unsupported_feature", `${path}.detail`);
  assertFailed(encodeParts(image(url, { more: 1 })), "unsupported_feature", `${path}.more`);
  assertFailed(encodeParts({ type: "image_url" }), "missing_required_parameter", path);
});
