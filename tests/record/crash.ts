import { openRecordFile } from "../../src/record/record_file.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { outputOf } from "../cli/program.ts";
import { query } from "../store/sqlite/inspect.ts";
import { allRecords, fileOptions, withFolder } from "./support.ts";

const PROGRAM = new URL("./crash_program.ts", import.meta.url).pathname;

/** Lines that a process prints at most before it is killed. */
const MAX_LINES_COUNT = 300;

/**
 * Kills a process that writes records, again and again, and looks for each record that it had
 * committed. Throws unless all are whole and the file is sound.
 */
export async function killAgainAndAgain(kills: number): Promise<void> {
  await withFolder(async (folder) => {
    const committed: string[] = [];
    for (let kill = 0; kill < kills; kill++) {
      const child = new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-check", "--allow-all", PROGRAM, folder, `run${kill}`],
        stdout: "piped",
        stderr: "inherit",
      }).spawn();
      const out = outputOf(child.stdout);
      const lines = 1 + Math.floor(Math.random() * MAX_LINES_COUNT);
      assert(await out.until(new RegExp(`^(?:.*\n){${lines}}`)) !== null, "it writes");
      child.kill("SIGKILL");
      const text = await out.rest();
      assertEquals((await child.status).signal, "SIGKILL");
      committed.push(...text.slice(0, text.lastIndexOf("\n")).split("\n"));
      const [check] = query(`${folder}/record.db`, "pragma integrity_check");
      assertEquals(check?.integrity_check, "ok");
      const file = openRecordFile(fileOptions(folder, { maxBytes: 16 * 1024 * 1024 }));
      const found = new Map(allRecords(file).map((record) => [record.id, record]));
      const { readable, records } = file.info();
      file.close();
      assertEquals(readable, records);
      // The oldest ones may have left the ring.
      for (const id of committed.slice(-1_000)) {
        assertEquals(found.get(id)?.request?.body, id.repeat(200), id);
        assertEquals(found.get(id)?.response?.body, id);
      }
    }
  });
}

if (import.meta.main) await killAgainAndAgain(Number(Deno.args[0] ?? 100));
