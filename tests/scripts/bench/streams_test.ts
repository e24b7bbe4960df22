import { newServerProcesses } from "../../../scripts/bench/processes.ts";
import { newPrograms } from "../../../scripts/bench/programs.ts";
import { measureStreamsInUse } from "../../../scripts/bench/streams.ts";
import { assert, assertEquals } from "../../support/assert.ts";

Deno.test("memory in use is read while the streams are open", async () => {
  if (Deno.build.os !== "linux") return;
  const folder = await Deno.makeTempDir();
  try {
    await using servers = newServerProcesses(false, null);
    await using programs = newPrograms(folder);
    const result = await measureStreamsInUse(servers, programs, 0, 50);
    assertEquals(result?.streams, 50);
    // A stream has at least its buffer for reading, and holds no second copy of its kilobytes.
    const bytes = result?.bytesPerStream ?? 0;
    assert(bytes > 8_000 && bytes < 500_000, `${bytes} bytes`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
