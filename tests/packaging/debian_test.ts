import { Buffer } from "node:buffer";
import { program } from "../cli/program.ts";
import { assertEquals, assertStringIncludes } from "../support/assert.ts";

const DEB = new URL("../../scripts/packaging/deb/", import.meta.url).pathname;

/** The values of the unit's keys, in order. */
async function unit(): Promise<ReadonlyMap<string, readonly string[]>> {
  const text = await Deno.readTextFile(`${DEB}switchyard.service`);
  const pairs = text.split("\n").filter((line) => /^\w/.test(line)).map((line) => {
    const [key = "", value = ""] = line.split(/=(.*)/s, 2);
    return { key, value };
  });
  const groups = Map.groupBy(pairs, ({ key }) => key);
  return new Map([...groups].map(([key, found]) => [key, found.map(({ value }) => value)]));
}

Deno.test("the unit bounds memory and threads, and leaves no core file", async () => {
  const values = await unit();
  assertEquals(["MemoryMax", "TasksMax", "LimitCORE"].map((key) => values.get(key)), [
    ["2G"],
    ["1024"],
    ["0"],
  ]);
});

Deno.test("the unit hands keys on as a credential, never as environment variables", async () => {
  const values = await unit();
  assertEquals(values.get("LoadCredential"), [".env:/etc/switchyard/switchyard.env"]);
  assertEquals(values.get("WorkingDirectory"), ["-/run/credentials/switchyard.service"]);
  assertEquals(values.get("EnvironmentFile"), ["-/etc/default/switchyard"]);
  // Without the file of keys the service has an empty one, and starts.
  const [[name, text] = []] = values.get("SetCredential")?.map((one) => one.split(":")) ?? [];
  assertEquals([name, text?.startsWith("#")], [".env", true]);
});

Deno.test("a credential in the working directory gives its names to the configuration", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.mkdir(`${folder}/etc`);
  await Deno.mkdir(`${folder}/credentials`);
  await Deno.writeTextFile(`${folder}/credentials/.env`, "KEY=sk-of-the-credential\n");
  await Deno.writeTextFile(
    `${folder}/etc/config.yaml`,
    `providers: {up: {type: compat, base_url: "http://up", api_key: "\${KEY}"}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`,
  );
  const outcomes = await Promise.all(["credentials", "etc"].map(async (name) => {
    const { child, out, err } = program(["check", "--config", `${folder}/etc/config.yaml`], {
      cwd: `${folder}/${name}`,
      clearEnv: true,
    });
    const [{ code }, printed, problems] = await Promise.all([child.status, out.rest(), err.rest()]);
    return { code, names: /KEY/.test(printed + problems) };
  }));
  await Deno.remove(folder, { recursive: true });
  assertEquals(outcomes, [{ code: 0, names: false }, { code: 0, names: true }]);
});

/** Runs the package's script on a folder in place of a system. Returns its calls. */
async function configured(overridden: string): Promise<readonly string[]> {
  const folder = await Deno.makeTempDir();
  const root = `${folder}/root`;
  await Deno.mkdir(`${root}/etc/switchyard`, { recursive: true });
  for (const name of ["config.yaml", "switchyard.env"]) {
    await Deno.writeTextFile(`${root}/etc/switchyard/${name}`, "");
  }
  const record = `echo "$(basename "$0") $*" >>${folder}/calls`;
  const fakes: Readonly<Record<string, string>> = {
    "systemd-sysusers": `${record}\necho 'switchyard:x:995:' >${root}/etc/group`,
    "dpkg-statoverride": `[ "$2" = "${overridden}" ]`,
    "deb-systemd-helper": "",
    chown: record,
    chmod: record,
  };
  for (const [name, script] of Object.entries(fakes)) {
    await Deno.writeTextFile(`${folder}/${name}`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const { code, stderr } = await new Deno.Command("sh", {
    args: [`${DEB}postinst`, "configure", ""],
    env: { PATH: `${folder}:${Deno.env.get("PATH")}`, DPKG_ROOT: root },
  }).output();
  assertEquals([code, new TextDecoder().decode(stderr)], [0, ""]);
  const calls = await Deno.readTextFile(`${folder}/calls`);
  await Deno.remove(folder, { recursive: true });
  return calls.replaceAll(root, "ROOT").trimEnd().split("\n");
}

Deno.test("configuration and keys are for root and the service alone once they are installed", async () => {
  assertEquals(await configured(""), [
    "systemd-sysusers --root=ROOT switchyard.conf",
    "chown root:995 ROOT/etc/switchyard/config.yaml",
    "chmod 0640 ROOT/etc/switchyard/config.yaml",
    "chown root:995 ROOT/etc/switchyard/switchyard.env",
    "chmod 0640 ROOT/etc/switchyard/switchyard.env",
  ]);
});

Deno.test("rights that an administrator has set for a packaged file stay", async () => {
  const calls = await configured("/etc/switchyard/config.yaml");
  assertEquals(calls.filter((call) => call.includes("config.yaml")), []);
  assertEquals(calls.length, 3);
});

Deno.test("packaged files with keys are not readable for everybody before they are configured", async () => {
  const build = await Deno.readTextFile(`${DEB}build.sh`);
  assertStringIncludes(build, 'chmod 640 "$root/etc/switchyard/config.yaml"\n');
  assertStringIncludes(build, 'put 640 "$here/switchyard.env" etc/switchyard/switchyard.env\n');
});

Deno.test("the package requires systemd 247, and glibc 2.27, which is what the runtime of the executable needs", async () => {
  const control = await Deno.readTextFile(`${DEB}control`);
  assertStringIncludes(control, "libc6 (>= 2.27)");
  assertStringIncludes(control, "Breaks: systemd (<< 247)");
  if (Deno.build.os !== "linux") return;
  const runtime = Buffer.from(await Deno.readFile(Deno.execPath()));
  const minors: number[] = [];
  const name = "GLIBC_2.";
  for (let at = runtime.indexOf(name); at >= 0; at = runtime.indexOf(name, at + 1)) {
    const number = runtime.subarray(at + name.length, at + name.length + 3).toString("latin1");
    minors.push(Number(/^\d+/.exec(number)?.[0] ?? 0));
  }
  assertEquals(Math.max(...minors), 27);
});
