import { assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { archivePath, machine, release } from "./releases.ts";

const PROGRAM = "./.local/bin/switchyard";

Deno.test("the newest release is installed below the home, for its user to run", async () => {
  await using at = await machine(await release("1.2.3"));
  const { code, out, err } = await at.install();
  assertEquals([code, err], [0, ""]);
  assertStringIncludes(out, `switchyard 1.2.3 is installed: ${at.home}/.local/bin/switchyard\n`);
  assertStringIncludes(out, "to PATH");
  assertEquals(Object.keys(await at.state()).sort(), ["./.local", "./.local/bin", PROGRAM]);
  const { mode } = await Deno.stat(`${at.home}/${PROGRAM}`);
  assertEquals((mode ?? 0) & 0o777, 0o755);
  assertEquals(at.asked, ["/latest", "/v1.2.3/SHA256SUMS", archivePath("1.2.3")]);
});

Deno.test("a named version is installed without asking for the newest", async () => {
  await using at = await machine({ ...await release("2.0.0"), ...await release("1.2.3-rc.1+b") });
  const { code } = await at.install(["--version", "v1.2.3-rc.1+b", "--prefix", "here/it is"]);
  assertEquals(code, 0);
  const state = await at.state();
  assertStringIncludes(state["./here/it is/bin/switchyard"] ?? "", "switchyard 1.2.3-rc.1+b");
  assertEquals(at.asked.includes("/latest"), false);
});

Deno.test("a newer release takes the place of an older one", async () => {
  await using at = await machine(await release("1.2.3"));
  await at.install();
  Object.assign(at.files, await release("1.3.0"));
  const { code } = await at.install([], { env: { PATH: `${at.home}/.local/bin:/usr/bin:/bin` } });
  assertEquals(code, 0);
  const state = await at.state();
  assertStringIncludes(state[PROGRAM] ?? "", "switchyard 1.3.0");
  assertEquals(Object.keys(state).length, 3);
});

Deno.test("uninstalling removes the executable and nothing else", async () => {
  await using at = await machine(await release("1.2.3"));
  await at.install();
  await Deno.writeTextFile(`${at.home}/.local/bin/other`, "other");
  const removed = await at.install(["--uninstall"]);
  assertEquals([removed.code, removed.err], [0, ""]);
  assertStringIncludes(removed.out, `switchyard is removed from ${at.home}/.local/bin`);
  assertEquals(Object.keys(await at.state()).sort(), [
    "./.local",
    "./.local/bin",
    "./.local/bin/other",
  ]);
  const again = await at.install(["--uninstall"]);
  assertEquals([again.code, again.out], [0, `There is no switchyard in ${at.home}/.local/bin.\n`]);
});

Deno.test("a script that was cut off on its way does nothing", async () => {
  const whole = await Deno.readTextFile(new URL("../../install.sh", import.meta.url));
  const folder = await Deno.makeTempDir();
  // Without its last line, and cut in the middle of a function, where a shell finds no sense in it.
  for (const length of [whole.trimEnd().lastIndexOf("\n"), whole.indexOf("mv -f")]) {
    const { stdout } = await new Deno.Command("sh", {
      args: ["-c", whole.slice(0, length)],
      env: { HOME: folder, SWITCHYARD_BASE_URL: "http://127.0.0.1:9" },
      stderr: "null",
    }).output();
    assertEquals(stdout.length, 0);
    assertEquals([...Deno.readDirSync(folder)], []);
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("proxies of the user are for what is not on this machine", async () => {
  await using at = await machine(await release("1.2.3"));
  const proxies = { http_proxy: "http://127.0.0.1:1", HTTP_PROXY: "http://127.0.0.1:1" };
  assertEquals((await at.install([], { env: proxies })).code, 0);
  // What the user excludes from them stays excluded.
  await at.fake("curl", `echo "$@" >>"$HOME/asked"; exit 22`);
  await at.install([], { env: { SWITCHYARD_BASE_URL: "https://releases.example" } });
  const { "./asked": asked = "" } = await at.state();
  assertMatch(asked, /^--fail [^\n]* --proto =https [^\n]* https:\/\/releases\.example\/latest\n$/);
  assertEquals(asked.includes("noproxy"), false);
});

Deno.test("wrong arguments exit with 2, and --help prints the usage", async () => {
  await using at = await machine({});
  for (
    const args of [["--versoin", "1"], ["--version"], ["--prefix", ""], ["1.2.3"], [
      "--uninstall",
      "--version",
      "1.2.3",
    ]]
  ) {
    const { code, err } = await at.install(args);
    assertEquals(code, 2);
    assertMatch(err, /^install\.sh: [^\n]* See "install\.sh --help"\.\n$/);
  }
  const help = await at.install(["--help"]);
  assertEquals(help.code, 0);
  for (const word of ["--version", "--prefix", "--uninstall", "SWITCHYARD_BASE_URL"]) {
    assertStringIncludes(help.out, word);
  }
});
