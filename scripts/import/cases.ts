/** A request that both gateways get, for a name of a file. */
export interface Case {
  readonly name: string;
  /**
   * Entries, fallbacks and settings of a file of LiteLLM. `AT/x` is the address of the upstream,
   * which acts as `x` says: `ok`, or a status with which it responds.
   */
  readonly file: string;
  readonly requests: readonly { readonly model: string; readonly stream?: boolean }[];
  /** Difference by the path of its line in the report; absent for none. */
  readonly differs?: string;
}

function entry(name: string, model: string, at: string, more = ""): string {
  const key = `sk-upstream-${at.replaceAll("/", "-")}-0123456789`;
  return `  - model_name: ${name}
    litellm_params: {model: ${model}, api_base: "AT/${at}/v1", api_key: ${key}${more}}
`;
}

/** The cases in which both gateways are compared. */
export const CASES: readonly Case[] = [
  {
    name: "a name with another model",
    file: `model_list:\n${entry("fast", "openai/m-one", "ok")}`,
    requests: [{ model: "fast" }, { model: "fast", stream: true }],
  },
  {
    name: "a name with a slash, whose first part is a prefix",
    file: `model_list:\n${entry("openai/m-one", "openai/m-one", "ok")}`,
    requests: [{ model: "openai/m-one" }],
  },
  {
    name: "several names over one provider",
    file: `model_list:\n${entry("one", "openai/m-one", "ok")}${
      entry("two", "hosted_vllm/m-two", "ok")
    }${entry("three", "nvidia_nim/m-three", "ok")}`,
    requests: [{ model: "one" }, { model: "two" }, { model: "three" }],
  },
  {
    name: "the Messages API",
    file: `model_list:
  - model_name: claude
    litellm_params: {model: anthropic/claude-x, api_base: "AT/ok", api_key: sk-upstream-messages-0123}
`,
    requests: [{ model: "claude" }],
  },
  {
    name: "a fallback after 500",
    file:
      `model_list:\n${entry("main", "openai/m-bad", "500")}${
        entry("spare", "openai/m-good", "ok")
      }` +
      "litellm_settings: {num_retries: 1, fallbacks: [{main: [spare]}]}\n",
    requests: [{ model: "main" }],
  },
  {
    name: "a fallback after 429",
    file:
      `model_list:\n${entry("main", "openai/m-bad", "429")}${
        entry("spare", "openai/m-good", "ok")
      }` +
      "router_settings: {num_retries: 1, fallbacks: [{main: [spare]}]}\n",
    requests: [{ model: "main" }],
  },
  {
    name: "a fallback with its own fallback comes before the next one",
    file:
      `model_list:\n${entry("a", "openai/m-a", "500")}${entry("b", "openai/m-b", "500")}${
        entry("c", "openai/m-c", "ok")
      }${entry("d", "openai/m-d", "ok")}` +
      "router_settings: {num_retries: 0, fallbacks: [{a: [b, c]}, {b: [d]}]}\n",
    requests: [{ model: "a" }],
  },
  {
    name: "a list of fallbacks, whose second name is one deeper than the first one",
    file: `model_list:\n${
      ["a", "b", "c", "d", "e", "f", "g"].map((name) => entry(name, `openai/m-${name}`, "500"))
        .join("")
    }router_settings: {num_retries: 0, fallbacks: [{a: [b, c]}, {c: [d, e]}, {e: [f]}, {f: [g]}]}\n`,
    requests: [{ model: "a" }, { model: "c" }],
  },
  {
    name: "a fallback without a list, which goes on with the fallbacks of the requested name",
    file: `model_list:\n${
      ["a", "b", "c", "d", "e"].map((name) => entry(name, `openai/m-${name}`, "500")).join("")
    }router_settings: {num_retries: 0, fallbacks: [{b: [c, d]}, {c: [e, a]}, {a: [d]}]}\n`,
    requests: [{ model: "b" }],
  },
  {
    name: "fallbacks behind orders, each of which is one deeper",
    file: `model_list:\n${
      [["a", 1], ["a", 2], ["a", 3], ["b", 0], ["c", 1], ["c", 2], ["d", 1], ["d", 2], ["e", 0]]
        .map(
          ([name, order], at) =>
            entry(
              String(name),
              `openai/m-${name}${at}`,
              "500",
              order === 0 ? "" : `, order: ${order}`,
            ),
        ).join("")
    }router_settings: {num_retries: 0, fallbacks: [{a: [b]}, {b: [c]}, {c: [d]}, {d: [e]}]}\n`,
    requests: [{ model: "a" }, { model: "b" }, { model: "c" }],
  },
  {
    name: "a fallback by the model of an entry, which has a list of its own",
    file: `model_list:\n${
      ["a", "b", "c", "d"].map((name) => entry(name, `openai/m-${name}`, "500")).join("")
    }router_settings: {num_retries: 0, fallbacks: [{a: [openai/m-b]}, {openai/m-b: [c]}, {m-c: [d]}]}\n`,
    requests: [{ model: "a" }],
  },
  {
    name: "a circle of fallbacks",
    file: `model_list:\n${entry("a", "openai/m-a", "500")}${entry("b", "openai/m-b", "500")}` +
      "router_settings: {num_retries: 0, fallbacks: [{a: [b]}, {b: [a]}]}\n",
    requests: [{ model: "a" }],
  },
  {
    name: "default fallbacks",
    file: `model_list:\n${entry("a", "openai/m-a", "500")}${entry("b", "openai/m-b", "ok")}` +
      "router_settings: {num_retries: 0, default_fallbacks: [b]}\n",
    requests: [{ model: "a" }],
  },
  {
    name: "orders",
    file: `model_list:\n${entry("a", "openai/m-a", "500", ", order: 1")}${
      entry("a", "openai/m-b", "ok", ", order: 2")
    }router_settings: {num_retries: 1}\n`,
    requests: [{ model: "a" }],
  },
  {
    name: "a refused key with a later order",
    file: `model_list:\n${entry("a", "openai/m-a", "401", ", order: 1")}${
      entry("a", "openai/m-b", "ok", ", order: 2")
    }router_settings: {num_retries: 0}\n`,
    requests: [{ model: "a" }],
    differs: "model_list[1].litellm_params.order",
  },
  {
    name: "a long prompt with fallbacks for it",
    file: `model_list:\n${entry("a", "openai/m-a", "long")}${entry("b", "openai/m-b", "ok")}` +
      "router_settings: {num_retries: 1, context_window_fallbacks: [{a: [b]}]}\n",
    requests: [{ model: "a" }],
  },
  {
    name: "a long prompt with fallbacks of fallbacks for it",
    file: `model_list:\n${
      ["a", "b", "c", "d", "e"].map((name) => entry(name, `openai/m-${name}`, "long")).join("")
    }router_settings: {context_window_fallbacks: [{b: [c, d]}, {c: [e, a]}, {a: [d]}]}\n`,
    requests: [{ model: "b" }, { model: "e" }],
  },
  {
    name: "a long prompt with plain fallbacks, where others have fallbacks for it",
    file: `model_list:\n${entry("a", "openai/m-a", "long")}${entry("b", "openai/m-b", "ok")}` +
      "router_settings: {fallbacks: [{a: [b]}], context_window_fallbacks: [{b: [a]}]}\n",
    requests: [{ model: "a" }],
  },
  {
    name: "a long prompt with plain fallbacks",
    file: `model_list:\n${entry("a", "openai/m-a", "long")}${entry("b", "openai/m-b", "ok")}` +
      "router_settings: {num_retries: 1, fallbacks: [{a: [b]}]}\n",
    requests: [{ model: "a" }],
  },
  {
    name: "a long prompt with a later order and fallbacks",
    file: `model_list:\n${entry("a", "openai/m-a1", "long", ", order: 1")}${
      entry("a", "openai/m-a2", "ok", ", order: 2")
    }${entry("b", "openai/m-b", "ok")}router_settings: {num_retries: 0, fallbacks: [{a: [b]}]}\n`,
    requests: [{ model: "a" }],
    differs: "model_list[1].litellm_params.order",
  },
  {
    name: "a refused key with fallbacks",
    file: `model_list:\n${entry("a", "openai/m-a", "401")}${entry("b", "openai/m-b", "ok")}` +
      "router_settings: {num_retries: 1, fallbacks: [{a: [b]}]}\n",
    requests: [{ model: "a" }],
    differs: "router_settings.fallbacks[0].a[0]",
  },
  {
    name: "a malformed request with fallbacks",
    file: `model_list:\n${entry("a", "openai/m-a", "400")}${entry("b", "openai/m-b", "ok")}` +
      "router_settings: {num_retries: 1, fallbacks: [{a: [b]}]}\n",
    requests: [{ model: "a" }],
    differs: "router_settings.fallbacks[0].a[0]",
  },
  {
    name: "an alias of a name",
    file: `model_list:\n${entry("a", "openai/m-a", "ok")}` +
      "router_settings: {model_group_alias: {short: a}}\n",
    requests: [{ model: "short" }],
  },
  {
    name: "an alias with fallbacks, which the name behind it has not",
    file: `model_list:\n${entry("a", "openai/m-a", "500")}${entry("b", "openai/m-b", "ok")}` +
      "router_settings: {num_retries: 1, model_group_alias: {short: a}, fallbacks: [{short: [b]}]}\n",
    requests: [{ model: "short" }, { model: "a" }],
  },
  {
    name: "a pattern that is the pattern of the provider",
    file: `model_list:\n${entry('"claude-*"', '"openai/claude-*"', "ok")}`,
    requests: [{ model: "claude-x" }],
  },
  {
    name: "the model as LiteLLM writes it",
    file: `model_list:\n${entry("fast", "nvidia_nim/m-one", "ok")}`,
    requests: [{ model: "nvidia_nim/m-one" }],
  },
  {
    name: "an unknown model",
    file: `model_list:\n${entry("fast", "openai/m-one", "ok")}`,
    requests: [{ model: "other" }],
    differs: "routing",
  },
  {
    name: "a deployment with a slow stream and a short timeout",
    file: `model_list:\n${entry("slow", "openai/m-slow", "slow", ", timeout: 1")}` +
      "router_settings: {num_retries: 0}\n",
    requests: [{ model: "slow", stream: true }],
  },
  {
    name: "an entry with two addresses",
    file: `model_list:\n${entry("a", "openai/m-one", "500", ', base_url: "AT/ok/v1"')}`,
    requests: [{ model: "a" }],
  },
  {
    name: "parameters of an entry, and those of the request",
    file: `model_list:\n${entry("p", "openai/m-one", "ok", ", temperature: 0.3, max_tokens: 77")}`,
    requests: [{ model: "p" }],
  },
];
