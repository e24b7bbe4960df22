import { checkImported } from "../../src/cli/import.ts";
import { importLitellm } from "../../src/import/litellm.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** An entry of `model_list`. */
function entry(model_name: string, model: string, more: object = {}, model_info?: object) {
  return {
    model_name,
    litellm_params: { model, api_key: "os.environ/K", ...more },
    ...model_info !== undefined && { model_info },
  };
}

/** Imports a LiteLLM file: returns the text of the new one, and a function of lines by paths. */
function imported(source: object) {
  const result = importLitellm(JSON.stringify(source), {});
  assert(result.ok);
  assertEquals(checkImported(result.imported).problems, []);
  const { file, lines } = result.imported;
  return {
    file: file ?? "",
    /** The status, the places and the note of a value. */
    line(path: string): string {
      const found = lines.find((one) => one.path === path);
      assert(found !== undefined, path);
      const { status, to, note } = found;
      return [status, to.join(", "), note].filter(Boolean).join(" | ");
    },
  };
}

/** Returns the lines below a key of the file, up to the next comment or empty line. */
function part(file: string, key: string): string {
  return new RegExp(`^ *${key}:\n((?: {4,}.*\n)*)`, "m").exec(file)?.[1] ?? "";
}

Deno.test("an entry without a share is tried after the other entries of its name", () => {
  const { file, line } = imported({
    model_list: [
      entry("a", "openai/one", { rpm: 100 }),
      entry("a", "groq/two"),
      entry("b", "openai/one", { weight: 1 }),
      entry("b", "groq/two", { weight: 0 }),
    ],
  });
  const targets = "    targets:\n      - {provider: openai, model: one}\n" +
    "    fallback:\n      - {provider: groq, model: two}\n";
  assertEquals([part(file, "a"), part(file, "b")], [targets, targets]);
  assertEquals(
    line("model_list[3].litellm_params.weight"),
    "differently | models.b.fallback | tried in order after the targets of the name",
  );
});

Deno.test("a key without a share is tried after the other keys of its name", () => {
  const { file } = imported({
    model_list: [
      entry("a", "openai/one", { rpm: 5 }),
      entry("a", "openai/one", { rpm: 5, api_key: "os.environ/OTHER" }),
      entry("a", "openai/one", { api_key: "os.environ/THIRD" }),
    ],
  });
  assert(part(file, "a").includes("fallback:\n      - {provider: openai-2, model: one}"), file);
  assert(!file.includes("weight: 0"), file);
});

Deno.test("a strategy that looks at no weights gives every entry the same share", () => {
  const { file, line } = imported({
    model_list: [entry("a", "openai/one", { rpm: 100 }), entry("a", "groq/two")],
    router_settings: { routing_strategy: "usage-based-routing-v2" },
  });
  assertEquals(
    part(file, "a"),
    "    targets:\n      - {provider: openai, model: one}\n      - {provider: groq, model: two}\n",
  );
  assertEquals(
    line("model_list[0].litellm_params.rpm"),
    "missing | no limit or weight of a target here",
  );
});

Deno.test("the size of a model is reported at its target, also at one with a later order", () => {
  const size = { max_input_tokens: 9 };
  const { line } = imported({
    model_list: [
      entry("a", "openai/one", { order: 1 }, size),
      entry("a", "groq/two", { order: 2, weight: 3 }, size),
    ],
  });
  const path = (at: number) => `model_list[${at}].model_info.max_input_tokens`;
  assertEquals(line(path(0)), "carried | models.a.targets[].context_size");
  assertEquals(line(path(1)), "carried | models.a.fallback[].context_size");
  assertEquals(
    line("model_list[1].litellm_params.weight"),
    "differently | models.a.fallback | tried in order after the targets of the name",
  );
});

const MODELS = ["a", "b", "c"].map((name) => entry(name, `openai/${name}`));

Deno.test("the lists of fallbacks of one section count, and of them the first one of a name", () => {
  const { file, line } = imported({
    model_list: MODELS,
    router_settings: { fallbacks: [{ a: ["b"] }, { a: ["c"] }] },
    litellm_settings: { fallbacks: [{ b: ["c"] }], context_window_fallbacks: [{ c: ["a"] }] },
  });
  assertEquals(file.match(/fallback:\n.*/g), [
    "fallback:\n      - {provider: openai, model: b}",
    "fallback:\n      - {provider: openai, model: a}",
  ]);
  assertEquals(
    line("router_settings.fallbacks[1].a[0]"),
    "missing | another list for this name counts",
  );
  assertEquals(
    line("litellm_settings.fallbacks[0].b[0]"),
    "no meaning | that of router_settings counts",
  );
});

/** Returns the models of the fallbacks of a name. */
function fallbacksOf(file: string, name: string): readonly string[] {
  const [, list = ""] = part(file, name).split("fallback:");
  return [...list.matchAll(/model: (\w+)/g)].map(([, model = ""]) => model);
}

