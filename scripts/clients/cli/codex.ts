import type { Client, Place } from "../client.ts";
import { agentText, runSession, type Start } from "./session.ts";

/** Exact version of the package that all these clients have. */
export const CODEX = "@openai/codex@0.169.0";

/** Options of Codex besides the address of the gateway. */
export interface CodexOptions {
  /** Changes of an entry of Codex's own catalog, under the name of the model; absent for none. */
  readonly entry?: Readonly<Record<string, unknown>>;
  /** A model of Codex's own catalog, for which a header names that of the provider. */
  readonly ownModel?: string;
  readonly usesWebSocket?: boolean;
  /** Time without an event after which Codex gives a stream up; absent for its own. */
  readonly idleMs?: number;
}

/** Returns how Codex is started with the profile of `switchyard agent codex` and a prompt. */
export async function codexStart(
  place: Place,
  model: string,
  prompt: string,
  { entry, ownModel, usesWebSocket = false, idleMs }: CodexOptions = {},
): Promise<Start> {
  const catalog = entry === undefined ? null : await catalogOf(model, entry);
  const printed = agentText("codex", place, ownModel ?? model);
  const profile = [
    ...catalog === null ? [] : ['model_catalog_json = "../.codex/catalog.json"'],
    usesWebSocket ? printed : printed.replace("supports_websockets = true\n", ""),
    ...ownModel === undefined ? [] : [`http_headers = { "X-Gateway-Model" = "${model}" }`],
    ...idleMs === undefined ? [] : [`stream_idle_timeout_ms = ${idleMs}`],
  ];
  return {
    command: "codex",
    args: [
      "exec",
      "-p",
      "switchyard",
      "--skip-git-repo-check",
      "--dangerously-bypass-approvals-and-sandbox",
      prompt,
    ],
    environment: { SWITCHYARD_KEY: place.apiKey },
    files: {
      ".codex/switchyard.config.toml": profile.join("\n"),
      ...catalog !== null && { ".codex/catalog.json": catalog },
    },
  };
}

/** Members of a catalog's entry with which Codex uses nothing that only its own provider has. */
const CHAT_ONLY = { supports_search_tool: false, support_verbosity: false };

/**
 * Returns a catalog with one model. It is made of the first entry of the client's own catalog that
 * is not for code mode, because each entry must have the client's own instructions.
 */
async function catalogOf(slug: string, changes: CodexOptions["entry"]): Promise<string> {
  const { stdout } = await new Deno.Command(`${Deno.env.get("CLIENT_BIN")}/codex`, {
    args: ["debug", "models", "--bundled"],
    stdin: "null",
    stderr: "null",
  }).output();
  const { models }: { models: Record<string, unknown>[] } = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  const entry = models.find(({ tool_mode: mode }) => (mode ?? null) === null);
  if (entry === undefined) throw new Error("Codex has no model without code mode.");
  return JSON.stringify({
    models: [{ ...entry, ...CHAT_ONLY, ...changes, slug, display_name: slug }],
  });
}

const PATCHES = [
  '*** Begin Patch\n*** Add File: new.txt\n+A new "file" \\ 😀\n' +
  "*** Update File: old.txt\n@@\n-before\n+after\n*** End Patch\n",
  "*** Begin Patch\n*** Update File: old.txt\n*** Move to: moved.txt\n@@\n-after\n+moved\n" +
  "*** Delete File: gone.txt\n*** End Patch\n",
];

const BEFORE = { "old.txt": "before\n", "gone.txt": "gone\n" };
const AFTER = { "new.txt": 'A new "file" \\ 😀\n', "moved.txt": "moved\n" };

/** The patches as the inputs of the tools of one way to run Codex. */
export interface PatchTool {
  readonly name: string;
  /** Returns the input of the tool for a patch. */
  readonly inputOf: (patch: string) => string;
}

/** The tool `apply_patch` itself. */
export const APPLY_PATCH: PatchTool = { name: "apply_patch", inputOf: (patch) => patch };

/** Returns the tool for code that calls `apply_patch`, under the name that the model knows. */
export function codeTool(name: string): PatchTool {
  return { name, inputOf: (patch) => `text(await tools.apply_patch(${JSON.stringify(patch)}));` };
}

/** Returns Codex with a model that adds, changes, moves and deletes files with two calls. */
export function patchingCodex(title: string, tool: PatchTool, options: CodexOptions): Client {
  return {
    title,
    packages: [CODEX],
    usesWebSocket: options.usesWebSocket ?? false,
    shots: {
      async files(place) {
        const calls = PATCHES.map((patch) => ({
          say: "I patch it.",
          call: [{ name: tool.name, input: { input: tool.inputOf(patch) } }],
        }));
        const prompt = `sim-plan: ${JSON.stringify([...calls, "All is patched."])}`;
        const start = await codexStart(place, place.model("sim-plan"), prompt, options);
        const before = Object.entries(BEFORE).map(([name, text]) => [`work/${name}`, text]);
        const files = { ...start.files, ...Object.fromEntries(before) };
        const { output, work } = await runSession({ ...start, files });
        const isDone = output.includes("All is patched.") &&
          JSON.stringify(sorted(work)) === JSON.stringify(sorted(AFTER));
        if (!isDone) throw new Error(`${JSON.stringify(work)}: ${output.slice(-1500)}`);
      },
    },
  };
}

function sorted(files: Readonly<Record<string, string>>): readonly (readonly string[])[] {
  return Object.entries(files).toSorted(([one], [other]) => one < other ? -1 : 1);
}
