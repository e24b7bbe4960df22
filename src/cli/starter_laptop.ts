import { capabilitiesText } from "./known_hosts.ts";
import type { Starter } from "./starter.ts";

/** One person, one machine: local models, and hosted ones where a key is set. */
export const LAPTOP: Starter = () =>
  `# Switchyard on a laptop: local models, and hosted ones where a key is set.
#
# "switchyard check" lists the problems of this file, "switchyard" serves it, and a change of it is
# loaded while it runs. \${NAME} is an environment variable; a file .env beside this one sets
# them too. "switchyard help configuration" lists every key.

server:
  host: 127.0.0.1   # only this machine
  port: 8080

admin:
  # A page that shows what the gateway does: http://127.0.0.1:8081/ in a browser of this machine.
  enabled: true
  port: 8081

providers:
  ollama:
    # A local runtime needs no key. Its models are listed by GET /v1/models.
    base_url: http://127.0.0.1:11434
    models: {mode: fetch}
    # What the runtime can do: JSON schemas for answers, effort of models that think.
${capabilitiesText("ollama", "    ")}
  openai:
    api_key: \${OPENAI_API_KEY}
    # Conversations stay with the gateway. With "conversations: true" OpenAI stores them, for targets
    # with "upstream_request_type: responses" only.
${capabilitiesText("openai", "    ")}
  anthropic:
    api_key: \${ANTHROPIC_API_KEY}
${capabilitiesText("anthropic", "    ")}

routing:
  # The first route that matches a request serves it. A client may name the provider:
  # "openai/gpt-4o-mini", "anthropic/claude-haiku-4-5", "ollama/llama3.2". Coding agents send a web search that
  # the provider of their API would run itself: "omit_tools" leaves it out instead of refusing the request.
  routes:
    # Local models whose names look like hosted ones.
    - name: named-local
      match: {models: ["ollama/*", "gpt-oss*"]}
      omit_tools: [web_search]
      targets: [{provider: ollama}]
    - name: openai
      match: {models: ["gpt-*", "chatgpt-*", o1, "o1-*", o3, "o3-*", "o4-*", "openai/*"]}
      omit_tools: [web_search]
      targets: [{provider: openai}]
    - name: anthropic
      match: {models: ["claude-*", "anthropic/*"]}
      omit_tools: [web_search]
      targets: [{provider: anthropic}]
    - name: embeddings
      match: {path: /v1/embeddings}
      targets: [{provider: ollama}]
    - name: local
      omit_tools: [web_search]
      targets: [{provider: ollama}]

# If enabled, an identical request gets the same response for an hour, without a provider.
caching:
  enabled: false
  ttl: 1h
`;