Deno.test("each further order of a name is one deeper, and none is tried at the last depth", () => {
  const orders = { a: 3, b: 0, c: 2, d: 2, e: 0 };
  const { file } = imported({
    model_list: Object.entries(orders).flatMap(([name, count]) =>
      count === 0
        ? [entry(name, `openai/${name}`)]
        : Array.from({ length: count }, (_, at) =>
          entry(name, `openai/${name}${at + 1}`, { order: at + 1 }))
    ),
    router_settings: { fallbacks: [{ a: ["b"] }, { b: ["c"] }, { c: ["d"] }, { d: ["e"] }] },
  });
  assertEquals(["a", "b", "c"].map((name) => fallbacksOf(file, name).join(" ")), [
    "a2 a3 b c1 c2 d1",
    "c1 c2 d1 d2 e",
    "c2 d1 d2 e",
  ]);
});

Deno.test("a fallback by the model of an entry is followed by the list of that model", () => {
  const { file, line } = imported({
    model_list: ["a", "b", "c"].map((name) => entry(name, `openai/m${name}`)),
    router_settings: { fallbacks: [{ a: ["openai/mb"] }, { "openai/mb": ["c"] }] },
  });
  assertEquals(fallbacksOf(file, "a"), ["mb", "mc"]);
  assertEquals(
    line("router_settings.fallbacks[1].openai/mb[0]"),
    "missing | only after a fallback to it: no entry has this name",
  );
});

Deno.test("each name of a list of fallbacks is one deeper than the one before it, as LiteLLM counts", () => {
  const { file } = imported({
    model_list: ["a", "b", "c", "d", "e", "f", "g"].map((name) => entry(name, `openai/${name}`)),
    router_settings: {
      fallbacks: [{ a: ["b", "c"] }, { c: ["d", "e"] }, { e: ["f"] }, { f: ["g"] }],
    },
  });
  assertEquals([fallbacksOf(file, "a"), fallbacksOf(file, "c")], [["b", "c", "d", "e", "f"], [
    "d",
    "e",
    "f",
    "g",
  ]]);
});

Deno.test("a fallback without a list is followed by that of the requested name, for long prompts too", () => {
  const lists = [{ b: ["c", "d"] }, { c: ["e", "a"] }, { a: ["d"] }];
  const model_list = ["a", "b", "c", "d", "e"].map((name) => entry(name, `openai/${name}`));
  for (const key of ["fallbacks", "context_window_fallbacks"]) {
    const { file } = imported({ model_list, router_settings: { [key]: lists } });
    assertEquals(fallbacksOf(file, "b"), ["c", "e", "d", "a"], key);
  }
});

Deno.test("plain fallbacks follow a long prompt unless other names alone have fallbacks for it", () => {
  const on = (context_window_fallbacks: object) => {
    const fallbacks = [{ a: ["b"] }];
    const router_settings = { fallbacks, context_window_fallbacks };
    return part(imported({ model_list: MODELS, router_settings }).file, "a").split(
      "fallback_on:",
    )[1];
  };
  const all = " [outage, context_length, content_filter]\n";
  assertEquals([on([]), on([{ a: ["b"] }]), on([{ c: ["b"] }])], [
    ...[all, all],
    " [outage, content_filter]\n",
  ]);
});

Deno.test("a list of fallbacks has as many names as the file may have, also if a pattern serves more", () => {
  const { file, line } = imported({
    model_list: [entry("q*", "openai/q*"), entry("a", "openai/a")],
    router_settings: { fallbacks: [{ a: Array.from({ length: 201 }, (_, at) => `q${at}`) }] },
  });
  const [last, further] = [199, 200].map((at) => line(`router_settings.fallbacks[0].a[${at}]`));
  assert(last?.startsWith("differently | models.a.fallback"), last);
  assertEquals(further, "missing | a list has at most 200 names here");
  assert(file.includes("model: q199}") && !file.includes("model: q200}"));
});

Deno.test("for which failures a later order is tried here, and in LiteLLM, is in the report", () => {
  const { line } = imported({
    model_list: [1, 2].map((order) => entry("a", `openai/m${order}`, { order })),
  });
  assertEquals([0, 1].map((at) => line(`model_list[${at}].litellm_params.order`)), [
    "carried | models.a.targets",
    "differently | models.a.fallback | not after other refusals of a request (400, 401, 404), after which LiteLLM falls back too; as fallback_on says also after a long prompt or a filter, after which LiteLLM tries no other order",
  ]);
});

