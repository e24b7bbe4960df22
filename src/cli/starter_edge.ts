import { capabilitiesText } from "./known_hosts.ts";
import type { Starter } from "./starter.ts";

/** An appliance that serves its own model, and a hosted one when that fails. */
export const EDGE: Starter = () =>
  `# Switchyard on an appliance: its own model first, a hosted one when that fails.
#
# "switchyard check --config FILE" says what is wrong with this file. A change of it is taken up
# while the gateway serves. \${NAME} is an environment variable: keys belong there and not in here.
# As a service of the Debian package it gets them from /etc/switchyard/switchyard.env.

server:
  host: 127.0.0.1      # 0.0.0.0 opens it to the network: turn security on first
  port: 8080
  drain_timeout: 30s   # running answers get this long when the service stops

providers:
  ollama:
    base_url: http://127.0.0.1:11434
    default_model: llama3.2
    timeout: 60s               # until the first byte
    stream_idle_timeout: 60s   # the longest silence after it
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
      # Asked when the own model cannot answer.
      # fallback:
      #   - {provider: openai, model: gpt-4o-mini}

retry:
  max_attempts: 2
  initial_delay: 500ms
  max_delay: 5s

# One line of JSON for each request, for journald and what reads it.
logging:
  level: info
  format: json

# Who calls must show a key.
# security:
#   enabled: true
#   api_key:
#     keys:
#       - {name: appliance, value: "\${SWITCHYARD_CLIENT_KEY}"}
`;
