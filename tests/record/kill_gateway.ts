import { newRealWorld } from "../../src/cli/real_world.ts";
import { openRecordFile } from "../../src/record/record_file.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { program } from "../cli/program.ts";
import { query } from "../store/sqlite/inspect.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { allRecords, fileOptions, recordSection, withFolder } from "./support.ts";

const CLIENTS_COUNT = 4;

/** Calls that a gateway has recorded at most when it is killed. */
const MAX_RECORDED = 150;

/**
 * Kills a gateway under load, again and again, and compares the file with what the gateway said
 * that it has written. Throws unless the file is sound, each record is whole, and no call failed
 * before the kill.
 */
export async function killGateways(kills: number): Promise<void> {
  const world = newRealWorld();
  const address = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const upstream = Deno.serve(address, newSimulator(world));
  await withFolder(async (folder) => {
    const config = `${folder}/config.yaml`;
    await Deno.writeTextFile(
      config,
      `server: {port: 0}
providers: {sim: {type: compat, base_url: "http://127.0.0.1:${upstream.addr.port}/compat/v1"}}
routing: {routes: [{name: main, targets: [{provider: sim}]}]}
${recordSection(folder)}`,
    );
    let known = 0;
    for (let kill = 0; kill < kills; kill++) known = await killOne(folder, config, known);
  });
  await upstream.shutdown();
  world.close();
}

/** Runs a gateway until it is killed. Returns the number of records in the file. */
async function killOne(folder: string, config: string, known: number): Promise<number> {
  const { child, out, err } = program(["--config", config]);
  const [, url] = await out.until(/listens on (\S+)/) ?? [];
  assert(url !== undefined, "the gateway starts");
  const client = Deno.createHttpClient({});
  let isKilled = false;
  const failed: (number | string)[] = [];
  const clients = Array.from({ length: CLIENTS_COUNT }, async (_, number) => {
    for (let call = 0; !isKilled; call++) {
      try {
        const messages = [{ role: "user", content: `${number} ${call} `.repeat(200) }];
        const response = await fetch(`${url}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ model: "sim-echo", messages, stream: call % 2 === 0 }),
          client,
        });
        if (response.status !== 200) failed.push(response.status);
        await response.text();
      } catch (error) {
        if (!isKilled) failed.push(String(error));
        return;
      }
    }
  });
  const least = 1 + Math.floor(Math.random() * MAX_RECORDED);
  let recorded = 0;
  while (recorded < least && failed.length === 0) {
    const metrics = await (await fetch(`${url}/metrics`, { client })).text();
    const [, count = "0"] = /^gateway_records_total\{kind="all"\} (\d+)/m.exec(metrics) ?? [];
    recorded = Number(count);
  }
  isKilled = true;
  child.kill("SIGKILL");
  await Promise.all([child.status, out.rest(), err.rest(), ...clients]);
  client.close();
  assertEquals(failed, []);

  const [check] = query(`${folder}/record.db`, "pragma integrity_check");
  assertEquals(check?.integrity_check, "ok");
  const file = openRecordFile(fileOptions(folder));
  const found = allRecords(file);
  const { readable, records } = file.info();
  file.close();
  assertEquals([readable, found.length], [records, records]);
  assert(records >= known + recorded, `${records} records of ${known + recorded}`);
  for (const { request, response, head } of found) {
    const text = head.stream ? response?.events : response?.body;
    assert(request?.body?.endsWith("}"), "the request is whole");
    assert(head.end !== "complete" || text?.trimEnd().match(/\}$|\[DONE\]$/), "so is the response");
  }
  return records;
}

if (import.meta.main) await killGateways(Number(Deno.args[0] ?? 20));
