import { curlText, firstModel, gatewayUrl, quoted } from "../../../src/admin/page/curl.js";
import { visible } from "../../../src/admin/page/visible.js";
import { BUSY } from "../../support/admin_snapshots.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const BEARER = { name: "Authorization", prefix: "Bearer" };

/** Returns the arguments that a shell passes to the program of a command. */
async function wordsOf(command: string): Promise<readonly string[]> {
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", `curl() { printf '%s\\0' "$@"; }; SWITCHYARD_KEY=key-of-a; ${command}`],
  }).output();
  return new TextDecoder().decode(stdout).split("\0").slice(0, -1);
}

Deno.test("a gateway on all addresses is shown at the host of the page", () => {
  const at = (url: string) => gatewayUrl({ gatewayUrl: url }, { hostname: "10.1.2.3" });
  assertEquals(at("http://0.0.0.0:8080"), "http://10.1.2.3:8080");
  assertEquals(at("http://[::]:8080"), "http://10.1.2.3:8080");
  assertEquals(at("http://127.0.0.1:8080"), "http://127.0.0.1:8080");
});

Deno.test("a gateway on the IPv6 loopback address is shown as localhost, which the content policy can name", () => {
  const at = (url: string, hostname: string) => gatewayUrl({ gatewayUrl: url }, { hostname });
  assertEquals(at("http://[::1]:8080", "[::1]"), "http://localhost:8080");
  assertEquals(at("http://[::]:8080", "[::1]"), "http://localhost:8080");
});

Deno.test("the command of a call is safe in a shell, and has a variable in place of the key", async () => {
  const content = `it's "$HOME" \`id\` \\ $(id)\n!`;
  const text = curlText({
    url: "http://127.0.0.1:8080/'; id; '",
    keyHeader: BEARER,
    body: { model: "gpt", messages: [{ role: "user", content }] },
  });
  const words = await wordsOf(text);
  assertEquals(words[0], "http://127.0.0.1:8080/'; id; '/v1/chat/completions");
  assert(words.includes("Authorization: Bearer key-of-a"));
  assertEquals(JSON.parse(words.at(-1) ?? "").messages[0].content, content);
  assertEquals(quoted("a'b"), `'a'\\''b'`);
});

Deno.test("the command as the page shows it sends the same text, with hidden characters too", () => {
  const content =
    "England \u{1f3f4}\u{e0067}\u{e007f}, \u845b\u{e0100}, \u202ertl, zero\u200bwidth, \\u202e";
  const shown = visible(
    curlText({ url: "http://127.0.0.1:8080", keyHeader: null, body: { content } }),
  );
  assertEquals(JSON.parse(/'(\{.*\})'$/s.exec(shown)?.[1] ?? "").content, content);
  assertEquals(shown.includes("\u{e0067}"), false);
});

Deno.test("the command of a call sends the key in the header of the configuration", async () => {
  const url = "http://127.0.0.1:8080";
  for (
    const [keyHeader, header] of [
      [{ name: "X-My-Key", prefix: "Token" }, "X-My-Key: Token key-of-a"],
      [{ name: "X-My-Key", prefix: "" }, "X-My-Key: key-of-a"],
      [{ name: "X-`id`", prefix: '$HOME"\\' }, 'X-`id`: $HOME"\\ key-of-a'],
    ] as const
  ) {
    const words = await wordsOf(curlText({ url, keyHeader, body: {} }));
    assertEquals(words[words.indexOf("-H") + 1], header);
  }
});

Deno.test("an example call names the model of the snapshot, else leaves it to the route", () => {
  assertEquals(firstModel(BUSY), "openai/gpt-4o-mini");
  assertEquals(firstModel({ exampleModel: null }), "auto");
});
