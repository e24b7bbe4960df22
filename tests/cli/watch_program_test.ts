import { assert, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { sourcesWith } from "./program.ts";
import { configFile, testClient } from "./test_terminal.ts";

Deno.test("with --watch the sources serve again after a change of a file, also after a broken configuration", async () => {
  using client = testClient();
  const folder = await Deno.makeTempDir();
  // The runtime watches this file in addition to the modules, which other tests use meanwhile.
  const watched = `${folder}/watched.ts`;
  await Deno.writeTextFile(watched, "0");
  using config = await configFile("server: {port: x}\n");
  const { child, out, err } = sourcesWith([`--watch=${watched}`], ["--config", config.path]);
  await err.until(/server\.port: [^]*Restarting on file change/);
  await Deno.writeTextFile(
    config.path,
    `
server: {port: 0}
providers: {local: {type: local, base_url: "http://127.0.0.1:9"}}
routing: {routes: [{name: all, targets: [{provider: local}]}]}
`,
  );
  for (let round = 1; round <= 2; round++) {
    await Deno.writeTextFile(watched, String(round));
    const nth = new RegExp(`(?:listens on[^]*?){${round}}(http\\S+)\n`);
    const [, url] = await out.until(nth) ?? [];
    assert(url !== undefined, `the program has ended after change ${round}`);
    const health = await client.fetch(`${url}/health`);
    assertStringIncludes(await health.text(), '"status":"ok"');
  }
  child.kill("SIGKILL");
  await child.status;
  const [, log] = await Promise.all([out.rest(), err.rest()]);
  assertMatch(log, /Restarting! File change detected/);
  await Deno.remove(folder, { recursive: true });
});