Deno.test("an alias falls back by its own list, and the name behind it by another", () => {
  const { file, line } = imported({
    model_list: [entry("a", "openai/a"), entry("b", "openai/b"), entry("c", "openai/c")],
    router_settings: {
      model_group_alias: { short: "a", other: "b" },
      fallbacks: [{ a: ["b"] }, { other: ["c"] }, { c: ["other"] }],
    },
  });
  const fallback = (name: string) =>
    [...part(file, name).split("fallback:")[1]?.matchAll(/model: (\w)/g) ?? []].map(([, one]) =>
      one
    );
  assertEquals(["a", "short", "b", "other", "c"].map(fallback), [["b"], [], [], ["c"], ["b"]]);
  assert(line("router_settings.fallbacks[1].other[0]").includes("models.other.fallback"));
});

Deno.test("of lists of fallbacks for all names the last one counts", () => {
  const { file, line } = imported({
    model_list: MODELS,
    router_settings: { fallbacks: [{ "*": ["b"] }], default_fallbacks: ["c"] },
  });
  assert(part(file, "a").includes("fallback:\n      - {provider: openai, model: c}"), file);
  assertEquals(
    line("router_settings.fallbacks[0].*[0]"),
    "missing | another list for this name counts",
  );
});

Deno.test("a fallback with the targets of the name is reported there, and those behind it are kept", () => {
  const { file, line } = imported({
    model_list: [entry("a", "openai/m"), entry("b", "openai/m"), entry("c", "openai/c")],
    router_settings: { fallbacks: [{ a: ["b"] }, { b: ["c"] }, { c: ["c"] }] },
  });
  assertEquals(
    line("router_settings.fallbacks[0].a[0]"),
    "differently | models.a.targets | the same targets, which are tried once",
  );
  assert(part(file, "a").includes("fallback:\n      - {provider: openai, model: c}"), file);
  const alone = imported({
    model_list: [entry("a", "openai/m"), entry("b", "openai/m")],
    router_settings: { fallbacks: [{ a: ["b"] }] },
  });
  assert(!alone.file.includes("fallback"), alone.file);
  const byModel = imported({
    model_list: [entry("a", "openai/m")],
    router_settings: { default_fallbacks: ["openai/m"] },
  });
  assertEquals(
    byModel.line("router_settings.default_fallbacks[0]"),
    "differently | models.a.targets | the same targets, which are tried once",
  );
});

Deno.test("targets with a later order are tried after an outage where a name falls back for long prompts", () => {
  const { file } = imported({
    model_list: [
      entry("a", "openai/one", { order: 1 }),
      entry("a", "groq/two", { order: 2 }),
      ...MODELS.slice(1),
    ],
    router_settings: { context_window_fallbacks: [{ a: ["b"] }] },
  });
  assert(file.includes("fallback_on: [outage, context_length]"), file);
});

Deno.test("the report says that parameters are those of all targets and fallbacks of a name", () => {
  const { line } = imported({
    model_list: [
      entry("a", "openai/one", { temperature: 0.3 }),
      entry("a", "groq/two"),
      entry("b", "openai/three"),
      entry("c", "openai/four"),
    ],
    router_settings: { fallbacks: [{ b: ["a", "c"] }] },
  });
  assertEquals(
    line("model_list[0].litellm_params.temperature"),
    "differently | models.a.parameters.temperature | for every target of the name",
  );
  const note =
    "not after other refusals of a request (400, 401, 404), after which LiteLLM falls back too";
  const own = "with the parameters of the name that falls back, not with its own";
  const path = (at: number) => `router_settings.fallbacks[0].b[${at}]`;
  assertEquals(line(path(0)), `differently | models.b.fallback | ${note}; ${own}`);
  assertEquals(line(path(1)), `differently | models.b.fallback | ${note}`);
});

Deno.test("of two prices of a model of a provider the first one counts", () => {
  const price = (usd: number) => ({ input_cost_per_token: usd / 1e6, output_cost_per_token: 0 });
  const { file, line } = imported({
    model_list: [
      entry("a", "groq/m"),
      entry("b", "groq/m", {}, price(3)),
      entry("c", "groq/m", {}, price(4)),
    ],
  });
  assert(/groq\/m.*:\n +input: 3\n/.test(file), file);
  const path = (at: number) => `model_list[${at}].model_info.input_cost_per_token`;
  assertEquals(line(path(1)), "carried | pricing.groq/m.input");
  assertEquals(
    line(path(2)),
    "missing | an earlier entry has another price for this model, which counts",
  );
});

Deno.test("a cache for requests that ask for it is missing: here it would be for all", () => {
  const { file, line } = imported({
    model_list: MODELS,
    litellm_settings: { cache: true, cache_params: { type: "local", mode: "default_off" } },
  });
  assert(!file.includes("caching"), file);
  for (const path of ["cache", "cache_params.mode"]) {
    assertEquals(
      line(`litellm_settings.${path}`),
      "missing | the cache is for every request here, not only for those that ask for it",
    );
  }
});

