import type { AnswerShape } from "./response_shape.ts";
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
} as const;

/** Answers of every type of provider, whole and as streams, in which one thing grows. */
export const ANSWERS: readonly GrowingCall[] = PROVIDERS.flatMap((provider) =>
  SHAPES[provider].flatMap(({ name, stream, answer, most, only, refusedBy = [] }) =>
    (["chat", "responses"] as const).filter((api) => (only ?? api) === api).map((api) => {
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
