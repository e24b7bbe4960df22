import { CLOCK_SKEW_S } from "../../../src/access/tokens/verify.ts";
import { signToken } from "../../tools/issuer.ts";
import { hasBlock, resultsOf, toolsOf } from "./exchange.ts";
import type { Faults, UpstreamFault } from "./place.ts";
import type { ProviderType, Verdict } from "./results.ts";
import { PICTURE, type Seen, type SessionOptions } from "./session.ts";

/** One use of the client: what the session is started with and what must be observed. */
export interface Use {
  readonly title: string;
  /** The provider types that it can be run over; absent means all. */
  readonly types?: readonly ProviderType[];
  /**
   * Returns what differs from the usual session; called for each session, so faults begin again.
   */
  options(): Pick<SessionOptions, "prompts"> & Partial<SessionOptions>;
  check(seen: Seen, type: ProviderType): Verdict;
}

/** A time in the year 2001, in seconds since 1970. */
const EXPIRED_S = 1_000_000_000;

/** Time for which a token is valid that expires in a session: longer than the client's start. */
const SHORT_S = 20;

/** Last text of each plan. */
export const DONE = "All done.";

/** Returns a prompt with a plan for the model. */
export function planned(...turns: readonly unknown[]): string {
  return `sim-plan: ${JSON.stringify(turns)}`;
}

/** Returns the turn of a plan in which the model calls tools. */
export function calls(...named: readonly (readonly [name: string, input: unknown])[]) {
  return { call: named.map(([name, input]) => ({ name, input })) };
}

/** Returns faults that happen to the first request only. */
export function once(fault: UpstreamFault): Faults {
  let isOver = false;
  return () => {
    if (isOver) return null;
    isOver = true;
    return fault;
  };
}

/** Returns the verdict of a row; `note` says how it passed. */
export function expected(isTrue: boolean, otherwise: string, note = ""): Verdict {
  if (!isTrue) return `fail: ${otherwise}`;
  return note === "" ? "pass" : `pass: ${note}`;
}

/** True if the session ended with the last text of its plan and no request was refused. */
function endsWell({ result, exchanges }: Seen): boolean {
  return result === DONE && exchanges.every(({ status }) => status === 200);
}

/** Returns the last text of a session and the statuses of its requests. */
export function summaryOf({ result, exchanges }: Seen): string {
  const statuses = exchanges.map(({ status }) => status).join(" ");
  return `${result.slice(0, 120) || "no result"} (${statuses})`;
}

function lastResults({ exchanges }: Seen) {
  return resultsOf(exchanges.at(-1)?.body ?? {});
}

/** Returns how many requests of a session were refused or failed. */
export function errorCount({ exchanges }: Seen): number {
  return exchanges.filter(({ status }) => status >= 400).length;
}

/** Call that reads a file of the project. */
export const READ = (file_path: string) => ["Read", { file_path }] as const;
/** Turn that loads a deferred tool. */
export const SEARCH = (name: string) => calls(["ToolSearch", { query: `select:${name}` }]);
const hello = () => ({ prompts: [planned(DONE)] });