Deno.test("the mode of a cache that is on for every request is carried", () => {
  const { line } = imported({
    model_list: MODELS,
    litellm_settings: { cache: true, cache_params: { type: "local", mode: "default_on" } },
  });
  assertEquals(line("litellm_settings.cache_params.mode"), "carried | caching.enabled");
});

Deno.test("a cache for other calls than chats, or for none, is missing: here it would be for chats", () => {
  for (const supported_call_types of [[], null, ["aembedding"]]) {
    const { file, line } = imported({
      model_list: MODELS,
      litellm_settings: { cache: true, cache_params: { type: "local", supported_call_types } },
    });
    assert(!file.includes("caching"), file);
    assertEquals(line("litellm_settings.cache"), "missing | the cache is for chats too here");
  }
  const { file, line } = imported({
    model_list: MODELS,
    litellm_settings: {
      cache: true,
      cache_params: { type: "local", supported_call_types: ["acompletion", "atranscription"] },
    },
  });
  assert(file.includes("caching:\n  enabled: true"), file);
  const [chats, others] = [0, 1].map((at) =>
    line(`litellm_settings.cache_params.supported_call_types[${at}]`)
  );
  assertEquals(chats, "differently | caching | for chats without a stream, and embeddings");
  assertEquals(others, "missing | no setting of the cache here");
});

Deno.test("one of several keys of a provider is carried differently: a refused one rests", () => {
  const { line } = imported({
    model_list: [
      entry("a", "openai/one", { api_key: "os.environ/K1" }),
      entry("a", "openai/one", { api_key: "os.environ/K2" }),
      entry("b", "groq/one", { api_key: "os.environ/K3" }),
    ],
  });
  const pooled = "differently | providers.openai.api_keys | " +
    "of several keys, one that is refused rests, and the next one is tried at once";
  assertEquals([0, 1, 2].map((at) => line(`model_list[${at}].litellm_params.api_key`)), [
    pooled,
    pooled,
    "carried | providers.groq.api_key",
  ]);
});

Deno.test("a list of fallbacks is that of a name with or without its prefix, unless the name has one", () => {
  const { file, line } = imported({
    model_list: [
      entry("openai/m-a", "openai/m-a"),
      entry("groq/m-a", "openai/m-g"),
      entry("gpt-4o", "openai/m-b"),
      entry("unknown/m-u", "openai/m-u"),
      ...["c", "d", "e"].map((name) => entry(name, `openai/m-${name}`)),
    ],
    router_settings: {
      fallbacks: [
        { "m-a": ["c"] },
        { "m-a": ["d"] },
        { "groq/m-a": ["e"] },
        { "openai/gpt-4o": ["c"] },
        { "openai/m-e": ["c"] },
        { "m-u": ["c"] },
      ],
    },
  });
  const fallback = (name: string) =>
    /fallback:\n +- \{provider: \S+, model: (\S+)\}/.exec(part(file, `"?${name}"?`))?.[1] ?? "";
  assertEquals(
    ["openai/m-a", "groq/m-a", "gpt-4o", "unknown/m-u", "e"].map(fallback),
    ["m-d", "m-e", "m-c", "", ""],
  );
  const lines = ["m-a", "m-a", "groq/m-a", "openai/gpt-4o", "openai/m-e", "m-u"]
    .map((name, at) =>
      line(`router_settings.fallbacks[${at}].${name}[0]`).split(/ \| |;/).slice(0, 2)
    );
  const none = ["missing", "no entry that is carried has the name that falls back"];
  assertEquals(lines, [
    none,
    ["differently", "models.openai/m-a.fallback"],
    ["differently", "models.groq/m-a.fallback"],
    ["differently", "models.gpt-4o.fallback"],
    ["missing", "only after a fallback to it: no entry has this name"],
    none,
  ]);
});

Deno.test("a fallback by the model or the ID of an entry is that entry alone, without further ones of its name", () => {
  const { file } = imported({
    model_list: [
      entry("fast", "openai/m-a"),
      entry("fast", "groq/m-b", {}, { id: "second" }),
      entry("by-model", "openai/m-c"),
      entry("by-id", "openai/m-c"),
      entry("last", "openai/m-d"),
    ],
    router_settings: {
      fallbacks: [{ "by-model": ["openai/m-a"] }, { "by-id": ["second"] }, { fast: ["last"] }],
    },
  });
  const ends = "    fallback_on: [outage, context_length, content_filter]\n";
  for (
    const [name, target] of [["by-model", "openai, model: m-a"], ["by-id", "groq, model: m-b"]]
  ) {
    const fallback = `    fallback:\n      - {provider: ${target}}\n${ends}`;
    assert(part(file, name ?? "").endsWith(fallback), file);
  }
});

