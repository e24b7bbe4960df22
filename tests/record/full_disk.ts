import { openRecordFile, type Written } from "../../src/record/record_file.ts";
import { query } from "../store/sqlite/inspect.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { allRecords, fileOptions, withFolder, written } from "./support.ts";

// Writes records to a disk of 4 MiB until it is full, and again when it has room. The disk is a
// mount of this process alone, which needs the right to mount:
// `sudo ./scripts/deno run -A --no-check tests/record/full_disk.ts`.

const [mounted] = Deno.args;
if (mounted === undefined) await withFolder(mountAndRun);
else fill(mounted);

async function mountAndRun(folder: string): Promise<void> {
  const script = `mount -t tmpfs -o size=4m tmpfs "$1" && exec "$2" run -A --no-check "$3" "$1"`;
  const words = ["sh", folder, Deno.execPath(), new URL(import.meta.url).pathname];
  const { code } = await new Deno.Command("unshare", { args: ["-m", "sh", "-c", script, ...words] })
    .spawn().status;
  assertEquals(code, 0);
}

function fill(folder: string): void {
  Deno.writeFileSync(`${folder}/other`, new Uint8Array(1024 * 1024));
  const file = openRecordFile(fileOptions(folder));
  let last = 0;
  function write(): Written {
    const body = crypto.getRandomValues(new Uint8Array(4_000)).toHex();
    const result = file.write([written(String(last + 1), last, { body })], last);
    if (result.ok) last++;
    else assertEquals(result.problem, "full");
    return result;
  }
  for (let record = 0; record < 1_000; record++) write();
  const full = last;
  assert(full < 1_000, "the disk is full");
  assertEquals(Number(allRecords(file)[0]?.id), full);

  Deno.removeSync(`${folder}/other`);
  for (let record = 0; record < 20; record++) {
    assert(write().ok, "a disk with room is written again");
  }
  file.close();
  const [check] = query(`${folder}/record.db`, "pragma integrity_check");
  assertEquals(check?.integrity_check, "ok");
  const again = openRecordFile(fileOptions(folder));
  const found = allRecords(again);
  const { readable, records } = again.info();
  again.close();
  assertEquals([readable, found.length, Number(found[0]?.id)], [records, records, last]);
  console.log(`${full} records filled the disk, ${records} are in the file.`);
}
