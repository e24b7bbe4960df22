import { Buffer } from "node:buffer";
import { assertEquals } from "../../support/assert.ts";
import { assertFailed, valueOf, type Written } from "../../support/translated.ts";
import { encodeMessages } from "./encoded_request.ts";

function sent(part: Written): unknown {
  return valueOf(encodeMessages([{ role: "user", content: [part] }])).messages;
}

function assertSent(part: Written, block: Written): void {
  assertEquals<unknown>(sent(part), [{ role: "user", content: [block] }]);
}

function assertRefused(part: Written, path: string, kind?: "invalid_value"): void {
  const refused = encodeMessages([{ role: "user", content: [part] }]);
  assertFailed(refused, kind ?? "unsupported_feature", `messages[0].content[0].${path}`);
}

function image(url: string, members: Written = {}): Written {
  return { type: "image_url", image_url: { url, ...members } };
}

function file(members: Written): Written {
  return { type: "file", file: members };
}

function base64(media_type: string, data: string): Written {
  return { type: "image", source: { type: "base64", media_type, data } };
}

const IMAGES: readonly [url: string, block: Written][] = [
  ["data:image/png;base64,aGk=", base64("image/png", "aGk=")],
  ["data:image/jpg;base64,aGk=", base64("image/jpeg", "aGk=")],
  ["DATA:Image/WebP;name=a.webp;BASE64,aGk=", base64("image/webp", "aGk=")],
  ["data:image/gif;base64,aG\r\nk=\n", base64("image/gif", "aGk=")],
  ["data:image/png;base64,-_-_", base64("image/png", "+/+/")],
  ["data:image/png;base64,aGk", base64("image/png", "aGk=")],
];

Deno.test("images in data URLs are sent as base64 data", () => {
  for (const [url, block] of IMAGES) assertSent(image(url), block);
});

Deno.test("images on the web are sent as URLs", () => {
  for (const url of ["https://a.test/b.png?c,d", "HTTP://a.test/"]) {
    assertSent(image(url, { detail: "high" }), { type: "image", source: { type: "url", url } });
  }
});

Deno.test("images that cannot be translated are refused", () => {
  const urls = [
    "data:image/png,%89PNG",
    "data:image/svg+xml;base64,aGk=",
    "data:;base64,aGk=",
    "data:image/png;base64",
    "ftp://a.test/b.png",
    "",
  ];
  for (const url of urls) assertRefused(image(url), "image_url.url");
  for (const data of ["", "a", "a%2B=", "a=b="]) {
    assertRefused(image(`data:image/png;base64,${data}`), "image_url.url", "invalid_value");
  }
  const url = "https://a.test/b.png";
  assertRefused(image(url, { detail: "low" }), "image_url.detail");
  assertRefused(image(url, { other: 1 }), "image_url.other");
});

Deno.test("files are sent as documents", () => {
  assertSent(file({ file_data: "data:application/pdf;base64,aGk=", filename: "a.pdf" }), {
    type: "document",
    source: { type: "base64", media_type: "application/pdf", data: "aGk=" },
    title: "a.pdf",
  });
  const text = Buffer.from("é\n").toString("base64");
  for (const charset of ["", ";charset=UTF-8"]) {
    assertSent(file({ file_data: `data:text/plain${charset};base64,${text}` }), {
      type: "document",
      source: { type: "text", media_type: "text/plain", data: "é\n" },
    });
  }
});

Deno.test("files that cannot be translated are refused", () => {
  assertRefused(file({ file_id: "file-1" }), "file.file_id");
  assertRefused(file({ file_data: "data:text/csv;base64,aGk=" }), "file.file_data");
  assertRefused(
    file({ file_data: "data:text/plain;charset=latin1;base64,aGk=" }),
    "file.file_data",
  );
  assertRefused(file({ file_data: "aGk=" }), "file.file_data");
  assertRefused(
    file({ file_data: "data:text/plain;base64,/w==" }),
    "file.file_data",
    "invalid_value",
  );
});

Deno.test("cache_control of a part stays on its block, and of a message moves to its last block", () => {
  const cache_control = { type: "ephemeral", ttl: "5m" };
  const a = { type: "text", text: "a" };
  const b = { type: "text", text: "b" };
  assertSent({ ...a, cache_control }, { ...a, cache_control });
  const messages = [
    { role: "user", content: [a, b], cache_control },
    { role: "assistant", tool_calls: [{ id: "c", function: { name: "f", arguments: "" } }] },
    { role: "tool", tool_call_id: "c", content: "1", cache_control },
  ];
  assertEquals<unknown>(valueOf(encodeMessages(messages)).messages, [
    { role: "user", content: [a, { ...b, cache_control }] },
    { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: {} }] },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "c", content: "1", cache_control }],
    },
  ]);
  assertRefused({ ...a, cache_control: { type: "persistent" } }, "cache_control.type");
  assertRefused({ ...a, cache_control: { type: "ephemeral", ttl: "9d" } }, "cache_control.ttl");
  assertRefused({ ...a, cache_control: { type: "ephemeral", scope: 1 } }, "cache_control.scope");
  assertRefused({ type: "text", text: "", cache_control }, "cache_control");
  assertSent({ ...a, prompt_cache_breakpoint: {} }, a);
});

Deno.test("a tool result may contain texts and images", () => {
  const content = [{ type: "text", text: "seen" }, image("data:image/png;base64,aGk=")];
  const messages = [
    { role: "user", content: "Look." },
    { role: "assistant", tool_calls: [{ id: "c", function: { name: "f", arguments: "" } }] },
    { role: "tool", tool_call_id: "c", content },
  ];
  assertEquals<unknown>(valueOf(encodeMessages(messages)).messages, [
    { role: "user", content: "Look." },
    { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: {} }] },
    {
      role: "user",
      content: [{
        type: "tool_result",
        tool_use_id: "c",
        content: [{ type: "text", text: "seen" }, base64("image/png", "aGk=")],
      }],
    },
  ]);
});