Deno.test("a fallback may be a mapping with a name alone, and a name that a pattern serves", () => {
  const { file } = imported({
    model_list: [
      entry("a", "openai/m-a"),
      entry("b", "openai/m-b"),
      entry("claude-*", "openai/claude-*"),
      entry("claude-3*", "groq/claude-3*"),
    ],
    router_settings: { fallbacks: [{ a: [{ model: "b" }, "claude-x", "claude-3.5"] }] },
  });
  assert(
    part(file, "a").includes(
      "    fallback:\n      - {provider: openai, model: m-b}\n" +
        "      - {provider: openai, model: claude-x}\n      - {provider: groq, model: claude-3.5}\n",
    ),
    file,
  );
});

Deno.test("an address that an entry states is called as LiteLLM calls it for the prefix", () => {
  const at = (model: string, api_base?: string, mode = "chat") => {
    const { file, line } = imported({
      model_list: [entry("a", model, { ...api_base !== undefined && { api_base } }, { mode })],
    });
    const base = /base_url: (\S+)/.exec(file)?.[1];
    const upstream = /targets:\n +- \{provider: \S+, model: "?([^"}]+)/.exec(file)?.[1];
    return [
      base,
      upstream,
      line("model_list[0].litellm_params.model").split(" | ").slice(2).join(),
    ];
  };
  const own = "https://models.example.com";
  assertEquals(at("mistral/m", own), [`${own}/v1`, "m", ""]);
  assertEquals(at("mistral/m", `${own}/v1/`), [`${own}/v1`, "m", ""]);
  assertEquals(at("groq/m", own), [own, "m", ""]);
  assertEquals(at("azure_ai/m", `${own}/v1`), [`${own}/v1`, "m", ""]);
  assertEquals(
    at("azure_ai/m", "https://r.services.ai.azure.com/models").slice(0, 2),
    ["https://r.services.ai.azure.com/openai/v1", "m"],
  );
  assertEquals(
    at("azure/m", `${own}/azure/openai/deployments/m/chat/completions?api-version=1`)[0],
    `${own}/azure/openai/v1`,
  );
  assertEquals(at("llamafile/m"), ["http://127.0.0.1:8080/v1", "m", ""]);
  const google = "https://generativelanguage.googleapis.com/v1beta";
  const differs = "over Google's endpoint for OpenAI clients; LiteLLM uses Google's own API";
  assertEquals(at("gemini/m", google), [`${google}/openai`, "m", differs]);
  assertEquals(at("gemini/m", own), [
    own,
    "m",
    "taken as OpenAI-compatible; LiteLLM uses an API of the prefix",
  ]);
  assertEquals(at("fireworks_ai/m")[1], "accounts/fireworks/models/m");
  assertEquals(at("fireworks_ai/m", undefined, "embedding")[1], "m");
});

Deno.test("a model without a prefix has the provider that LiteLLM infers, or is missing", () => {
  const names = [
    "ft:gpt-4o:o::i",
    "text-embedding-3-small",
    "claude-x",
    "text-embedding-004",
    "gpt-3.5-turbo-instruct",
    "claude-x:0",
  ];
  const { line } = imported({ model_list: names.map((name) => entry(name, name)) });
  assertEquals(
    names.map((_, at) => line(`model_list[${at}].litellm_params.model`).split(" ")[0]),
    ["carried", "carried", "carried", "missing", "missing", "missing"],
  );
});

Deno.test("allowed_fails counts in litellm_settings too, unless router_settings has it", () => {
  const own = imported({ model_list: MODELS, litellm_settings: { allowed_fails: 3 } });
  assert(own.file.includes("failure_threshold: 4"), own.file);
  const both = imported({
    model_list: MODELS,
    litellm_settings: { allowed_fails: 3 },
    router_settings: { allowed_fails: 1 },
  });
  assert(both.file.includes("failure_threshold: 2"), both.file);
  assertEquals(
    both.line("litellm_settings.allowed_fails"),
    "no meaning | that of router_settings counts",
  );
});

Deno.test("a kind of model whose requests the provider does not take is missing, with what permits them", () => {
  const cases = [
    ["openai/dall-e-3", "image_generation", "no meaning | describes the model to users of LiteLLM"],
    [
      "openai/text-embedding-3-small",
      "embedding",
      "no meaning | describes the model to users of LiteLLM",
    ],
    ["groq/llama", "chat", "no meaning | describes the model to users of LiteLLM"],
    [
      "openai/gpt-batch",
      "batch",
      "missing | the file of a batch is sent as it is: it needs the name of the model at the provider",
    ],
    [
      "groq/whisper-large-v3",
      "audio_transcription",
      "missing | set capabilities.relay: [audio] of the provider, if it has these endpoints",
    ],
    [
      "mistral/mistral-embed",
      "embedding",
      "missing | set capabilities.embeddings_base64 of the provider for the SDKs of OpenAI, which ask for base64",
    ],
    [
      "ollama/nomic-embed-text",
      "embedding",
      "missing | only as numbers: the SDKs of OpenAI ask for base64, unless encoding_format is float",
    ],
    ["anthropic/claude", "embedding", "missing | the provider serves no models of this kind here"],
    [
      "openai/gpt-realtime",
      "realtime",
      "missing | the provider serves no models of this kind here",
    ],
  ] as const;
  const { line } = imported({
    model_list: [
      ...cases.map(([model, mode], at) => entry(`m${at}`, model, {}, { mode })),
      entry("gpt-5", "openai/gpt-5", {}, { mode: "batch" }),
    ],
  });
  assertEquals(
    line(`model_list[${cases.length}].model_info.mode`),
    "no meaning | describes the model to users of LiteLLM",
  );
  for (const [at, [model, , expected]] of cases.entries()) {
    assertEquals(line(`model_list[${at}].model_info.mode`), expected, model);
  }
});

