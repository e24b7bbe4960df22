import { dirname, normalize } from "node:path";
import { fillVariables, readSmallFile } from "../config/files.ts";
import { parseConfig } from "../config/load.ts";
import { NOTHING_OUTSIDE } from "../config/tls_rules.ts";
import { VERSION } from "../core/build.ts";
import { visible } from "../core/visible_text.ts";
import { compile } from "../gateway/compile.ts";
import type { Imported, Importer } from "../import/imported.ts";
import { optionValue } from "./arguments.ts";
import { type Command, FAILED_STATUS, OK_STATUS, printProblems, wrongUsage } from "./command.ts";
import { presetLines } from "./preset_lines.ts";

const FILE = "FILE";

/** Maximum size of a source. */
const MAX_SOURCE_BYTES = 4 * 1024 * 1024;

/** Size of a buffer for which the engine collects its garbage. */
const COLLECTED_BYTES = 256 * 1024 * 1024;

/** Loads the code that reads a source: other commands do not need it. */
type Load = () => Promise<Importer>;

/** Command `switchyard import litellm FILE`. */
export const importLitellm: Command = newImport(
  "litellm",
  "LiteLLM",
  async () => (await import("../import/litellm.ts")).importLitellm,
);

/** Command `switchyard import claude-code-router FILE`. */
export const importClaudeCodeRouter: Command = newImport(
  "claude-code-router",
  "claude-code-router",
  async () => (await import("../import/claude_code_router.ts")).importClaudeCodeRouter,
);

function newImport(source: string, title: string, load: Load): Command {
  const name = `import ${source}`;
  return {
    name,
    about:
      `Writes a configuration file from one of ${title}, and reports what became of each value.`,
    word: FILE,
    writesFiles: true,
    options: {
      output: {
        value: "FILE",
        about: "Writes the configuration to this new file; default: standard output.",
      },
      report: { value: "FILE", about: "Also writes the report as JSON to this new file." },
      strict: { value: null, about: "Fails if a value of the source has no counterpart." },
    },
    async run(options, terminal) {
      const path = optionValue(options, FILE) ?? "";
      if (path === "") return wrongUsage(terminal, name, `Name the file of ${title}.`);
      const [output, report] = ["output", "report"].map((one) => optionValue(options, one));
      if (output !== undefined && report !== undefined && normalize(output) === normalize(report)) {
        return wrongUsage(terminal, name, "--output and --report name the same file.");
      }
      const { reportText } = await import("../import/report.ts");
      const importer = await load();
      const read = await readSmallFile(path, MAX_SOURCE_BYTES);
      if (!read.ok) return printProblems(terminal, [`Cannot read ${path}: ${read.reason}.`]);
      const { variables, warnings: unread } = await fillVariables(
        terminal.environment,
        [dirname(path), "."],
      );
      // The source may be from a stranger: nothing but the two new files is needed from here on.
      terminal.dropReadAccess();
      terminal.dropNetworkAccess();
      if (output === undefined && report === undefined) terminal.dropWriteAccess();
      const result = importer(read.text, variables);
      if (!result.ok) return printProblems(terminal, [`${path}: ${result.problem}.`]);
      const { imported } = result;
      await collectGarbage();
      const { problems, warnings: excluded } = checkImported(imported);
      const warnings = [...unread, ...excluded];
      const isValid = imported.file !== null && problems.length === 0;
      const isMissing = imported.lines.some(({ status }) => status === "missing");
      const isRefused = options.has("strict") && isMissing;
      terminal.err(reportText(imported.lines));
      terminal.err(closingText(imported, problems));
      for (const warning of warnings) terminal.err(`Warning: ${visible(warning)}\n`);
      if (isRefused) terminal.err("Values are missing, and --strict is set: nothing is written.\n");
      if (report !== undefined) {
        const trouble = terminal.create(
          report,
          reportJson(source, imported, { problems, warnings }),
        );
        if (trouble !== null) return printProblems(terminal, [`${report} ${trouble}.`]);
      }
      if (!isValid || isRefused || imported.file === null) return FAILED_STATUS;
      if (output === undefined) {
        terminal.out(imported.file);
        return OK_STATUS;
      }
      const trouble = terminal.create(output, imported.file);
      if (trouble !== null) return printProblems(terminal, [`${output} ${trouble}.`]);
      terminal.out(
        `${output} is written. Read it, then run "switchyard check" and "switchyard".\n`,
      );
      return OK_STATUS;
    },
  };
}

/**
 * Makes the engine collect the objects by which a large source was read, before the file is
 * checked: it does so for a large buffer, which takes no memory while nothing is written into it.
 */
async function collectGarbage(): Promise<void> {
  try {
    new ArrayBuffer(COLLECTED_BYTES);
  } catch {
    // The process has no room for it.
  }
  await new Promise((resolve) => setTimeout(resolve, 0));
}

/**
 * Returns the problems that `check` has with an imported file while its variables are set, and its
 * targets that a parameter excludes.
 */
export function checkImported(
  { file, standIns }: Imported,
): { readonly problems: readonly string[]; readonly warnings: readonly string[] } {
  if (file === null) return { problems: [], warnings: [] };
  // Files of credentials are looked for where the configuration will be, by `switchyard check`.
  const loaded = parseConfig(file, standIns, { ...NOTHING_OUTSIDE, files: null });
  if (loaded.ok) return presetLines(compile(loaded.config, 1));
  return { problems: loaded.problems, warnings: [] };
}

function closingText({ file, variables }: Imported, problems: readonly string[]): string {
  if (file === null) return "Nothing of the source can be served, so there is no result.\n";
  if (problems.length > 0) {
    return ["The result does not pass check:", ...problems, ""].join("\n");
  }
  const set = variables.length === 0 ? "" : `Set before the start: ${variables.join(", ")}.\n`;
  return `The result passes check.\n${set}`;
}

function reportJson(
  source: string,
  { file, lines }: Imported,
  { problems, warnings }: ReturnType<typeof checkImported>,
): string {
  const result = file === null ? "none" : problems.length === 0 ? "valid" : "invalid";
  const report = { source, version: VERSION, result, lines, check: problems, warnings };
  return `${JSON.stringify(report, null, 2)}\n`;
}
