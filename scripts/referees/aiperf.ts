import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { pythonWith } from "../tools/package_cache.ts";
import expected from "./aiperf.json" with { type: "json" };
import { CLIENT_KEY, KINDS, startSystem } from "./system.ts";
import { judge } from "./verdict.ts";

// AIPerf as load: streams of a known length over each client API and kind of provider. A case is
// red if a call fails, or if AIPerf counts other tokens than the model has said. Its figures are
// printed, not judged: the machine decides them.

const PACKAGE = "aiperf==0.13.0";
const APIS = ["chat", "responses"];
const REQUESTS = 64;
const WORDS = 32;

/** A tokenizer that counts words, so that AIPerf loads none from elsewhere. */
const TOKENIZER = {
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: { type: "WhitespaceSplit" },
  post_processor: null,
  decoder: null,
  model: { type: "WordLevel", vocab: { "[UNK]": 0, a: 1, b: 2, c: 3 }, unk_token: "[UNK]" },
};

/** Writes the tokenizer; returns its folder. */
async function writeTokenizer(folder: string): Promise<string> {
  const path = `${folder}/tokenizer`;
  await Deno.mkdir(path);
  await Deno.writeTextFile(`${path}/tokenizer.json`, JSON.stringify(TOKENIZER));
  const config = { tokenizer_class: "PreTrainedTokenizerFast", unk_token: "[UNK]" };
  await Deno.writeTextFile(`${path}/tokenizer_config.json`, JSON.stringify(config));
  return path;
}

/** Returns the average of a metric of a report; null if the report does not have it. */
function averageOf(report: JsonObject, metric: string): number | null {
  const found = report[metric];
  return isObject(found) && typeof found.avg === "number" ? found.avg : null;
}