Deno.test("a stated provider that is not known is missing", () => {
  const { line } = imported({
    model_list: [entry("a", "openai/m", { custom_llm_provider: "foo" })],
  });
  assertEquals(
    line("model_list[0].litellm_params.custom_llm_provider"),
    "missing | a provider that is not known",
  );
});

Deno.test("a model that LiteLLM calls over the Responses API is called over it", () => {
  const { file, line } = imported({
    model_list: [
      entry("a", "openai/responses/one"),
      entry("b", "azure/responses/two", { api_base: "https://r.openai.azure.com" }),
      entry("c", "openai/three", {}, { mode: "responses" }),
      entry("d", "anthropic/four", {}, { mode: "responses" }),
    ],
  });
  for (const [provider, model] of [["openai", "one"], ["azure", "two"], ["openai", "three"]]) {
    const target = `{provider: ${provider}, model: ${model}, upstream_request_type: responses}`;
    assertEquals(file.split(target).length, 3, target);
  }
  assert(file.includes("{provider: anthropic, model: four}"), file);
  assertEquals(
    line("model_list[2].model_info.mode"),
    "carried | models.c.targets[].upstream_request_type",
  );
});

Deno.test("a header or an organization that the file cannot have is missing, and the rest is carried", () => {
  const { file, line } = imported({
    model_list: [
      entry("a", "openai/m", {
        organization: "two\nlines",
        extra_headers: { Host: "h", "X-A": "b" },
      }),
      entry("b", "anthropic/m", { organization: "org-1" }),
    ],
  });
  assert(file.includes("X-A: b") && !/Host|organization/.test(file), file);
  const path = (at: number, key: string) => `model_list[${at}].litellm_params.${key}`;
  assertEquals(
    line(path(0, "extra_headers.Host")),
    "missing | no header that the file can have",
  );
  assertEquals(line(path(0, "organization")), "missing | a value that is not understood");
  assertEquals(
    line(path(1, "organization")),
    "missing | only for providers of the OpenAI API",
  );
});

Deno.test("a delay of retries above the usual maximum is not cut by it", () => {
  const { file } = imported({ model_list: MODELS, router_settings: { retry_after: 120 } });
  assert(file.includes("initial_delay: 2m\n  max_delay: 2m\n"), file);
});

Deno.test("both prefixes of Ollama lead to one provider with what it can do", () => {
  const { file } = imported({
    model_list: [entry("a", "ollama/m"), entry("b", "ollama_chat/m")],
  });
  assert(/b:\n +targets:\n +- \{provider: ollama, model: m\}/.test(file), file);
  assert(file.includes("structured_outputs: true"), file);
});

Deno.test("an effort that a target of the name cannot carry is missing, so that the target is tried", () => {
  const { file, line } = imported({
    model_list: [
      entry("a", "openai/m", { reasoning_effort: "high" }),
      entry("a", "ollama/m", { api_base: "http://127.0.0.1:5/api" }),
      entry("b", "openai/m", { reasoning_effort: "high" }),
      entry("b", "anthropic/m", { api_base: "https://proxy.example.com" }),
    ],
  });
  assertEquals(file.match(/effort: high/g)?.length ?? 0, 1);
  assertEquals(
    line("model_list[2].litellm_params.reasoning_effort"),
    "missing | a target of the name has no levels of reasoning: it would be skipped",
  );
});

Deno.test("of base_url and api_base the first one is called, as LiteLLM does", () => {
  const { file, line } = imported({
    model_list: [
      entry("a", "openai/m", {
        api_base: "https://one.example.com/v1",
        base_url: "https://two.example.com/v1",
      }),
      entry("b", "openai/m", { api_base: "https://three.example.com/v1", base_url: "" }),
    ],
  });
  assert(file.includes("two.example.com") && !file.includes("one.example.com"), file);
  assert(file.includes("three.example.com"), file);
  const path = "model_list[0].litellm_params";
  assertEquals(line(`${path}.base_url`), "carried | providers.example.base_url");
  assertEquals(line(`${path}.api_base`), "no meaning | that of base_url counts");
});

