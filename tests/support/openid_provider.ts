import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";

/** An OpenID provider on a socket, which issues tokens to clients by their secret. */
export interface OpenIdProvider extends AsyncDisposable {
  readonly issuer: string;
  /** A new access token of the client `ada`, which is valid for a minute. */
  token(): Promise<string>;
  /** Signs with a new key from now on; the old one stays in the key set. */
  rotate(): Promise<void>;
  /** Removes all keys but the newest from the key set. */
  retire(): void;
}

const TTL_S = 60;

const SECRET = "secret-of-ada";

/** Starts a provider whose tokens have the audience `switchyard` and the group `ai-users`. */
export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  let keys = [await newKey(1)];
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const newProvider = () =>
    quietly(() =>
      new Provider(issuer, {
        jwks: { keys },
        clients: [{
          client_id: "ada",
          client_secret: SECRET,
          grant_types: ["client_credentials"],
          redirect_uris: [],
          response_types: [],
          id_token_signed_response_alg: "ES256",
        }],
        features: {
          devInteractions: { enabled: false },
          clientCredentials: { enabled: true },
          resourceIndicators: {
            enabled: true,
            getResourceServerInfo: () => ({
              scope: "",
              audience: "switchyard",
              accessTokenFormat: "jwt",
              accessTokenTTL: TTL_S,
              jwt: { sign: { alg: "ES256" } },
            }),
          },
        },
        extraTokenClaims: () => ({ groups: ["ai-users"] }),
        ttl: { ClientCredentials: TTL_S },
        cookies: { keys: ["signs cookies, of which there are none"] },
      })
    );
  // The first key signs.
  let handle = newProvider().callback();
  server.on("request", (request, response) => void handle(request, response));

  return {
    issuer,
    async token() {
      const response = await fetch(`${issuer}/token`, {
        method: "POST",
        headers: { authorization: `Basic ${btoa(`ada:${SECRET}`)}` },
        body: new URLSearchParams({
          grant_type: "client_credentials",
          resource: "https://gateway.example",
        }),
      });
      const { access_token } = await response.json();
      return String(access_token);
    },
    async rotate() {
      keys = [await newKey(keys.length + 1), ...keys];
      handle = newProvider().callback();
    },
    retire() {
      keys = keys.slice(0, 1);
      handle = newProvider().callback();
    },
    [Symbol.asyncDispose]: () => closed(server),
  };
}

/** A new private key with the name of this number. */
async function newKey(number: number) {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  return { ...await exportJWK(privateKey), kid: `k${number}`, alg: "ES256", use: "sig" };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Without the provider's notes on its runtime and its store in memory. */
function quietly<Made>(make: () => Made): Made {
  const { warn, info } = console;
  console.warn = console.info = () => {};
  try {
    return make();
  } finally {
    Object.assign(console, { warn, info });
  }
}
