import { type BenchOptions, parseOptions } from "../../../scripts/bench/options.ts";
import { installedProgram } from "../../../scripts/bench/peers/install.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const FILES: Readonly<Record<string, string>> = { "rival.conf": "port {port}" };

function parsed(...args: readonly string[]): BenchOptions | string {
  return parseOptions(args, (path) => FILES[path] ?? null);
}

function accepted(...args: readonly string[]): BenchOptions {
  const options = parsed(...args);
  assert(typeof options !== "string", `${options}`);
  return options;
}

/** Returns the command line that starts the only peer of the arguments. */
function launchOf(...args: readonly string[]) {
  const [peer] = accepted(...args).peers;
  return peer?.launch({
    port: 1,
    upstream: "http://127.0.0.1:9",
    upstreamKind: "chat",
    folder: "/f",
  });
}

Deno.test("without arguments all rows are measured in three rounds of a second, and mixed load of ten minutes, without peers", () => {
  assertEquals(accepted(), {
    seconds: 1,
    rounds: 3,
    minutes: 10,
    only: [],
    profileFolder: null,
    peers: [],
    write: false,
  });
});

Deno.test("rounds, seconds and rows of the benchmark are checked", () => {
  const { seconds, rounds, only } = accepted(
    ..."--seconds 0.5 --rounds 5 --only small --only cancel".split(" "),
  );
  assertEquals([seconds, rounds, only], [0.5, 5, ["small", "cancel"]]);
  assertEquals(accepted("--profile", "profiles").profileFolder, "profiles");
  assertEquals(parsed("--seconds", "0"), "--seconds must be a number above 0");
  assertEquals(accepted("--minutes", "0.5").minutes, 0.5);
  assertEquals(parsed("--minutes", "0"), "--minutes must be a number above 0");
  assertEquals(parsed("--rounds", "1.5"), "--rounds must be a whole number above 0");
  assertEquals(parsed("--only", "tiny"), "--only tiny is no scenario and no measurement");
  assert(typeof parsed("--unknown") === "string");
});

Deno.test("a peer with an adapter is its installed program, or the one that the option names", () => {
  assertEquals(launchOf("--peer", "nginx")?.program, installedProgram("nginx"));
  assertEquals(launchOf("--peer", "nginx=/opt/nginx")?.program, "/opt/nginx");
  const names = accepted("--peer", "litellm", "--peer", "portkey", "--peer", "nginx").peers;
  assertEquals(names.map(({ name }) => name), ["litellm", "portkey", "nginx"]);
});

Deno.test("any other peer is a command, with a configuration, a path, headers and a prefix of the model", () => {
  const args = [
    ...["--peer", "rival 2.1=rival -c {config} --to={upstream}"],
    ...["--peer-config", "rival 2.1=rival.conf", "--peer-path", "rival 2.1=/x"],
    ...["--peer-header", "rival 2.1=X-Key: a=b", "--peer-model", "rival 2.1=openai/"],
  ];
  const launch = launchOf(...args);
  assertEquals(launch?.args, ["-c", "rival -c /f/config --to=http://127.0.0.1:9"]);
  assertEquals(launch?.files, { "/f/config": "port 1" });
  const [peer] = accepted(...args).peers;
  assertEquals(peer?.support("chat", "U"), {
    kind: "supported",
    upstream: "chat",
    request: { path: "/x", headers: { "x-key": "a=b" }, modelPrefix: "openai/" },
  });
});

function namedProblem(name: string): string {
  return `--peer ${name}: a name in the table has letters, digits, blanks and . _ + - / : ( )`;
}

Deno.test("options of peers that fit no peer are refused", () => {
  const peer = ["--peer", "rival=rival"];
  for (
    const [args, problem] of [
      [["--peer", "rival"], "--peer rival must be NAME=COMMAND, because no adapter has this name"],
      [
        ["--peer", "rival="],
        "--peer rival= must be NAME=COMMAND, because no adapter has this name",
      ],
      [["--peer", " =c"], "--peer  =c must be NAME=COMMAND, because no adapter has this name"],
      [["--peer", "nginx="], "--peer nginx= must be nginx or nginx=PROGRAM"],
      [["--peer", "a|b=c"], namedProblem("a|b")],
      [["--peer", "a\n=c"], namedProblem("a\n")],
      [["--peer", "<!-- end -->=c"], namedProblem("<!-- end -->")],
      [["--peer", "*a*=c"], namedProblem("*a*")],
      [
        ["--peer", "Floor=c"],
        "--peer Floor: the table has a row of this name; choose another one",
      ],
      [
        ["--peer", "Switchyard=c"],
        "--peer Switchyard: the table has a row of this name; choose another one",
      ],
      [["--peer", "nginx", "--peer", "nginx=x"], "--peer nginx is given twice"],
      [[...peer, "--peer-path", "rival=v1"], "--peer-path rival=v1 must begin with /"],
      [[...peer, "--peer-header", "rival=x"], "--peer-header rival=x must be rival=HEADER:VALUE"],
      [[...peer, "--peer-config", "rival=none"], "--peer-config: none cannot be read"],
      [
        ["--peer", "nginx", "--peer-path", "nginx=/v1"],
        "--peer-path nginx=/v1 must begin with the name of a --peer that has a COMMAND",
      ],
      [["--write"], "--write needs at least one --peer"],
      [
        ["--write", ...peer, "--only", "cancel", "--only", "least"],
        "--write needs a row that has peers, such as --only small",
      ],
    ] as const
  ) assertEquals(parsed(...args), problem);
});
