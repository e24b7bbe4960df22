import { USUAL_KEY_PLACE } from "../../src/config/security_schema.ts";
import { recordCurl } from "../../src/record/curl.ts";
import { visible } from "../../src/admin/page/visible.js";
import { assert, assertEquals } from "../support/assert.ts";
import { newRecord } from "../support/records.ts";

/** Runs a command with `sh`, in which `curl` prints its arguments and what it reads. */
async function run(command: string): Promise<readonly [args: string, body: string]> {
  const folder = await Deno.makeTempDir();
  try {
    const script = '#!/bin/sh\nfor one; do printf "%s\\n" "$one"; done > args\ncat > body\n';
    await Deno.writeTextFile(`${folder}/curl`, script, { mode: 0o755 });
    await Deno.writeTextFile(`${folder}/command`, command);
    const { success } = await new Deno.Command("sh", {
      args: ["command"],
      cwd: folder,
      env: {
        PATH: `${folder}:${Deno.env.get("PATH")}`,
        SWITCHYARD_KEY: "the-key",
        SWITCHYARD_URL: "http://the.host:1",
      },
    }).output();
    assert(success);
    return [await Deno.readTextFile(`${folder}/args`), await Deno.readTextFile(`${folder}/body`)];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function at(gatewayUrl: string, keyPlace: { header: string; prefix: string } = USUAL_KEY_PLACE) {
  return { gatewayUrl, keyPlace };
}

const BODIES: readonly string[] = [
  '{"model":"m","messages":[]}',
  `{"a":"it's $HOME \`id\` \\"quoted\\" \\u0000 !!"}`,
  '{"a":1}\n',
  'JSON\n{"a":"\nJSON\nJSON_1\n"}\n\n',
  `{"a":"${"é😀 \r\t\\\\".repeat(150_000)}"}`,
];

Deno.test("the printed command repeats the request byte for byte, and has no secret", async () => {
  for (const body of BODIES) {
    const headers = { "content-type": "application/json", "x-team": "it's $blue" };
    const record = newRecord({
      head: { path: "/v1/messages", stream: true },
      request: { headers, query: "beta=true", body },
    });
    const command = recordCurl(record, at("http://127.0.0.1:8080")) ?? "";
    const [args, sent] = await run(command);
    assertEquals(sent === body, true, body.slice(0, 40));
    assertEquals(args.split("\n"), [
      "-gsSN",
      "http://127.0.0.1:8080/v1/messages?beta=true",
      "-H",
      "Authorization: Bearer the-key",
      "-H",
      "Content-Type: application/json",
      "-H",
      "x-team: it's $blue",
      "--data-binary",
      "@-",
      "",
    ]);
  }
});

Deno.test("where the address of the gateway is not known, the command takes it from a variable", async () => {
  const command = recordCurl(newRecord({ head: { path: "/v1/it's" } }), at("")) ?? "";
  const [args] = await run(command);
  assertEquals(args.split("\n")[1], "http://the.host:1/v1/it's");
});

Deno.test("a body with hidden characters is sent byte for byte by a command that has none of them", async () => {
  const headers = { "x-empty": "", "x-hostile": "a\u009b31m", "x-gateway-tag": "a" };
  for (const one of "\u001b\r\u007f\u009b\u202e\u200b\u00ad\u{e0041}\ufeff\u2800") {
    const body = `{"a":"é${one}[201~\n`;
    const command = recordCurl(newRecord({ request: { headers, body } }), at("http://a")) ?? "";
    assertEquals(visible(command), command);
    const [args, sent] = await run(command);
    assertEquals(sent, body);
    const own = args.split("\n").filter((arg) => arg.startsWith("x-"));
    assertEquals(own, ["x-empty;", "x-gateway-tag: a"]);
  }
});

Deno.test("a record without a body has no command", () => {
  assertEquals(recordCurl(newRecord({ request: { body: null } }), at("http://a")), null);
});

Deno.test("the command sends the key where the gateway takes it from", async () => {
  for (
    const [prefix, field] of [["", "X-Own-Key: the-key"], [
      "Key",
      "X-Own-Key: Key the-key",
    ]] as const
  ) {
    const place = at("http://a", { header: "X-Own-Key", prefix });
    const [args] = await run(recordCurl(newRecord(), place) ?? "");
    assertEquals(args.split("\n").filter((one) => one.endsWith("the-key")), [field]);
  }
});

Deno.test("there is no command for a request that was cut, which it could not repeat", () => {
  const commandOf = (cut: string[]) => recordCurl(newRecord({ head: { cut } }), at("http://a"));
  assertEquals([commandOf(["request", "response"]), commandOf(["response"]) === null], [
    null,
    false,
  ]);
});

Deno.test("a body that has the ends of all texts as its lines gets another one", () => {
  const record = (body: string) =>
    newRecord({ head: { path: "/v1/messages", stream: true }, request: { headers: {}, body } });
  const lines = ["JSON", ...Array.from({ length: 20_000 }, (_, at) => `JSON_${at + 1}`)];
  const body = `${lines.join("\n")}\n`;
  const command = recordCurl(record(body), at("http://127.0.0.1:8080")) ?? "";
  assert(command.includes("<<'JSON_20001'"), command.slice(0, 400));
  const other = recordCurl(record("JSON_1\nmy JSON\n"), at("http://127.0.0.1:8080")) ?? "";
  assert(other.includes("'JSON'"), other);
});
