import { providerName } from "../../../src/observe/spans/provider_names.ts";
import { assertEquals } from "../../support/assert.ts";

function nameOf(baseUrl: string, type = "compat", names: Readonly<Record<string, string>> = {}) {
  return providerName({ id: "mine", type, baseUrl }, names);
}

Deno.test("a known host has its well-known name", () => {
  const names = {
    "https://api.openai.com/v1": "openai",
    "https://api.anthropic.com/v1": "anthropic",
    "https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1": "aws.bedrock",
    "https://me.openai.azure.com/openai/v1": "azure.ai.openai",
    "https://me.services.ai.azure.com/models": "azure.ai.inference",
    "https://europe-west1-aiplatform.googleapis.com/v1": "gcp.vertex_ai",
    "https://generativelanguage.googleapis.com/v1beta/openai": "gcp.gemini",
    "https://api.groq.com/openai/v1": "groq",
    "https://api.mistral.ai/v1": "mistral_ai",
    "https://api.deepseek.com": "deepseek",
    "https://api.x.ai/v1": "x_ai",
    "https://api.cohere.ai/compatibility/v1": "cohere",
    "https://api.perplexity.ai": "perplexity",
    "https://us-south.ml.cloud.ibm.com/ml/v1": "ibm.watsonx.ai",
  };
  assertEquals(Object.keys(names).map((url) => nameOf(url)), Object.values(names));
});

Deno.test("another host has the name of the file, else of its protocol, else its ID", () => {
  assertEquals(nameOf("http://127.0.0.1:8000/v1"), "mine");
  assertEquals(nameOf("https://api.openai.com.evil.example/v1"), "mine");
  assertEquals(nameOf("http://127.0.0.1:8000/v1", "messages"), "anthropic");
  const configured = { mine: "azure.ai.openai" };
  assertEquals(nameOf("https://api.openai.com/v1", "compat", configured), "azure.ai.openai");
});
