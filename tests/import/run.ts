import { importLitellm } from "/work/wt/o39/src/import/litellm.ts";
import { importClaudeCodeRouter } from "/work/wt/o39/src/import/claude_code_router.ts";
import { checkProblems } from "/work/wt/o39/src/cli/import.ts";
import { reportText } from "/work/wt/o39/src/import/report.ts";
import { parseConfig } from "/work/wt/o39/src/config/load.ts";
import { compile } from "/work/wt/o39/src/gateway/compile.ts";
import { presetLines } from "/work/wt/o39/src/cli/preset_lines.ts";
const text = Deno.readTextFileSync(Deno.args[0]);
const only = Deno.args[1] ?? "";
for (const part of text.split(/^=== /m).slice(1)) {
  const nl = part.indexOf("\n");
  const name = part.slice(0, nl).trim();
  if (!name.includes(only)) continue;
  const source = part.slice(nl + 1);
  console.log("##########", name);
  const result = (name.startsWith("ccr") ? importClaudeCodeRouter : importLitellm)(source, {});
  if (!result.ok) { console.log("PROBLEM", result.problem); continue; }
  const { file, lines } = result.imported;
  console.log((file ?? "NOTHING").replace(/    capabilities:\n(      .*\n)*/g, ""));
  console.log(reportText(lines));
  console.log("CHECK", checkProblems(result.imported));
  if (file !== null) {
    const loaded = parseConfig(file, result.imported.standIns);
    if (loaded.ok) console.log("WARN", [...loaded.warnings, ...presetLines(compile(loaded.config, 1)).warnings]);
  }
}
