import { capabilitiesText } from "./known_hosts.ts";
import type { Starter } from "./starter.ts";

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
      targets: [{provider: openai, model: gpt-4o-mini}]
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
