import { parseConfig } from "../../src/config/load.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { got } from "../support/chat_call.ts";
import { oneProvider, testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { ran } from "./test_terminal.ts";

/** The secret and the lines for the file that the command prints. */
async function newKey(name: string) {
  const { code, out, err } = await ran(["key", "new", name]);
  assertEquals([code, err], [0, ""]);
  const [secret = ""] = /syk_\S+/.exec(out) ?? [];
  const lines = out.slice(out.indexOf("security:"));
  return { secret, lines };
}

Deno.test("the lines of a new key load, and its secret authenticates with the name", async () => {
  for (const name of ["team-a", "Team A: blue", "true", "7", '"', "ä"]) {
    const { secret, lines } = await newKey(name);
    const { app, reports } = testGateway(lines + oneProvider("http://up"), scriptedWorld());
    const headers = { authorization: `Bearer ${secret}` };
    assertEquals(
      (await got(await app(new Request("http://x/v1/nowhere", { headers })))).status,
      404,
    );
    assertEquals(reports[0]?.client, name);
  }
});

Deno.test("a new key has 32 random bytes behind its prefix, and the lines hold only its digest", async () => {
  const first = await newKey("a"), second = await newKey("a");
  for (const { secret, lines } of [first, second]) {
    assert(/^syk_[A-Za-z0-9_-]{43}$/.test(secret), secret);
    assert(!lines.includes(secret.slice(4)));
    const parsed = parseConfig(lines + oneProvider("http://127.0.0.1"), {});
    assert(parsed.ok);
    assertEquals(parsed.warnings, []);
  }
  assert(first.secret !== second.secret);
});

Deno.test("a new key without a name is wrong usage, and so is half of the command", async () => {
  for (const args of [["key", "new"], ["key", "new", " "]]) {
    const { code, err } = await ran(args);
    assertEquals(code, 2);
    assertStringIncludes(err, "The name of the key is missing.");
  }
  const half = await ran(["key"]);
  assertEquals(half.code, 2);
  assertStringIncludes(half.err, "did you mean key new?");
  assertStringIncludes((await ran(["key", "new", "--help"])).out, "Usage: switchyard key new NAME");
});
