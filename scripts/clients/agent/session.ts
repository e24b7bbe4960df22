import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import type { Exchange } from "./exchange.ts";
import { openPlace, type PlaceOptions } from "./place.ts";
import { KEY, type ProviderType } from "./results.ts";

/** A session does not take longer; the client is killed then. */
const MAX_SESSION_MS = 90_000;

const TOOLS = "Bash,Read,Agent,Task,ToolSearch,WebSearch,WebFetch,TaskStop,Glob";

/** Options of a started session. */
export interface SessionOptions extends PlaceOptions {
  /** Prompts, each in a process that continues the session before it. */
  readonly prompts: readonly string[];
  readonly model: string;
  /** Key or token in the environment of the client; empty for none. */
  readonly key: string;
  /** Further arguments of the client. */
  readonly args: readonly string[];
}

/** Observations of a session. */
export interface Seen {
  /** Records that the client printed for all prompts, in order. */
  readonly records: readonly JsonObject[];
  /** Text of the last result record; empty if there is none. */
  readonly result: string;
  readonly exchanges: readonly Exchange[];
  readonly received: readonly string[];
  /** Output of the client besides records. */
  readonly rest: string;
}

/** Defaults of a session: an accepted key, a model of Claude Code, and no faults. */
export const USUAL: Omit<SessionOptions, "prompts"> = {
  declared: true,
  faults: () => null,
  model: "claude-opus-5-5",
  key: KEY,
  args: [],
};

/** Runs a session of a client over one provider type, in an empty home and a new project. */
export async function runSession(
  binary: string,
  type: ProviderType,
  options: SessionOptions,
): Promise<Seen> {
  await using place = openPlace(type, options);
  const home = await Deno.makeTempDir({ prefix: "claude-code-" });
  try {
    const project = await newProject(home);
    const outputs: string[] = [];
    for (const [at, prompt] of options.prompts.entries()) {
      const args = ["-p", prompt, "--model", options.model, "--allowedTools", TOOLS];
      const shown = ["--output-format", "stream-json", "--verbose"];
      const child = new Deno.Command(binary, {
        args: [...args, ...options.args, ...shown, ...at > 0 ? ["--continue"] : []],
        cwd: project,
        clearEnv: true,
        env: environmentOf(home, place.url, options.key),
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      const timer = setTimeout(() => child.kill("SIGKILL"), MAX_SESSION_MS);
      const { stdout, stderr } = await child.output();
      clearTimeout(timer);
      outputs.push(new TextDecoder().decode(stdout), new TextDecoder().decode(stderr));
    }
    return {
      ...parseOutput(outputs.join("\n")),
      exchanges: place.exchanges,
      received: place.received,
    };
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

/** Returns the environment of the client: nothing of this process but the path. */
function environmentOf(home: string, url: string, key: string): Record<string, string> {
  return {
    HOME: home,
    PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
    ANTHROPIC_BASE_URL: url,
    ...key === "" ? {} : { ANTHROPIC_AUTH_TOKEN: key },
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    // What is not for this machine ends at a port on which nothing listens.
    HTTPS_PROXY: "http://127.0.0.1:9",
    HTTP_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1,localhost",
  };
}

/** Makes a project with the files that the prompts name. */
async function newProject(home: string): Promise<string> {
  const project = `${home}/project`;
  await Deno.mkdir(project);
  await Deno.writeTextFile(`${project}/note.txt`, "The note says hello.\n");
  await Deno.writeFile(`${project}/picture.png`, bytesOf(PICTURE));
  await Deno.writeTextFile(`${project}/paper.pdf`, PAPER);
  return project;
}

/** Picture of two by two pixels, in base64. */
export const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGM4IWcjd8KGQc7mxK9fvwAjIgZV9SkH8QAAAABJRU5ErkJggg==";

const PAPER = `%PDF-1.1
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj
trailer<</Root 1 0 R>>
%%EOF
`;

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

/** Reads the records that the client printed, one JSON object a line. */
export function parseOutput(text: string): Pick<Seen, "records" | "result" | "rest"> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const parsed = lines.map(parseJson);
  const records = parsed.filter(isObject);
  const last = records.findLast(({ type }) => type === "result");
  return {
    records,
    result: typeof last?.result === "string" ? last.result : "",
    rest: lines.filter((_line, at) => !isObject(parsed[at])).join("\n"),
  };
}
