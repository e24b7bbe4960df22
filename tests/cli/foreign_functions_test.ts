import { missingFunctions } from "../../src/cli/foreign_functions.ts";
import { PERMISSIONS, PERMISSIONS_WITHOUT_FFI } from "../../scripts/packaging/permissions.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { programWith } from "./program.ts";
import { configFile, testClient } from "./test_terminal.ts";

const LIBRARY = "/lib/libc.so.6";

Deno.test("what is missing without the C library is one sentence that begins with the reason", () => {
  const all = { isLinux: true, library: LIBRARY, isAllowed: true };
  assertEquals(missingFunctions(all), null);
  const reasons = [
    [{ ...all, isAllowed: false }, /^this build has no right to call the C library: /],
    [{ ...all, library: null, isAllowed: false }, /^the C library was not found: /],
    [{ isLinux: false, library: null, isAllowed: false }, /^this is not Linux: /],
  ] as const;
  for (const [found, reason] of reasons) {
    const sentence = missingFunctions(found) ?? "";
    assertMatch(sentence, reason);
    for (const word of ["40 ms", "idle client", "WebSocket", "keep-alive", "TLS handshake"]) {
      assert(sentence.includes(word), word);
    }
  }
});

const CONFIG = `
server: {port: 0}
providers: {openai: {api_key: k}}
routing: {routes: [{name: all, targets: [{provider: openai}]}]}
`;

/** Serves one request. Returns the log, of every level. */
async function logWith(permissions: readonly string[]): Promise<string> {
  using client = testClient();
  using file = await configFile(CONFIG);
  const { child, out, err } = programWith(permissions, [
    "--config",
    file.path,
    "--log-level",
    "debug",
  ]);
  const [, url = ""] = await out.until(/listens on (\S+)/) ?? [];
  assertEquals(
    await (await client.fetch(`${url}/health`)).json().then(({ status }) => status),
    "ok",
  );
  child.kill("SIGTERM");
  assertEquals((await child.status).code, 0);
  const [, log] = await Promise.all([out.rest(), err.rest()]);
  return log;
}

Deno.test("without permission to call libraries the program serves, and logs at debug what is missing", async () => {
  const missing = /DEBUG .*has no right to call the C library/i;
  assertMatch(await logWith(PERMISSIONS_WITHOUT_FFI), missing);
  const usual = await logWith(PERMISSIONS);
  assertEquals(missing.test(usual), Deno.build.os !== "linux");
});
