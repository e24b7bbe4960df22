import { capabilitiesText } from "./known_hosts.ts";
import type { Starter } from "./starter.ts";

/** One gateway for several people: keys, limits, two providers that stand in for each other. */
export const TEAM: Starter = (secret) =>
  `# Switchyard for a team: everybody has a key, two providers stand in for each other.
#
# "switchyard check" says what is wrong with this file. A change of it is taken up while the gateway
# serves. \${NAME} is an environment variable: keys of providers belong there and not in here.

server:
  host: 0.0.0.0        # every machine that can reach this one; put TLS in front of it
  port: 8080
  drain_delay: 5s      # /ready says no this long before the gateway stops to listen
  drain_timeout: 60s

# Each client has a key of its own, so that it can be told apart and shut out. This one was made for
# you and for nobody else. Better is value: \${TEAM_A_KEY}, with the key in the environment.
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
    # Clients that ask for the model "auto" get the first one; when it fails, the other one.
    - name: auto
      match: {models: [auto]}
      targets: [{provider: openai, model: gpt-4o-mini}]
      fallback: [{provider: anthropic, model: claude-haiku-4-5}]
    - name: anthropic
      match: {models: ["claude-*", "anthropic/*"]}
      targets: [{provider: anthropic}]
    - name: openai
      targets: [{provider: openai}]

# The same question gets the same answer, without asking anybody.
caching:
  enabled: true
  ttl: 10m

logging:
  format: json
`;
