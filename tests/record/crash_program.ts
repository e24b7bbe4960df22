import { openRecordFile } from "../../src/record/record_file.ts";
import { fileOptions, written } from "./files.ts";

// A process that writes records until it is killed, and prints the ID of each committed one. The
// argument is the folder of the file, and a prefix of the IDs.

const [folder = "", prefix = ""] = Deno.args;
const file = openRecordFile(fileOptions(folder, { maxBytes: 16 * 1024 * 1024 }));
for (let batch = 0;; batch++) {
  const ids = Array.from({ length: 8 }, (_, at) => `${prefix}-${batch}-${at}`);
  const records = ids.map((id) => written(id, Date.now(), { body: id.repeat(200), answer: id }));
  if (!file.write(records, Date.now()).ok) throw new Error("a write has failed");
  Deno.stdout.writeSync(new TextEncoder().encode(ids.map((id) => `${id}\n`).join("")));
}
