import { capabilitiesText } from "./known_hosts.ts";
import type { Starter } from "./starter.ts";

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
