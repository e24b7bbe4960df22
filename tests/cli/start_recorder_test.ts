import { startRecorder } from "../../src/cli/start_recorder.ts";
import { heldThread, recordSection, withFolder } from "../record/support.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { oneProvider } from "../support/gateway.ts";
import { parsedConfig } from "../support/parsed_config.ts";
import { scriptedWorld } from "../support/world.ts";

/** Starts the recording of a configuration. Returns what was opened, logged and started. */
async function start(text: string) {
  const lines: string[] = [];
  const line = (level: string) => (text: string) => void lines.push(`${level} ${text}`);
  const thread = heldThread();
  let threads = 0;
  const started = await startRecorder(parsedConfig(text + oneProvider("http://up")), {
    world: scriptedWorld(),
    log: { info: line("info"), warn: line("warn"), error: line("error") },
    recorded() {},
    dropped() {},
    start(events) {
      threads++;
      return thread.start(events);
    },
  });
  if (started.ok) await started.recorder?.close();
  return { started, lines, threads };
}

Deno.test("without record.enabled no thread starts and no file is opened", () =>
  withFolder(async (folder) => {
    const off = recordSection(folder).replace("enabled: true", "enabled: false");
    assertEquals(await start(off), {
      started: { ok: true, recorder: null },
      lines: [],
      threads: 0,
    });
    assertEquals([...Deno.readDirSync(folder)], []);
  }));

Deno.test("a file that cannot be used turns recording off with an error, and nothing of it is changed", () =>
  withFolder(async (folder) => {
    const file = `${folder}/record.db`;
    const bytes = new TextEncoder().encode("no database".repeat(1_000));
    Deno.writeFileSync(file, bytes);
    const { started, lines } = await start(recordSection(folder));
    assertEquals(started, { ok: true, recorder: null });
    assertMatch(lines.join("\n"), /^error Nothing is recorded: The database .* is not a database;/);
    assertEquals(Deno.readFileSync(file), bytes);
    const required = recordSection(folder).replace("state: {", "state: {required: true, ");
    assert(!(await start(required)).started.ok);
  }));

Deno.test("a missing folder, or a folder in the place of the file, ends the start", () =>
  withFolder(async (folder) => {
    for (const path of ["none/record.db", ""]) {
      const { started } = await start(recordSection(folder).replace("/record.db", `/${path}`));
      assert(!started.ok, path);
    }
  }));
