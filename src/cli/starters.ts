import { HOSTS } from "../data/hosts.ts";

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

# A name of your own that clients request, before all routes: "model": "coder". Its targets can change without a change
# at any client.
# models:
#   coder:
#     targets: [{provider: ollama, model: "gpt-oss:20b"}]
#     omit_tools: [web_search]
#     # Responses name "coder"; the header X-Gateway-Model has the model that served them.
#     response_model: requested

routing:
  # The first route that matches a request serves it. A client may name the provider:
  # "openai/gpt-4o-mini", "anthropic/claude-haiku-4-5", "ollama/llama3.2". Coding agents send a web search that
  # the provider of their API would run itself: "omit_tools" leaves it out instead of refusing the request.
  # "early_head" keeps them connected while a model thinks.
  routes:
    # Local models whose names look like hosted ones.
    - name: named-local
      match: {models: ["ollama/*", "gpt-oss*"]}
      omit_tools: [web_search]
      early_head: 20s
      targets: [{provider: ollama}]
    - name: openai
      match: {models: ["gpt-*", "chatgpt-*", o1, "o1-*", o3, "o3-*", "o4-*", "openai/*"]}
      omit_tools: [web_search]
      early_head: 20s
      targets: [{provider: openai}]
    - name: anthropic
      match: {models: ["claude-*", "anthropic/*"]}
      omit_tools: [web_search]
      early_head: 20s
      targets: [{provider: anthropic}]
    - name: embeddings
      match: {path: /v1/embeddings}
      targets: [{provider: ollama}]
    - name: local
      omit_tools: [web_search]
      early_head: 20s
      targets: [{provider: ollama}]

# If enabled, an identical request gets the same response for an hour, without a provider.
caching:
  enabled: false
  ttl: 1h
`;

/** An appliance that serves its own model, and a hosted one when that fails. */
export const EDGE: Starter = () =>
  `# Switchyard on an appliance: the local model first, a hosted one if it fails.
#
# "switchyard check --config FILE" lists the problems of this file. A change of it is loaded while
# the gateway runs. \${NAME} is an environment variable: keys belong there, not in here.
# The service of the Debian package reads them from /etc/switchyard/switchyard.env.

server:
  host: 127.0.0.1      # 0.0.0.0 opens it to the network: enable security first
  port: 8080
  drain_timeout: 30s   # time for requests in flight when the service stops

providers:
  ollama:
    base_url: http://127.0.0.1:11434
    default_model: llama3.2
    timeout: 60s               # until the first byte
    stream_idle_timeout: 60s   # maximum silence after it
    # What the runtime can do: JSON schemas for answers, effort of models that think.
${capabilitiesText("ollama", "    ")}
  # openai:
  #   api_key: \${OPENAI_API_KEY}
${capabilitiesText("openai", "  #   ")}

routing:
  routes:
    - name: main
      targets:
        - {provider: ollama}
      # Used if the local model fails.
      # fallback:
      #   - {provider: openai, model: gpt-4o-mini}

retry:
  max_attempts: 2
  initial_delay: 500ms
  max_delay: 5s

# One line of JSON for each request, for journald and log collectors.
logging:
  level: info
  format: json

# Clients must send a key.
# security:
#   enabled: true
#   api_key:
#     keys:
#       - {name: appliance, value: "\${SWITCHYARD_CLIENT_KEY}"}
`;

/** One gateway for several people: keys, limits, two providers that stand in for each other. */
export const TEAM: Starter = (secret) =>
  `# Switchyard for a team: each client has a key, two providers back each other up.
#
# "switchyard check" lists the problems of this file. A change of it is loaded while the gateway
# runs. \${NAME} is an environment variable: provider keys belong there, not in here.

server:
  host: 0.0.0.0        # every machine that can reach this one; put TLS in front of it
  port: 8080
  drain_delay: 5s      # /ready is 503 for this long before the gateway stops listening
  drain_timeout: 60s

# Each client has its own key, so that it is identified and can be revoked. This key was generated for
# you. Better is value: \${TEAM_A_KEY}, with the key in the environment.
security:
  enabled: true
  api_key:
    keys:
      - {name: team-a, value: "sy-${secret()}"}

# For each key; a key may have its own requests_per_minute above.
rate_limiting:
  enabled: true
  requests_per_minute: 120
  burst_size: 30

providers:
  openai:
    api_key: \${OPENAI_API_KEY}
    # What the provider can do. The lifecycles open what the account stores to every client key.
    # Conversations stay with the gateway. With "conversations: true" OpenAI stores them, for targets
    # with "upstream_request_type: responses" only.
${capabilitiesText("openai", "    ")}
  anthropic:
    api_key: \${ANTHROPIC_API_KEY}
${capabilitiesText("anthropic", "    ")}

routing:
  default_strategy: weighted
  routes:
    - name: embeddings
      match: {path: /v1/embeddings}
      targets: [{provider: openai, model: text-embedding-3-small}]
    # Clients that request the model "auto" get the target; if it fails, the fallback.
    - name: auto
      match: {models: [auto]}
      targets: [{provider: openai, model: gpt-4o-mini, first_content_timeout: 1m}]
      fallback: [{provider: anthropic, model: claude-haiku-4-5}]
    - name: anthropic
      match: {models: ["claude-*", "anthropic/*"]}
      targets: [{provider: anthropic}]
    - name: openai
      targets: [{provider: openai}]

# An identical request gets the same response, without a provider.
caching:
  enabled: true
  ttl: 10m

logging:
  format: json
`;

/** Returns the text of a configuration file to begin with; `secret` makes a new random key. */
export type Starter = (secret: () => string) => string;

/** Returns the capabilities of a known host as lines of YAML, each after `indent`. */
function capabilitiesText(host: "openai" | "anthropic" | "ollama", indent: string): string {
  const lines = Object.entries(HOSTS[host].capabilities).map(([name, value]) =>
    `${indent}  ${name}: ${typeof value === "boolean" ? value : `[${value.join(", ")}]`}`
  );
  return [`${indent}capabilities:`, ...lines].join("\n");
}