Deno.test("an address of an entry of Bedrock or Vertex AI is missing: that of the cloud is called", () => {
  const api_base = "https://proxy.example.com";
  const { file, line } = imported({
    model_list: [
      entry("a", "bedrock/openai.gpt-oss-120b", { api_base }),
      entry("b", "vertex_ai/gemini-x", { api_base, vertex_location: "us-east5" }),
    ],
  });
  assert(!file.includes("proxy.example.com"), file);
  for (const at of [0, 1]) {
    assertEquals(
      line(`model_list[${at}].litellm_params.api_base`),
      "missing | the address of the cloud is called",
    );
  }
});

Deno.test("an entry of Claude on Vertex AI is missing with all its values, and the reason is at its model", () => {
  const { file, line } = imported({
    model_list: [
      entry("a", "vertex_ai/claude-opus-4@20250514", { vertex_project: "p" }),
      entry("b", "openai/m"),
    ],
    router_settings: { fallbacks: [{ b: ["a"] }] },
  });
  assert(!/claude|vertex/.test(file), file);
  assertEquals(
    line("model_list[0].litellm_params.model"),
    "missing | Claude on Vertex AI has a form of requests that is not spoken here; " +
      "Claude at Anthropic, Bedrock and Azure can be served",
  );
  for (const path of ["model_name", "litellm_params.api_key", "litellm_params.vertex_project"]) {
    assertEquals(line(`model_list[0].${path}`), "missing | its entry is not carried");
  }
  assertEquals(
    line("router_settings.fallbacks[0].b[0]"),
    "missing | no entry that is carried has this name, or it is a pattern",
  );
});

Deno.test("an entry in a region that is none is missing, and all further entries are carried", () => {
  const { file, line } = imported({
    model_list: [
      entry("a", "bedrock/openai.m", { aws_region_name: "us east" }),
      entry("b", "vertex_ai/gemini-x", { vertex_location: "us-central1#" }),
      entry("c", "vertex_ai/gemini-x", { vertex_project: "a/b" }),
      entry("d", "openai/m"),
      entry("e", "bedrock/openai.m", { aws_region_name: "os.environ/REGION" }),
    ],
  });
  assert(["d", "e"].every((name) => file.includes(`  ${name}:\n`)), file);
  for (const [at, note] of ["aws_region_name is no region", NO_NAME, NO_NAME].entries()) {
    assertEquals(line(`model_list[${at}].litellm_params.model`), `missing | ${note}`);
  }
});

const NO_NAME = "vertex_project or vertex_location is no name";

Deno.test("a limit below that of the Responses API is missing, so that the model is served", () => {
  const { file, line } = imported({
    model_list: [
      entry("a", "openai/responses/m", { max_tokens: 5 }),
      entry("b", "openai/m", { max_tokens: 5 }),
    ],
  });
  assertEquals(file.match(/max_tokens/g)?.length, 1);
  assertEquals(
    line("model_list[0].litellm_params.max_tokens"),
    "missing | the Responses API has limits from 16 tokens",
  );
});

Deno.test("a Redis server is called with encryption and a user where the source says so", () => {
  const { file, line } = imported({
    model_list: MODELS,
    litellm_settings: {
      cache: true,
      cache_params: {
        type: "redis",
        host: "r.example.com",
        ssl: true,
        username: "u",
        password: [1],
      },
    },
  });
  assert(/url: "?rediss:\/\/r\.example\.com:6379\/0"?\n +username: u\n/.test(file), file);
  const path = "litellm_settings.cache_params";
  assertEquals(line(`${path}.ssl`), "carried | state.valkey.url");
  assertEquals(line(`${path}.username`), "carried | state.valkey.username");
  assertEquals(line(`${path}.password[0]`), "missing | a value that is not understood");
});

Deno.test("of two Redis servers the first one is that of the state, and the other one is missing", () => {
  const params = (host: string) => ({ cache: true, cache_params: { type: "redis", host } });
  const { file, line } = imported({
    model_list: MODELS,
    router_settings: { redis_host: "one" },
    litellm_settings: params("two"),
  });
  assert(file.includes("redis://one:6379/0") && !file.includes("two"), file);
  assertEquals(
    line("litellm_settings.cache_params.host"),
    "missing | another server of the file counts",
  );
  const same = imported({
    model_list: MODELS,
    router_settings: { redis_host: "one" },
    litellm_settings: params("one"),
  });
  assert(/^differently/.test(same.line("litellm_settings.cache_params.host")));
});

