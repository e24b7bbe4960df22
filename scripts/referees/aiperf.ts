import { pythonWith } from "../tools/package_cache.ts";
import expected from "./aiperf.json" with { type: "json" };
import { CLIENT_KEY, KINDS, startSystem } from "./system.ts";
import { judge } from "./verdict.ts";

// AIPerf as load: streams of a known length over each client API, by turns over each kind of
// provider. A case is red if a call fails, or if its usage has other tokens than the model has
// said. The figures of AIPerf are printed, not judged: the machine decides them.

const PACKAGE = "aiperf==0.13.0";

/** Kinds of endpoints as AIPerf names them: the client APIs. */
const APIS = ["chat", "responses", "messages"];
const CALL_COUNT = 128;
const WORKER_COUNT = 16;

/** The question, which the model repeats at a word each 5 ms. */
const WORDS = Array.from({ length: 32 }, (_, at) => `word${at + 1}`);
const MODEL = "sim-slow-5";

/** A tokenizer of one token, so that AIPerf loads none from elsewhere; it counts by the usage. */
const TOKENIZER = {
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: { type: "WhitespaceSplit" },
  post_processor: null,
  decoder: null,
  model: { type: "WordLevel", vocab: { "[UNK]": 0 }, unk_token: "[UNK]" },
};
const TOKENIZER_CONFIG = { tokenizer_class: "PreTrainedTokenizerFast", unk_token: "[UNK]" };

/** Members of the report of AIPerf that the script reads. */
interface Report {
  readonly error_summary: readonly unknown[];
  readonly was_cancelled: boolean;
  readonly request_count?: Metric;
  readonly total_usage_prompt_tokens?: Metric;
  readonly total_usage_completion_tokens?: Metric;
  readonly request_throughput?: Metric;
  readonly time_to_first_token?: Metric;
  readonly inter_token_latency?: Metric;
}

interface Metric {
  readonly avg: number;
}

/** Returns a sentence about each thing in a report that is wrong. */
function problemsOf(report: Report): readonly string[] {
  const { error_summary, was_cancelled, request_count } = report;
  const tokens = WORDS.length * CALL_COUNT;
  const output = report.total_usage_completion_tokens?.avg;
  const input = report.total_usage_prompt_tokens?.avg;
  return [
    ...error_summary.map((one) => JSON.stringify(one)),
    ...(was_cancelled ? ["The run was cancelled."] : []),
    ...(request_count?.avg === CALL_COUNT ? [] : [`${request_count?.avg} calls were completed.`]),
    ...(output === tokens ? [] : [`There are ${output} tokens of output, not ${tokens}.`]),
    ...(input === tokens ? [] : [`There are ${input} tokens of input, not ${tokens}.`]),
  ];
}

/** Runs AIPerf over a client API; returns its report. */
async function reportOf(program: string, api: string, folder: string): Promise<Report> {
  await using system = await startSystem();
  const artifacts = `${folder}/${api}`;
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args: [
      ...["profile", "--ui", "none", "--streaming", "--use-server-token-count"],
      ...["--model", KINDS.map((kind) => `${kind}/${MODEL}`).join(",")],
      ...["--url", system.url, "--api-key", CLIENT_KEY, "--endpoint-type", api],
      ...["--request-count", `${CALL_COUNT}`, "--concurrency", `${WORKER_COUNT}`],
      ...["--input-file", `${folder}/questions.jsonl`, "--custom-dataset-type", "single_turn"],
      ...["--tokenizer", `${folder}/tokenizer`, "--artifact-dir", artifacts],
    ],
    cwd: folder,
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(decoder.decode(stdout) + decoder.decode(stderr));
  return JSON.parse(await Deno.readTextFile(`${artifacts}/profile_export_aiperf.json`));
}

const program = (await pythonWith([PACKAGE])).replace(/python$/, "aiperf");
const folder = await Deno.makeTempDir();
const red = new Map<string, string>();
try {
  await Deno.mkdir(`${folder}/tokenizer`);
  for (
    const [name, value] of Object.entries({
      "tokenizer/tokenizer.json": TOKENIZER,
      "tokenizer/tokenizer_config.json": TOKENIZER_CONFIG,
    })
  ) await Deno.writeTextFile(`${folder}/${name}`, JSON.stringify(value));
  // The models are for the questions by turns, so each kind needs a question.
  const question = JSON.stringify({ text: WORDS.join(" ") });
  await Deno.writeTextFile(`${folder}/questions.jsonl`, KINDS.map(() => `${question}\n`).join(""));
  for (const api of APIS) {
    const report = await reportOf(program, api, folder);
    const { request_throughput, time_to_first_token, inter_token_latency } = report;
    console.log(
      `${api}: ${request_throughput?.avg} calls/s, first token after ` +
        `${time_to_first_token?.avg} ms, ${inter_token_latency?.avg} ms between tokens`,
    );
    const problems = problemsOf(report);
    if (problems.length > 0) red.set(api, problems.join(" "));
  }
} finally {
  await Deno.remove(folder, { recursive: true });
}
Deno.exitCode = await judge(
  "aiperf",
  [PACKAGE],
  { tried: APIS.length, red },
  expected,
  `cases of ${CALL_COUNT} calls`,
);
