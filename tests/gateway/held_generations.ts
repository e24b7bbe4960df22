// Prints how many of the generations of 20 reloads are in memory after them.
import { compile } from "../../src/gateway/compile.ts";
import { configOf } from "../config/parse.ts";

function config(version: number) {
  return configOf(`
security:
  enabled: true
  provider: jwt
  jwt:
    issuers:
      - name: own
        issuer: "https://issuer"
        jwks_url: "https://issuer/keys-${version}"
        audience: [gateway]
        algorithms: [RS256]
        rules: [{claim: groups, values: [all], template: all}]
  templates: [{name: all, models: [m]}]
providers:
  up: {type: compat, base_url: "http://up", api_key: sk-${version}}
  cloud:
    type: compat
    base_url: "http://cloud"
    credential: {type: aws, region: r-${version}, service: bedrock, source: imds}
privacy:
  secret: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=
  rules: [{name: mails${version}, find: [email], action: replace}]
  policies: [{name: all, rules: [mails${version}]}]
  default: all
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`);
}

let current = compile(config(0), 1);
const earlier = [new WeakRef(current)];
for (let version = 1; version <= 20; version++) {
  current = compile(config(version), version + 1, current);
  earlier.push(new WeakRef(current));
}
// A reference is empty from the next turn of the event loop on.
await new Promise((resolve) => setTimeout(resolve, 0));
(globalThis as unknown as { gc(): void }).gc();
console.log(earlier.filter((one) => one.deref() !== undefined).length);
