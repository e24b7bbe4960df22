import { isObject, parseJson } from "../../src/core/json/json.ts";
import { signThinking } from "../../src/simulator/hash.ts";
import { pythonWith } from "../tools/package_cache.ts";
import expected from "./langchain_tests.json" with { type: "json" };
import { CLIENT_KEY, KINDS, startSystem } from "./system.ts";
import { judge } from "./verdict.ts";

// The standard tests that LangChain has for integrations, for its clients of Chat Completions,
// Responses and Messages, over each kind of provider.

const PACKAGES = [
  "langchain-tests==1.1.9",
  "langchain-openai==1.7.4",
  "langchain-anthropic==1.7.10",
];

/** A call that the model makes. */
interface PlannedCall {
  readonly name: string;
  readonly input: object;
}

/** Texts and calls of the model by the words of a question. */
const PLANS: Readonly<Record<string, string | PlannedCall>> = {
  "What is the value of magic_function(3)? Use the tool.": {
    name: "magic_function",
    input: { input: 3 },
  },
  "What is the value of magic_function_no_args()? Use the tool.": {
    name: "magic_function_no_args",
    input: {},
  },
  "(Hello Group) - a Chinese technology company": {
    name: "unicode_customer",
    input: { customer_name: "你好啊集团", description: "技术公司" },
  },
  "(Hello Corporation) - a Japanese company": {
    name: "unicode_customer",
    input: { customer_name: "こんにちは株式会社", description: "会社" },
  },
  "'punchline' keys. Return nothing other than JSON.": JSON.stringify({
    setup: "Why do cats purr?",
    punchline: "Because they can.",
  }),
};

/** Thinking in a history of the tests, whose signature is of Anthropic's own model. */
const FOREIGN_THINKING = {
  text: "This is a simple greeting. I should respond warmly and professionally, and perhaps ask " +
    "how I can help the person today.",
  signature: /"ErUBCkYICBgCIkDCTQUX[^"]*"/,
};

/**
 * Returns the body of a request as the simulator's model needs it: with the plans behind the
 * questions, and with the signature that this model would have made.
 */
function withPlans(body: string): string {
  const request = parseJson(body);
  // The schema of a text over local: a model that is bound to it writes the call as that text.
  const isText = isObject(request) && isObject(request.format);
  const { text, signature } = FOREIGN_THINKING;
  return Object.entries(PLANS).reduce((edited, [question, turn]) => {
    const plan = typeof turn === "string"
      ? turn
      : isText
      ? JSON.stringify(turn.input)
      : { call: [turn] };
    const planned = `${question}\nsim-plan: ${JSON.stringify([plan])}`;
    return edited.replaceAll(question, () => JSON.stringify(planned).slice(1, -1));
  }, body.replace(signature, JSON.stringify(signThinking(text))));
}

const python = await pythonWith(PACKAGES);
await using system = await startSystem({ edit: withPlans });
const script = new URL("langchain_cases.py", import.meta.url).pathname;

/** Runs the tests over a kind of provider; returns what the program printed. */
async function outputOver(kind: string): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(python, {
    args: [script, system.url, CLIENT_KEY, kind],
    env: { PYTHONDONTWRITEBYTECODE: "1", LANGSMITH_TRACING: "false" },
    stdin: "null",
  }).output();
  const output = new TextDecoder().decode(stdout);
  if (code !== 0) throw new Error(`${output}\n${new TextDecoder().decode(stderr)}`);
  return output;
}

const output = (await Promise.all(KINDS.map(outputOver))).join("\n");
const cases = output.split("\n").filter((line) => line.startsWith('{"case": '))
  .map((line): { case: string; outcome: string; words: string } => JSON.parse(line));
console.log(`${cases.filter(({ outcome }) => outcome === "skipped").length} cases are skipped`);
const tried = cases.filter(({ outcome }) => outcome !== "skipped");
const red = new Map(
  tried.filter(({ outcome }) => outcome === "failed").map((one) => [one.case, one.words]),
);
Deno.exitCode = await judge("langchain_tests", PACKAGES, { tried: tried.length, red }, expected);
