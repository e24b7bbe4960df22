import type { AnswerShape, GeneratingApi } from "./response_shape.ts";
import { COMPAT_ANSWERS } from "./compat_answers.ts";
import type { GrowingCall } from "./doubling.ts";
import { growingCall, type ProviderName, PROVIDERS } from "./growing_gateway.ts";
import { LOCAL_ANSWERS } from "./local_answers.ts";
import { MESSAGES_ANSWERS } from "./messages_answers.ts";
import { NATIVE_ANSWERS } from "./native_answers.ts";

const SHAPES: Readonly<Record<ProviderName, readonly AnswerShape[]>> = {
  compat: COMPAT_ANSWERS,
  native: NATIVE_ANSWERS,
  messages: MESSAGES_ANSWERS,
  local: LOCAL_ANSWERS,
};

const APIS = {
  chat: { path: "/chat/completions", question: { messages: [{ role: "user", content: "a" }] } },
  responses: { path: "/responses", question: { input: "a" } },
  messages: {
    path: "/messages",
    question: { max_tokens: 64, messages: [{ role: "user", content: "a" }] },
  },
} as const;

/**
 * The APIs that are translated or relayed; a messages provider is passed through for its own API.
 */
function apisOver(provider: ProviderName): readonly GeneratingApi[] {
  return provider === "messages" ? ["chat", "responses"] : ["chat", "responses", "messages"];
}

/** Answers of every type of provider, whole and as streams, in which one thing grows. */
export const ANSWERS: readonly GrowingCall[] = PROVIDERS.flatMap((provider) =>
  SHAPES[provider].flatMap(({ name, stream, answer, most, only, refusedBy = [] }) =>
    apisOver(provider).filter((api) => (only ?? api) === api).map((api) => {
      const { path, question } = APIS[api];
      const body = JSON.stringify({ model: `${provider}/m`, stream, ...question });
      return growingCall(
        `${api} over ${provider}: ${name} of ${stream ? "a stream" : "an answer"}`,
        (n) => ({ path, body, answer: answer(n) }),
        { most, isRefused: refusedBy.includes(api) },
      );
    })
  )
);