/** The uses of the client, in the order of the rows. */
export const USES: readonly Use[] = [
  {
    title: "text",
    options: hello,
    check: (seen) => expected(endsWell(seen), summaryOf(seen)),
  },
  {
    title: "one tool",
    options: () => ({ prompts: [planned(calls(["Bash", { command: "echo one" }]), DONE)] }),
    check(seen) {
      const [first] = lastResults(seen);
      return expected(endsWell(seen) && first?.text === "one", summaryOf(seen));
    },
  },
  {
    title: "three parallel tools, one fails",
    options: () => ({
      prompts: [planned(
        calls(["Bash", { command: "echo one" }], ["Bash", { command: "exit 3" }], READ("note.txt")),
        DONE,
      )],
    }),
    check(seen) {
      const failed = lastResults(seen).map(({ isError }) => isError).join();
      return expected(endsWell(seen) && failed === "false,true,false", summaryOf(seen));
    },
  },
  {
    title: "reads an image",
    options: () => ({ prompts: [planned(calls(READ("picture.png")), DONE)] }),
    check(seen) {
      const arrived = seen.received.some((body) => body.includes(PICTURE.slice(0, 16)));
      return expected(endsWell(seen) && arrived, summaryOf(seen));
    },
  },
  {
    title: "reads a PDF",
    options: () => ({ prompts: [planned(calls(READ("paper.pdf")), DONE)] }),
    check(seen, type) {
      const arrived = seen.received.some((body) => body.includes(btoa("%PDF-1.1\n").slice(0, 11)));
      const goesOn = seen.result === DONE && seen.exchanges.at(-1)?.status === 200;
      return type === "local"
        ? expected(goesOn && !arrived, summaryOf(seen), "refused, taken out by the client")
        : expected(endsWell(seen) && arrived, summaryOf(seen));
    },
  },
  {
    title: "ToolSearch loads a deferred tool",
    options: () => ({ prompts: [planned(SEARCH("CronList"), calls(["CronList", {}]), DONE)] }),
    check(seen) {
      const isDeferred = toolsOf(seen.exchanges[0]?.body ?? {}).some((tool) => tool.defer_loading);
      const isCalled = lastResults(seen).length === 2;
      return expected(endsWell(seen) && isDeferred && isCalled, summaryOf(seen));
    },
  },
  {
    title: "WebSearch",
    options: () => ({
      prompts: [planned(SEARCH("WebSearch"), calls(["WebSearch", { query: "weather" }]), DONE)],
    }),
    check(seen, type) {
      const searched = seen.exchanges.some(({ body }) =>
        toolsOf(body).some((tool) => String(tool.type).startsWith("web_search"))
      );
      if (type === "messages") return expected(endsWell(seen) && searched, summaryOf(seen));
      const refused = lastResults(seen).at(-1)?.text.includes("is not offered by this provider");
      return expected(
        seen.result === DONE && searched && refused === true,
        summaryOf(seen),
        "refused, the session continues",
      );
    },
  },
  {
    title: "subagent",
    options: () => ({
      prompts: [planned(
        calls(["Agent", {
          description: "Says a word",
          prompt: planned("From the subagent."),
          subagent_type: "general-purpose",
          run_in_background: false,
        }]),
        DONE,
      )],
    }),
    check(seen) {
      const isReported = lastResults(seen).some(({ text }) => text.includes("From the subagent."));
      const ids = seen.exchanges.some(({ headers }) => headers.has("x-claude-code-agent-id"));
      return expected(endsWell(seen) && isReported && ids, summaryOf(seen));
    },
  },
  {
    title: "/compact",
    options: () => ({
      prompts: [
        planned("First.", "<summary>The user said hello.</summary>"),
        "/compact",
        planned(DONE),
      ],
    }),
    check(seen) {
      const last = JSON.stringify(seen.exchanges.at(-1)?.body.messages ?? []);
      const isCompact = last.includes("The user said hello.") && !last.includes("First.");
      return expected(endsWell(seen) && isCompact, summaryOf(seen));
    },
  },
  {
    title: "/context",
    options: () => ({ prompts: [planned("First."), "/context"] }),
    check(seen, type) {
      const counts = seen.exchanges.filter(({ path }) => path.endsWith("/count_tokens"));
      const status = type === "messages" ? 200 : 501;
      const agrees = counts.every((count) => count.status === status);
      const note = counts.length === 0
        ? "estimated by the client, which sent no count"
        : type === "messages"
        ? "counted"
        : "counting refused, the client estimates";
      return expected(/context/i.test(seen.result) && agrees, summaryOf(seen), note);
    },
  },
  {
    title: "cut stream",
    options: () => ({ ...hello(), faults: once({ cutBehind: "All" }) }),
    check(seen) {
      return expected(
        seen.result === DONE,
        summaryOf(seen),
        `repeated with stream ${seen.exchanges.at(-1)?.body.stream ?? false}`,
      );
    },
  },
  {
    title: "529, then success",
    options: () => ({ ...hello(), faults: once({ status: 529, message: "Overloaded" }) }),
    check: (seen) => expected(seen.result === DONE && errorCount(seen) === 1, summaryOf(seen)),
  },
  {
    title: "401",
    options: () => ({ ...hello(), key: "sk-unknown" }),
    check(seen) {
      const { length } = seen.exchanges;
      const isRefused = /authenticat/i.test(seen.result);
      return expected(isRefused && length <= 2, summaryOf(seen), "ends at once");
    },
  },
  {
    title: "tokens of an issuer from `apiKeyHelper`, the first one expired",
    options() {
      const second = `if [ -e "$HOME/asked" ]; then echo ${signToken()}; else`;
      const helper = `${second} touch "$HOME/asked"; echo ${signToken(EXPIRED_S)}; fi`;
      const settings = JSON.stringify({ apiKeyHelper: helper });
      return { ...hello(), key: "", args: ["--settings", settings] };
    },
    check(seen) {
      const statuses = seen.exchanges.map(({ status }) => status);
      const isRenewed = statuses[0] === 401 && statuses.slice(1).every((one) => one === 200);
      return expected(
        seen.result === DONE && isRenewed,
        summaryOf(seen),
        "the client asks for another one",
      );
    },
  },
  {
    title: "tokens of an issuer from `apiKeyHelper`, one expires in the session",
    options() {
      const endS = Math.floor(Date.now() / 1000) + SHORT_S;
      const [short, next] = [signToken(endS - CLOCK_SKEW_S), signToken()];
      const helper = `if [ $(date +%s) -lt ${endS} ]; then echo ${short}; else echo ${next}; fi`;
      const wait = `timeout ${SHORT_S} tail -f /dev/null; echo one`;
      return {
        prompts: [planned(calls(["Bash", { command: wait }]), DONE)],
        key: "",
        args: ["--settings", JSON.stringify({ apiKeyHelper: helper })],
      };
    },
    check(seen) {
      const [first, ...later] = seen.exchanges.map(({ status }) => status);
      const isRenewed = first === 200 && later.filter((one) => one !== 200).join() === "401";
      return expected(
        seen.result === DONE && isRenewed,
        summaryOf(seen),
        "the client asks for another one",
      );
    },
  },
  {
    title: "unknown model",
    options: () => ({ ...hello(), model: "sim-nowhere" }),
    check(seen) {
      const isRefused = /issue with the selected model/.test(seen.result);
      return expected(isRefused, summaryOf(seen), "the client names the model");
    },
  },
  {
    title: "first turn, provider declares `reasoning_effort`",
    options: hello,
    check: (seen) => expected(endsWell(seen), summaryOf(seen), "no 400"),
  },
  {
    title: "first turn, provider does not declare it",
    options: () => ({ ...hello(), declared: false }),
    check(seen, type) {
      if (type === "messages") return expected(endsWell(seen), summaryOf(seen), "no 400");
      const isOne = seen.result === DONE && errorCount(seen) === 1;
      return expected(isOne, summaryOf(seen), "exactly one 400");
    },
  },
  {
    title: "thinking comes back in a tool loop",
    options: () => ({
      prompts: [planned({ think: "A thought.", ...calls(["Bash", { command: "echo" }]) }, DONE)],
    }),
    check(seen) {
      const sent = hasBlock(seen.exchanges.at(-1)?.body ?? {}, "thinking");
      const arrived = seen.received.at(-1)?.includes("A thought.");
      const note = arrived ? "" : "sent, but this upstream takes no text of thinking";
      return expected(endsWell(seen) && sent, summaryOf(seen), note);
    },
  },
];
