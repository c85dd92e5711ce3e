// Check messages by the AI SDK's own schema, put them before a model that only listens, and print
// the calls and results that it would have been sent.
import { readFileSync } from "node:fs";
import { generateText, modelMessageSchema } from "ai";
import { MockLanguageModelV3 } from "ai/test";

const messages = JSON.parse(readFileSync(process.argv[2], "utf-8"));
for (const message of messages) modelMessageSchema.parse(message);
let sent = [];
const model = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    sent = prompt;
    return {
      content: [{ type: "text", text: "." }],
      finishReason: { unified: "stop", raw: "stop" },
      usage: { inputTokens: {}, outputTokens: {} },
      warnings: [],
    };
  },
});
await generateText({ model, messages });
const parts = sent.flatMap((message) => (Array.isArray(message.content) ? message.content : []));
const calls = parts.filter((part) => part.type === "tool-call");
const results = parts.filter((part) => part.type === "tool-result");
console.log(JSON.stringify({
  calls: calls.map((call) => [call.toolCallId, call.toolName, call.input]),
  results: Object.fromEntries(
    results.map((one) => [one.toolCallId, one.output.type.startsWith("error")]),
  ),
}));