Deno.test("a known key whose value is not understood is missing, but not as an unknown key", () => {
  const KNOWN: Readonly<Record<string, readonly string[]>> = {
    router_settings: [
      ...["fallbacks", "context_window_fallbacks", "model_group_alias", "retry_policy"],
      ...["redis_host", "redis_port", "redis_db", "redis_password", "timeout", "num_retries"],
    ],
    litellm_settings: ["fallbacks", "content_policy_fallbacks", "request_timeout", "cache"],
    general_settings: ["master_key", "user_header_name"],
    litellm_params: [
      ...["api_version", "extra_body", "input_cost_per_token", "tenant_id", "client_secret"],
      ...["vertex_project", "aws_region_name", "timeout", "weight", "order", "stop", "top_p"],
    ],
    model_info: ["max_input_tokens", "input_cost_per_token"],
  };
  for (const [section, keys] of Object.entries(KNOWN)) {
    for (const key of keys) {
      for (const value of [true, ["x"], { a: "b" }]) {
        const inner = section === "litellm_params" ? { [key]: value } : {};
        const info = section === "model_info" ? { [key]: value } : undefined;
        const source = {
          model_list: [entry("a", "openai/m", inner, info), ...MODELS],
          ...section.endsWith("_settings") && { [section]: { [key]: value } },
        };
        const result = importLitellm(JSON.stringify(source), {});
        assert(result.ok);
        const notes = result.imported.lines.map(({ note }) => note);
        assert(!notes.includes("unknown key"), `${section}.${key} ${JSON.stringify(value)}`);
      }
    }
  }
});

Deno.test("the list for all names is reported where a name without its own list uses it", () => {
  const report = (...names: readonly string[]) => {
    const { line } = imported({
      model_list: names.map((name) => entry(name, `openai/${name}`)),
      router_settings: { fallbacks: [{ auto: [] }, { a: ["auto"] }], default_fallbacks: ["a"] },
    });
    return line("router_settings.default_fallbacks[0]").split(" | ").slice(0, 2);
  };
  assertEquals(report("auto", "a"), ["missing", "every name has a list of its own, which counts"]);
  assertEquals(report("auto", "a", "b"), ["differently", "models"]);
});

Deno.test("of the models that are known of a host, those alone are listed that a pattern serves", () => {
  const { file } = imported({
    model_list: [
      entry("gpt-5*", "openai/gpt-5*"),
      entry("fast", "openai/o3"),
      entry("claude-3*", "anthropic/claude-3*"),
      entry("c", "openai/c", { api_base: "os.environ/BASE" }),
    ],
  });
  assertEquals(file.match(/ {4}models:\n.*mode.*\n(?: +static.*\n)?/g), [
    "    models:\n      mode: static\n      static: [gpt-5, gpt-5-mini, gpt-5-nano]\n",
    "    models:\n      mode: static\n",
    "    models:\n      mode: static\n",
  ]);
});

Deno.test("a literal key has the usual variable of a host at that host alone", () => {
  const keyed = (name: string, model: string, api_base: string) =>
    entry(name, model, { api_base, api_key: `sk-secret-of-the-provider-${name}` });
  const { file } = imported({
    model_list: [
      keyed("a", "groq/a", "https://api.groq.com/openai/v1"),
      keyed("b", "groq/b", "https://models.example.com/v1"),
      keyed("c", "cerebras/c", "os.environ/BASE"),
      keyed("d", "openai/d", "http://openai.internal/v1"),
      keyed("e", "openai/e", "https://api.deepseek.com/v1"),
    ],
  });
  assertEquals(
    [...file.matchAll(/^ {4}(?:base_url|api_key): (.*)$/gm)].map(([, value]) => value),
    [
      ...["https://api.groq.com/openai/v1", "${GROQ_API_KEY}"],
      ...["https://models.example.com/v1", "${IMPORTED_GROQ_API_KEY}"],
      ...["${BASE}", "${IMPORTED_CEREBRAS_API_KEY}"],
      ...["http://openai.internal/v1", "${IMPORTED_OPENAI_API_KEY}"],
      ...["https://api.deepseek.com/v1", "${DEEPSEEK_API_KEY}"],
    ],
  );
});

Deno.test("the line of a callback for spans names the variables without which its service takes none", async () => {
  const services = [
    ["arize_phoenix", "phoenix.env", ["ENDPOINT", "PROTOCOL"]],
    ["langfuse", "langfuse.env", ["ENDPOINT", "HEADERS"]],
    ["langfuse_otel", "langfuse.env", ["ENDPOINT", "HEADERS"]],
  ] as const;
  const callbacks = services.map(([name]) => name);
  const { line } = imported({ model_list: MODELS, litellm_settings: { callbacks } });
  for (const [at, [, recipe, names]] of services.entries()) {
    const url = new URL(`../../scripts/deploy/observability/${recipe}`, import.meta.url);
    const variables = await Deno.readTextFile(url);
    for (const name of names.map((one) => `OTEL_EXPORTER_OTLP_${one}`)) {
      assert(variables.includes(`${name}=`), `${recipe}: ${name}`);
      assert(line(`litellm_settings.callbacks[${at}]`).includes(name), `${recipe}: ${name}`);
    }
  }
});
