import {
  parseArguments,
  parseCounts,
  PROGRAM_TESTS,
  summarySieve,
  testArguments,
} from "../../scripts/tools/test.ts";
import { dirname } from "node:path";
import { writeGroups } from "../../scripts/tools/test_groups.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { ENDS_WAITING_TESTS } from "../support/runtime.ts";

Deno.test("the summary line is understood with steps, ignored tests and colours", () => {
  assertEquals(parseCounts("ok | 12 passed | 0 failed (3s)"), { passed: 12, failed: 0 });
  assertEquals(
    parseCounts(
      "FAILED | 1 passed (3 steps) | 2 failed (1 step) | 4 ignored | 5 filtered out (1m2s)",
    ),
    { passed: 1, failed: 2 },
  );
  assertEquals(
    parseCounts("\u001b[32mok\u001b[0m | 3 passed | 0 failed \u001b[90m(9ms)\u001b[0m"),
    {
      passed: 3,
      failed: 0,
    },
  );
});

Deno.test("other lines are no summary", () => {
  for (const line of ["", "ok", "ok | 1 passed", "x ok | 1 passed | 0 failed (1s)"]) {
    assertEquals(parseCounts(line), null);
  }
});

Deno.test("the test runner switches the sanitizers on", () => {
  const asks = (version: string) => testArguments(version, []).includes("--sanitize-ops");
  assertEquals(["2.7.11", "2.9.0", "2.10.1", "3.0.0"].map(asks), [false, true, true, true]);
});

Deno.test("the test runner sets the flag of V8 for buffers only in a version that knows it", () => {
  const sets = (version: string) =>
    testArguments(version, []).some((one) => one.includes("external-memory"));
  assertEquals(["2.7.11", "2.8.0", "2.9.6", "3.0.0"].map(sets), [true, true, false, false]);
});

Deno.test("without a path each test file of a folder is imported by exactly one group", async () => {
  const root = await Deno.makeTempDir();
  const groups = await Deno.makeTempDir();
  const files = [
    ...Array.from({ length: 153 }, (_, at) => `${root}/${at % 3}/deep/${at}_test.ts`),
    ...Array.from({ length: 36 }, (_, at) => `${root}/e2e/${at}_test.ts`),
  ];
  for (const file of files) {
    await Deno.mkdir(dirname(file), { recursive: true });
    await Deno.writeTextFile(file, "");
  }
  await Deno.writeTextFile(`${root}/0/support.ts`, "");
  await writeGroups(root, groups);
  const imported: string[][] = [];
  for await (const { name } of Deno.readDir(groups)) {
    assert(name.endsWith("_test.ts"));
    const text = await Deno.readTextFile(`${groups}/${name}`);
    imported.push(
      Array.from(text.matchAll(/^import "file:\/\/(.*)";$/gm), ([, path = ""]) => path),
    );
  }
  assertEquals(imported.map(({ length }) => length).toSorted((a, b) => a - b), [18, 18, 76, 77]);
  assertEquals(imported.flat().toSorted(), files.toSorted());
  await Deno.remove(root, { recursive: true });
  await Deno.remove(groups, { recursive: true });
});

Deno.test("an executable is given to the tests that start the program", () => {
  const binary = Deno.execPath();
  const isMeasured = false;
  assertEquals(parseArguments(["--binary", binary]), { binary, isMeasured, given: PROGRAM_TESTS });
  const given = ["--filter", "x", import.meta.dirname ?? ""];
  assertEquals(parseArguments(["--binary", binary, ...given]), { binary, isMeasured, given });
  assertEquals(parseArguments(["--costs", ...given]), { binary: null, isMeasured: true, given });
  assertEquals(parseArguments(["--binary", "no such file"]), null);
});

Deno.test("all tests that start the program are known", async () => {
  const found: string[] = [];
  for (const folder of ["cli", "e2e", "server", "observe"]) {
    const place = new URL(`../${folder}/`, import.meta.url);
    for await (const { name, isFile } of Deno.readDir(place)) {
      if (!isFile || !name.endsWith("_test.ts")) continue;
      const text = await Deno.readTextFile(new URL(name, place));
      if (/from "[./a-z]*\/(?:program|running_workers)\.ts"/.test(text)) {
        found.push(`tests/${folder}/${name}`);
      }
    }
  }
  assertEquals(found.toSorted(), PROGRAM_TESTS.filter((path) => path.endsWith(".ts")).toSorted());
});

Deno.test("test output is passed on at once, and only the last summary is stored", () => {
  const sieve = summarySieve();
  const steps = ["a test ... ", "ok (1ms)\nok | 1 pas", "sed | 0 failed (1s)\nmore\n", "o"];
  assertEquals(steps.map(sieve.push), ["a test ... ", "ok (1ms)\n", "more\n", ""]);
  assertEquals(sieve.summary, "ok | 1 passed | 0 failed (1s)");
  const first = `${sieve.summary}\n`;
  assertEquals(sieve.push("h\nFAILED | 0 passed | 1 failed (1s)\n"), `oh\n${first}`);
});

async function runTests(source: string) {
  const folder = Deno.makeTempDirSync();
  try {
    Deno.writeTextFileSync(`${folder}/sample_test.ts`, source);
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--allow-run", "--allow-read", "--allow-write", "--allow-env"]
        .concat(
          new URL("../../scripts/tools/test.ts", import.meta.url).pathname,
          folder,
        ),
      stderr: "null",
    }).output();
    const lines = new TextDecoder().decode(stdout).trimEnd().split("\n");
    return { code, summary: lines.at(-2) ?? "", last: lines.at(-1) };
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("the output ends with Deno's summary and the plain counts", async () => {
  const good = await runTests('Deno.test("a", () => {});');
  assertEquals([good.code, good.last], [0, "1 passed, 0 failed"]);
  assertEquals(parseCounts(good.summary), { passed: 1, failed: 0 });

  const bad = await runTests('Deno.test("a", () => {}); Deno.test("b", () => { throw 1; });');
  assertEquals([bad.code, bad.last], [1, "1 passed, 1 failed"]);
  assertEquals(parseCounts(bad.summary), { passed: 1, failed: 1 });
});

Deno.test("a program that does not compile counts as one failure", async () => {
  const broken = await runTests('const text = ; Deno.test("a", () => {});');
  assertEquals([broken.code, broken.last], [1, "0 passed, 1 failed"]);
});

Deno.test("a test that waits for nothing counts as one failure", async () => {
  const waiting = 'Deno.test("b", async () => { await new Promise(() => {}); });';
  const stuck = await runTests(`Deno.test("a", () => {}); ${waiting} Deno.test("c", () => {});`);
  const passed = ENDS_WAITING_TESTS ? 2 : 1;
  assertEquals([stuck.code, stuck.last], [1, `${passed} passed, 1 failed`]);
  assertEquals(parseCounts(stuck.summary), { passed, failed: 1 });
});
